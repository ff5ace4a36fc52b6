"""Who is in the teams of a person, and who is invited."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from tunerweb.accounts import actions
from tunerweb.accounts.forms import InvitationForm
from tunerweb.accounts.http import SignedInRequest
from tunerweb.accounts.links import new_enter_link, new_invitation, open_invitations
from tunerweb.accounts.models import Link, LinkPurpose, Membership, Team


@dataclass(frozen=True)
class NewLink:
    """What one answer shows, and no other."""

    title: str
    url: str
    help: str


@dataclass(frozen=True)
class TeamPanel:
    team: Team
    members: list[Membership]
    invitations: list[Link]
    form: InvitationForm
    new_link: NewLink | None


@require_safe
def team(request: SignedInRequest) -> HttpResponse:
    return _page(request)


@never_cache
@require_POST
def create_invitation(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The link is in this one answer and nowhere else, so there is no redirect."""
    team = get_object_or_404(request.user.teams, public_id=public_id)
    form = InvitationForm(request.POST, auto_id=_ids_in(team))
    if not form.is_valid():
        return _page(request, at=team, form=form)
    label: str = form.cleaned_data["label"]
    url = request.build_absolute_uri(new_invitation(team, request.user, label))
    help_text = "Send it now: it is not shown again. It works once, for 7 days."
    return _page(request, at=team, new_link=NewLink(f"Invitation for {label}", url, help_text))


@require_POST
def revoke_invitation(request: SignedInRequest, pk: int) -> HttpResponse:
    link = Link.objects.filter(purpose=LinkPurpose.INVITE, team__in=request.user.teams.all(), pk=pk).first()
    if link is None:
        messages.info(request, "This invitation is already gone.")
    elif actions.revoke_invitation(link):
        messages.success(request, f"The invitation for {link.label} opens nothing any more.")
    else:
        messages.warning(request, f"The invitation for {link.label} was accepted before you took it back.")
    return redirect("accounts:team")


@never_cache
@require_POST
def create_enter_link(request: SignedInRequest, pk: int) -> HttpResponse:
    """For somebody who has forgotten the password. Only the administrator may let people in as somebody."""
    if not request.user.is_superuser:
        raise PermissionDenied
    members = Membership.objects.filter(team__in=request.user.teams.all()).select_related("team", "user")
    member = get_object_or_404(members, pk=pk)
    url = request.build_absolute_uri(new_enter_link(member.user))
    help_text = "Send it now: it is not shown again. It works once, for an hour."
    return _page(request, at=member.team, new_link=NewLink(f"Sign-in link for {member.user}", url, help_text))


def _page(
    request: SignedInRequest,
    *,
    at: Team | None = None,
    form: InvitationForm | None = None,
    new_link: NewLink | None = None,
) -> HttpResponse:
    panels = [
        TeamPanel(
            team=team,
            members=list(Membership.objects.filter(team=team).select_related("user").order_by("created_at")),
            invitations=open_invitations(team),
            form=form if form and team == at else InvitationForm(auto_id=_ids_in(team)),
            new_link=new_link if team == at else None,
        )
        for team in request.user.teams.order_by("membership__created_at")
    ]
    return render(request, "accounts/team.html", {"panels": panels})


def _ids_in(team: Team) -> str:
    """Several teams have the same form on one page."""
    return f"{team.public_id}_%s"
