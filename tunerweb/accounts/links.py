"""Links that let somebody in once: made here, described here when they no longer open anything."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from tunerweb.accounts.models import Link, LinkPurpose, Team, User, has_administrator, keyed_hash

SETUP_LASTS = timedelta(hours=1)
ENTER_LASTS = timedelta(hours=1)
INVITE_LASTS = timedelta(days=7)


def new_setup_link() -> str | None:
    """The path of the page that creates the administrator. None once there is a user. Older such links end."""
    with transaction.atomic():
        if has_administrator():
            return None
        now = timezone.now()
        Link.objects.filter(purpose=LinkPurpose.SETUP, used_at=None, expires_at__gt=now).update(expires_at=now)
        _, token = Link.new(LinkPurpose.SETUP, lasts=SETUP_LASTS)
    return reverse("accounts:setup", args=[token])


def new_enter_link(user: User, lasts: timedelta = ENTER_LASTS) -> str:
    """The path of the page that signs this person in once, without a password."""
    _, token = Link.new(LinkPurpose.ENTER, lasts=lasts, user=user)
    return reverse("accounts:enter", args=[token])


def new_invitation(team: Team, created_by: User, label: str) -> str:
    _, token = Link.new(LinkPurpose.INVITE, lasts=INVITE_LASTS, team=team, created_by=created_by, label=label)
    return reverse("accounts:invite", args=[token])


def open_invitations(team: Team) -> list[Link]:
    now = timezone.now()
    invitations = Link.objects.filter(purpose=LinkPurpose.INVITE, team=team, used_at=None, expires_at__gt=now)
    return list(invitations.select_related("created_by").order_by("-created_at"))


NAMES = {
    LinkPurpose.SETUP: "set-up link",
    LinkPurpose.ENTER: "sign-in link",
    LinkPurpose.INVITE: "invitation",
}
NEXT = {
    LinkPurpose.SETUP: "Start Tunerweb again: while it has no users, it prints a new link.",
    LinkPurpose.ENTER: "Sign in with your name and password, or ask for a new link.",
    LinkPurpose.INVITE: "Ask the person who sent it for a new one.",
}


def why_dead(purpose: LinkPurpose, token: str) -> str:
    """One sentence on what became of a link that opens nothing."""
    name = NAMES[purpose]
    link = Link.objects.filter(purpose=purpose, token_hash=keyed_hash(token)).first()
    if link is None:
        return f"This {name} is not known: it is incomplete, or it was taken back."
    if link.used_at:
        return f"This {name} has been used: it works once."
    if link.expires_at <= timezone.now():
        return f"This {name} has run out."
    return f"This {name} is not needed any more: the server has its administrator."


def what_next(purpose: LinkPurpose, *, is_signed_in: bool) -> str:
    if is_signed_in and purpose is not LinkPurpose.INVITE:
        return "You are signed in."
    if purpose is LinkPurpose.SETUP and has_administrator():
        return "Sign in, or ask the administrator for an invitation."
    return NEXT[purpose]
