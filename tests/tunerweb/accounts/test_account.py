from __future__ import annotations

import pytest
from django.test import Client

from tests.people import someone
from tests.tunerweb.accounts.conftest import PASSWORD
from tunerweb.accounts.models import ApiToken, Membership, Team, User
from tunerweb.accounts.tokens import find_token

NEW = "another password"
FORM = {"old": PASSWORD, "password": NEW, "again": NEW}


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


@pytest.fixture
def elsewhere(ada: User) -> Client:
    """Ada's other browser."""
    client = Client()
    client.force_login(ada)
    return client


def test_a_changed_password_signs_in(signed_in: Client, ada: User) -> None:
    signed_in.post("/account/password/", FORM)
    assert Client().login(username="ada", password=NEW)


def test_changing_the_password_signs_out_the_other_browsers(signed_in: Client, elsewhere: Client) -> None:
    signed_in.post("/account/password/", FORM)
    assert is_signed_in(signed_in)
    assert not is_signed_in(elsewhere)


def test_signing_out_everywhere_leaves_this_browser(signed_in: Client, elsewhere: Client) -> None:
    signed_in.post("/account/sign-out-everywhere/")
    assert is_signed_in(signed_in)
    assert not is_signed_in(elsewhere)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"old": "wrong"}, "This is not the password that you sign in with now."),
        ({"old": ""}, "Type the password that you sign in with now."),
        ({"again": "something else"}, "The two passwords differ."),
        ({"again": ""}, "Type the password a second time."),
        ({"password": "1234567890123", "again": "1234567890123"}, "This password is entirely numeric."),
    ],
)
def test_a_problem_with_the_new_password_is_a_sentence(
    signed_in: Client, ada: User, change: dict[str, str], sentence: str
) -> None:
    answer = signed_in.post("/account/password/", FORM | change)
    assert sentence in answer.content.decode()
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def create_token(client: Client, **form: str) -> str:
    page = client.post("/account/tokens/", form).context
    secret: str = page["secret"]
    return secret


def test_a_new_token_lets_its_owner_in(signed_in: Client, ada: User, team: Team) -> None:
    found = find_token(create_token(signed_in, name="nightly", team=team.public_id))
    assert found is not None
    assert (found.user, found.team, found.name) == (ada, team, "nightly")


def test_a_token_is_shown_once(signed_in: Client, team: Team) -> None:
    secret = create_token(signed_in, name="nightly", team=team.public_id)
    assert secret not in signed_in.get("/account/").content.decode()


def test_the_answer_with_a_token_is_not_kept_by_caches(signed_in: Client, team: Team) -> None:
    answer = signed_in.post("/account/tokens/", {"name": "nightly", "team": team.public_id})
    assert "no-store" in answer.headers["Cache-Control"]


def test_only_a_hash_of_a_token_is_stored(signed_in: Client, team: Team) -> None:
    secret = create_token(signed_in, name="nightly", team=team.public_id)
    assert secret not in str(ApiToken.objects.values().get())


def test_a_token_is_recognised_by_how_it_begins(signed_in: Client, team: Team) -> None:
    secret = create_token(signed_in, name="nightly", team=team.public_id)
    assert f"{secret[:10]}…" in signed_in.get("/account/").content.decode()


def test_a_token_is_for_a_team_of_its_owner_only(signed_in: Client) -> None:
    answer = signed_in.post("/account/tokens/", {"name": "nightly", "team": someone("grace").team.public_id})
    assert "You are not in this team." in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_who_is_in_several_teams_chooses_one_for_a_token(signed_in: Client, ada: User) -> None:
    other = someone("grace").team
    Membership.objects.create(team=other, user=ada)
    assert find_token(create_token(signed_in, name="nightly", team=other.public_id)).team == other  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "sentence"), [("", "A token&#x27;s name is missing."), ("x" * 300, "this one has 300.")]
)
def test_a_bad_name_for_a_token_is_a_sentence(signed_in: Client, team: Team, name: str, sentence: str) -> None:
    answer = signed_in.post("/account/tokens/", {"name": name, "team": team.public_id})
    assert sentence in answer.content.decode()


def test_markup_in_a_tokens_name_is_shown_as_text(signed_in: Client, team: Team) -> None:
    create_token(signed_in, name="<img src=x>", team=team.public_id)
    assert "&lt;img src=x&gt;" in signed_in.get("/account/").content.decode()


def test_a_revoked_token_lets_nobody_in(signed_in: Client, team: Team) -> None:
    secret = create_token(signed_in, name="nightly", team=team.public_id)
    signed_in.post(f"/account/tokens/{ApiToken.objects.get().public_id}/revoke/")
    assert find_token(secret) is None


def test_nobody_revokes_the_token_of_somebody_else(signed_in: Client, team: Team) -> None:
    secret = create_token(signed_in, name="nightly", team=team.public_id)
    stranger = Client()
    stranger.force_login(someone("grace"))
    answer = stranger.post(f"/account/tokens/{ApiToken.objects.get().public_id}/revoke/")
    assert answer.status_code == 404
    assert find_token(secret) is not None


def test_revoking_twice_is_no_error(signed_in: Client, team: Team) -> None:
    create_token(signed_in, name="nightly", team=team.public_id)
    path = f"/account/tokens/{ApiToken.objects.get().public_id}/revoke/"
    assert signed_in.post(path).status_code == signed_in.post(path).status_code == 302


@pytest.mark.parametrize(
    "path", ["/account/password/", "/account/sign-out-everywhere/", "/account/tokens/", "/account/tokens/abc/revoke/"]
)
def test_nothing_changes_by_get(signed_in: Client, path: str) -> None:
    assert signed_in.get(path).status_code == 405
