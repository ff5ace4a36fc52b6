"""Who works here: people, their teams, the links and tokens that let them in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac

PUBLIC_ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
PUBLIC_ID_LENGTH = 12


def new_public_id() -> str:
    """60 random bits, in letters that nobody mistakes for one another."""
    return get_random_string(PUBLIC_ID_LENGTH, PUBLIC_ID_ALPHABET)


def new_session_salt() -> str:
    return get_random_string(22)


def keyed_hash(secret: str) -> str:
    """What is stored of a link or token: a copy of the database lets nobody in."""
    return hmac.new(settings.SECRET_KEY.encode(), secret.encode(), hashlib.sha256).hexdigest()


class Team(models.Model):
    public_id = models.CharField(max_length=PUBLIC_ID_LENGTH, unique=True, default=new_public_id, editable=False)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)
    members: models.ManyToManyField[User, Membership] = models.ManyToManyField(
        "accounts.User", through="accounts.Membership", related_name="teams"
    )

    def __str__(self) -> str:
        return self.name


class User(AbstractUser):
    """`session_salt` is part of every session's hash: a new one signs all sessions out."""

    public_id = models.CharField(max_length=PUBLIC_ID_LENGTH, unique=True, default=new_public_id, editable=False)
    session_salt = models.CharField(max_length=22, default=new_session_salt)

    def get_session_auth_hash(self) -> str:
        return self._session_hash(settings.SECRET_KEY)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        return self._session_hash(secret or settings.SECRET_KEY)

    def _session_hash(self, secret: str) -> str:
        salted = salted_hmac("accounts.session", self.password + self.session_salt, secret=secret, algorithm="sha256")
        return salted.hexdigest()

    @property
    def team(self) -> Team:
        """The team that what this person makes belongs to. Raises Team.DoesNotExist."""
        return self.teams.order_by("membership__created_at").first() or _no_team(self)


def has_administrator() -> bool:
    """Until there is one, the server waits for its set-up link; the demo's user is none."""
    return User.objects.filter(is_superuser=True).exists()


def _no_team(user: User) -> Team:
    raise Team.DoesNotExist(f"{user} is in no team.")


class Membership(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Owned(models.Model):
    """The base of all that people make: a team, an owner, and a random id for addresses."""

    public_id = models.CharField(max_length=PUBLIC_ID_LENGTH, unique=True, default=new_public_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        abstract = True


class ScopedQuerySet(models.QuerySet[Any]):
    def of(self, user: User) -> Self:
        """What this person's teams have. Everything else does not exist for them."""
        return self.filter(team__membership__user=user)


class LinkPurpose(models.TextChoices):
    SETUP = "setup", "create the administrator"
    ENTER = "enter", "sign in once"
    INVITE = "invite", "join a team"


class Link(models.Model):
    """A link that works once. Only its keyed hash is kept."""

    purpose = models.CharField(max_length=10, choices=LinkPurpose)
    token_hash = models.CharField(max_length=64, unique=True)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE)
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE, related_name="links")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    label = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link to {self.get_purpose_display()}"

    @classmethod
    def new(cls, purpose: LinkPurpose, *, lasts: timedelta, **fields: object) -> tuple[Link, str]:
        """The row and the secret part of the address, which is never seen again."""
        token = secrets.token_urlsafe(24)
        link = cls(purpose=purpose, token_hash=keyed_hash(token), expires_at=timezone.now() + lasts, **fields)
        link.save()
        return link, token

    @classmethod
    def usable(cls, purpose: LinkPurpose, token: str) -> models.QuerySet[Link]:
        """The one link that this token opens, if it is still open. Use it up by `update(used_at=...)` == 1."""
        return cls.objects.filter(
            purpose=purpose, token_hash=keyed_hash(token), used_at=None, expires_at__gt=timezone.now()
        )


class ApiToken(models.Model):
    """Lets a program in as its owner, for one team. `prefix` is what people recognise it by."""

    public_id = models.CharField(max_length=PUBLIC_ID_LENGTH, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at: models.DateTimeField[datetime | None, datetime | None] = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class LoginDelay(models.Model):
    """Tries to sign in since the last right one, by a keyed hash of who tried (see limits.py)."""

    key = models.CharField(max_length=64, unique=True)
    tries = models.PositiveIntegerField(default=0)
    open_at = models.DateTimeField()
    last_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.tries} tries"
