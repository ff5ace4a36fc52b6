from __future__ import annotations

import pytest
from django.test import Client

from tests.people import someone
from tests.tunerweb.accounts.conftest import PASSWORD
from tunerweb.accounts.links import new_invitation
from tunerweb.accounts.models import Link, LinkPurpose, Membership, Team, User


def invite(client: Client, team: Team, label: str = "Grace") -> str:
    context = client.post(f"/team/{team.public_id}/invitations/", {"label": label}).context
    (panel,) = [panel for panel in context["panels"] if panel.new_link]
    url: str = panel.new_link.url
    return url


def test_the_page_lists_the_members(signed_in: Client, team: Team) -> None:
    someone("grace", team)
    someone("stranger")
    page = signed_in.get("/team/").content.decode()
    assert "grace" in page
    assert "stranger" not in page


def test_an_invitation_that_was_made_opens(signed_in: Client, team: Team) -> None:
    url = invite(signed_in, team)
    assert "Join the team Detectors" in Client().get(url).content.decode()


def test_the_link_of_an_invitation_is_shown_once(signed_in: Client, team: Team) -> None:
    url = invite(signed_in, team)
    assert url not in signed_in.get("/team/").content.decode()


def test_an_open_invitation_is_listed_until_it_is_used(signed_in: Client, team: Team) -> None:
    url = invite(signed_in, team, "somebody special")
    assert "somebody special" in signed_in.get("/team/").content.decode()
    Client().post(url, {"username": "grace", "password": PASSWORD, "again": PASSWORD})
    assert "somebody special" not in signed_in.get("/team/").content.decode()


def test_an_invitation_that_was_taken_back_opens_nothing(signed_in: Client, team: Team) -> None:
    url = invite(signed_in, team)
    signed_in.post(f"/team/invitations/{Link.objects.get().pk}/revoke/")
    answer = Client().get(url)
    assert answer.status_code == 404
    assert "it was taken back" in answer.content.decode()


def test_taking_back_twice_is_a_sentence(signed_in: Client, team: Team) -> None:
    invite(signed_in, team)
    path = f"/team/invitations/{Link.objects.get().pk}/revoke/"
    signed_in.post(path)
    assert "already gone" in signed_in.post(path, follow=True).content.decode()


def test_an_invitation_that_was_accepted_first_is_not_taken_back(signed_in: Client, team: Team) -> None:
    url = invite(signed_in, team)
    Client().post(url, {"username": "grace", "password": PASSWORD, "again": PASSWORD})
    answer = signed_in.post(f"/team/invitations/{Link.objects.get().pk}/revoke/", follow=True)
    assert "was accepted before you took it back" in answer.content.decode()


def test_nobody_invites_into_a_team_of_others(signed_in: Client) -> None:
    answer = signed_in.post(f"/team/{someone('grace').team.public_id}/invitations/", {"label": "me"})
    assert answer.status_code == 404
    assert not Link.objects.exists()


def test_nobody_takes_back_an_invitation_of_others(signed_in: Client) -> None:
    grace = someone("grace")
    new_invitation(grace.team, grace, "Heidi")
    signed_in.post(f"/team/invitations/{Link.objects.get().pk}/revoke/")
    assert Link.objects.exists()


@pytest.mark.parametrize(("label", "sentence"), [("", "This is missing."), ("x" * 300, "this one has 300.")])
def test_a_bad_label_is_a_sentence(signed_in: Client, team: Team, label: str, sentence: str) -> None:
    answer = signed_in.post(f"/team/{team.public_id}/invitations/", {"label": label})
    assert sentence in answer.content.decode()


def test_markup_in_a_label_is_shown_as_text(signed_in: Client, team: Team) -> None:
    invite(signed_in, team, "<b>Grace</b>")
    page = signed_in.get("/team/").content.decode()
    assert "&lt;b&gt;Grace" in page
    assert "<b>Grace" not in page


def test_who_is_in_no_team_is_told_what_to_do(client: Client, db: None) -> None:
    client.force_login(User.objects.create_user("lonely"))
    assert "You are in no team" in client.get("/team/").content.decode()


def test_the_administrator_gives_a_member_a_sign_in_link(signed_in: Client, ada: User, team: Team) -> None:
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    member = Membership.objects.get(user=someone("grace", team))
    page = signed_in.post(f"/team/members/{member.pk}/sign-in-link/").content.decode()
    assert "Sign-in link for grace" in page
    assert Link.objects.get(purpose=LinkPurpose.ENTER).user == member.user


def test_only_the_administrator_gives_sign_in_links(signed_in: Client, team: Team) -> None:
    member = Membership.objects.get(user=someone("grace", team))
    assert signed_in.post(f"/team/members/{member.pk}/sign-in-link/").status_code == 403
    assert not Link.objects.exists()
