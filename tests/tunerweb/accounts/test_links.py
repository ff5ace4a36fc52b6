from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from tests.people import someone
from tests.tunerweb.accounts.conftest import PASSWORD, Clock
from tunerweb.accounts import actions
from tunerweb.accounts.links import new_enter_link, new_invitation
from tunerweb.accounts.models import Link, Team, User

FORM = {"username": "grace", "password": PASSWORD, "again": PASSWORD}


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_a_sign_in_link_signs_in(client: Client, ada: User) -> None:
    client.post(new_enter_link(ada))
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_looking_at_a_sign_in_link_signs_nobody_in(client: Client, ada: User) -> None:
    page = client.get(new_enter_link(ada)).content.decode()
    assert "Sign in as ada" in page
    assert not is_signed_in(client)


def test_looking_at_a_sign_in_link_does_not_use_it_up(client: Client, ada: User) -> None:
    path = new_enter_link(ada)
    client.get(path)
    client.post(path)
    assert is_signed_in(client)


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_sign_in_link_works_once(ada: User, method: str) -> None:
    path = new_enter_link(ada)
    Client().post(path)
    again = Client()
    answer = getattr(again, method)(path)
    assert answer.status_code == 404
    assert "has been used: it works once" in answer.content.decode()
    assert not is_signed_in(again)


def test_a_sign_in_link_lasts_as_long_as_it_was_made_for(ada: User, clock: Clock) -> None:
    path = new_enter_link(ada, timedelta(minutes=5))
    clock.pass_(minutes=6)
    answer = Client().post(path)
    assert answer.status_code == 404
    assert "has run out" in answer.content.decode()


def test_a_person_who_was_switched_off_cannot_enter(client: Client, ada: User) -> None:
    path = new_enter_link(ada)
    User.objects.update(is_active=False)
    assert client.post(path).status_code == 404


def test_who_came_by_a_link_may_choose_a_password_without_the_old_one(client: Client, ada: User) -> None:
    client.post(new_enter_link(ada))
    client.post("/account/password/", {"password": "a new password", "again": "a new password"})
    ada.refresh_from_db()
    assert ada.check_password("a new password")


def test_the_next_change_needs_the_old_one_again(client: Client, ada: User) -> None:
    client.post(new_enter_link(ada))
    for password in ("a new password", "another password"):
        client.post("/account/password/", {"password": password, "again": password})
    ada.refresh_from_db()
    assert ada.check_password("a new password")


@pytest.mark.parametrize("kind", ["setup", "enter", "invite"])
@pytest.mark.parametrize("token", ["wrong", "x" * 300, "<b>", "%ED%A0%80", "%00", "ü"])
def test_an_unknown_link_is_answered_with_a_sentence(client: Client, ada: User, kind: str, token: str) -> None:
    answer = client.get(f"/{kind}/{token}/")
    assert answer.status_code == 404
    assert "is not known" in answer.content.decode()


def test_a_link_of_one_kind_opens_nothing_of_another(client: Client, ada: User, team: Team) -> None:
    path = new_invitation(team, ada, "Grace")
    assert client.post(path.replace("invite", "enter")).status_code == 404


def test_an_invitation_lets_a_new_person_into_the_team(client: Client, ada: User, team: Team) -> None:
    client.post(new_invitation(team, ada, "Grace"), FORM)
    assert User.objects.get(username="grace").team == team
    assert is_signed_in(client)


def test_an_invited_person_is_no_administrator(client: Client, ada: User, team: Team) -> None:
    client.post(new_invitation(team, ada, "Grace"), FORM)
    assert not User.objects.get(username="grace").is_superuser


@pytest.mark.parametrize("name", ["ada", "ADA"])
def test_a_taken_name_is_refused_and_the_invitation_stays_open(
    client: Client, ada: User, team: Team, name: str
) -> None:
    path = new_invitation(team, ada, "Grace")
    answer = client.post(path, FORM | {"username": name})
    assert "Somebody has this name already" in answer.content.decode()
    client.post(path, FORM)
    assert is_signed_in(client)


def test_a_name_taken_at_the_last_moment_leaves_the_invitation_open(ada: User, team: Team) -> None:
    token = new_invitation(team, ada, "Grace").split("/")[-2]
    with pytest.raises(actions.NameTaken):
        actions.join_as_new(token, username="ada", password=PASSWORD)
    assert Link.objects.get().used_at is None


def test_an_invitation_works_once(client: Client, ada: User, team: Team) -> None:
    path = new_invitation(team, ada, "Grace")
    Client().post(path, FORM)
    answer = client.post(path, FORM | {"username": "eve"})
    assert answer.status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_an_invitation_runs_out_after_a_week(client: Client, ada: User, team: Team, clock: Clock) -> None:
    path = new_invitation(team, ada, "Grace")
    clock.pass_(days=7, seconds=1)
    answer = client.get(path)
    assert answer.status_code == 404
    assert "has run out. Ask the person who sent it for a new one." in answer.content.decode()


def test_a_signed_in_person_joins_a_second_team(signed_in: Client, ada: User) -> None:
    grace = someone("grace")
    signed_in.post(new_invitation(grace.team, grace, "Ada"))
    assert {each.name for each in ada.teams.all()} == {"Detectors", "grace's team"}


def test_the_first_team_stays_the_one_that_new_things_belong_to(signed_in: Client, ada: User, team: Team) -> None:
    grace = someone("grace")
    signed_in.post(new_invitation(grace.team, grace, "Ada"))
    assert ada.team == team


def test_looking_at_an_invitation_joins_nothing(signed_in: Client, ada: User) -> None:
    grace = someone("grace")
    page = signed_in.get(new_invitation(grace.team, grace, "Ada")).content.decode()
    assert "Join as ada" in page
    assert ada.teams.count() == 1


def test_a_member_is_told_so_and_the_invitation_stays_for_somebody_else(
    signed_in: Client, ada: User, team: Team
) -> None:
    path = new_invitation(team, ada, "Grace")
    assert "already" in signed_in.get(path).content.decode()
    signed_in.post(path)
    assert Link.objects.get().used_at is None


def test_who_opens_the_used_link_again_is_told_to_be_signed_in(client: Client, ada: User) -> None:
    path = new_enter_link(ada)
    client.post(path)
    assert "works once. You are signed in." in client.get(path).content.decode()
