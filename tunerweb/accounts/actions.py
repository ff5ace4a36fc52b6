"""What people ask for. Each is one transaction; a link is used up by a compare-and-set."""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import get_random_string

from tunerweb.accounts.models import ApiToken, Link, LinkPurpose, Membership, Team, User, has_administrator


class LinkIsDead(Exception):
    """The link was used, taken back or has run out in the meantime."""


class NameTaken(Exception):
    """Somebody took the name between the check and the save."""


def create_administrator(token: str, *, username: str, password: str, team_name: str) -> User:
    """The first user and the first team. Of all that race for it, through whatever links, one wins."""
    user = User(username=username, is_superuser=True, password=make_password(password))
    with transaction.atomic():
        # Two links made at almost the same time: whoever comes second waits here and then sees a user.
        list(Link.objects.select_for_update().filter(purpose=LinkPurpose.SETUP).order_by("pk").values_list("pk"))
        if has_administrator() or not _use_up(LinkPurpose.SETUP, token):
            raise LinkIsDead
        user.save()
        team = Team.objects.create(name=team_name)
        Membership.objects.create(team=team, user=user)
    return user


def enter(token: str) -> User:
    with transaction.atomic():
        link = Link.usable(LinkPurpose.ENTER, token).select_related("user").first()
        if link is None or link.user is None or not link.user.is_active or not _use_up(LinkPurpose.ENTER, token):
            raise LinkIsDead
    return link.user


def join_as_new(token: str, *, username: str, password: str) -> User:
    user = User(username=username, password=make_password(password))
    try:
        with transaction.atomic():
            team = _team_invited_to(token)
            if not _use_up(LinkPurpose.INVITE, token):
                raise LinkIsDead
            user.save()
            Membership.objects.create(team=team, user=user)
    except IntegrityError as error:
        raise NameTaken from error
    return user


def join_as(user: User, token: str) -> Team:
    """A member already leaves the invitation to somebody else."""
    with transaction.atomic():
        team = _team_invited_to(token)
        _, is_new = Membership.objects.get_or_create(team=team, user=user)
        if is_new and not _use_up(LinkPurpose.INVITE, token):
            raise LinkIsDead
    return team


def _team_invited_to(token: str) -> Team:
    link = Link.usable(LinkPurpose.INVITE, token).select_related("team").first()
    if link is None or link.team is None:
        raise LinkIsDead
    return link.team


def _use_up(purpose: LinkPurpose, token: str) -> bool:
    return Link.usable(purpose, token).update(used_at=timezone.now()) == 1


def sign_out_everywhere(user: User) -> None:
    user.session_salt = get_random_string(22)
    user.save(update_fields=["session_salt"])


def change_password(user: User, password: str) -> None:
    user.set_password(password)
    user.session_salt = get_random_string(22)
    user.save(update_fields=["password", "session_salt"])


def revoke_token(token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def revoke_invitation(link: Link) -> bool:
    """False: it was accepted first."""
    deleted, _ = Link.objects.filter(pk=link.pk, purpose=LinkPurpose.INVITE, used_at=None).delete()
    return deleted == 1
