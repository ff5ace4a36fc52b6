"""How programs come in: `Authorization: Bearer tw_…`."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from tunerweb.accounts.models import ApiToken, Team, User, keyed_hash

PREFIX = "tw_"
SHOWN_LETTERS = 10
USE_IS_NOTED_EVERY = timedelta(minutes=1)


def new_token(user: User, team: Team, name: str) -> tuple[ApiToken, str]:
    """The row and the secret, which is never seen again."""
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user, team=team, name=name, prefix=secret[:SHOWN_LETTERS], token_hash=keyed_hash(secret)
    )
    return token, secret


def find_token(secret: str) -> ApiToken | None:
    """Found by its keyed hash, so that how long it takes says nothing about the secret."""
    tokens = ApiToken.objects.filter(token_hash=keyed_hash(secret), revoked_at=None, user__is_active=True)
    return tokens.select_related("user", "team").first()


class TokenAuth(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = find_token(token)
        if found is not None:
            _note_use(found)
            request.user = found.user
        return found


def _note_use(token: ApiToken) -> None:
    """A write per request would make readers queue behind one another."""
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at >= USE_IS_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
