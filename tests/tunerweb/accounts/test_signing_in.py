from __future__ import annotations

import pytest
from django.test import Client

from tests.people import someone
from tests.tunerweb.accounts.conftest import PASSWORD, Clock
from tunerweb.accounts.limits import (
    FREE_TRIES_ACCOUNT,
    FREE_TRIES_ADDRESS,
    LONGEST_S,
    delay_s,
    forget_tries,
    wait_before_try,
)
from tunerweb.accounts.models import LoginDelay, User

WRONG = "Name or password is wrong."


def try_(client: Client, username: str = "ada", password: str = "wrong", address: str = "10.0.0.1", **more: str) -> str:
    form = {"username": username, "password": password, **more}
    return client.post("/login/", form, REMOTE_ADDR=address).content.decode()


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_the_right_password_signs_in(client: Client, ada: User) -> None:
    try_(client, password=PASSWORD)
    assert is_signed_in(client)


def test_a_wrong_password_and_an_unknown_name_are_answered_alike(client: Client, ada: User) -> None:
    assert WRONG in try_(client)
    assert WRONG in try_(client, username="nobody")


def test_the_name_is_kept_after_a_wrong_password(client: Client, ada: User) -> None:
    assert 'value="ada"' in try_(client)


@pytest.mark.parametrize("name", ["x" * 300, "<script>alert(1)</script>", "a\0b", "ädä 🦆"])
def test_a_strange_name_is_a_wrong_name(client: Client, ada: User, name: str) -> None:
    page = try_(client, username=name)
    assert WRONG in page or "Null characters are not allowed." in page
    assert "<script>alert" not in page


def test_a_password_of_a_megabyte_is_a_wrong_password(client: Client, ada: User) -> None:
    assert WRONG in try_(client, password="x" * 1_000_000)


def test_after_signing_in_one_is_where_one_wanted_to_go(client: Client, ada: User) -> None:
    answer = client.post("/login/", {"username": "ada", "password": PASSWORD, "next": "/sweeps/?sort=rom"})
    assert answer.headers["Location"] == "/sweeps/?sort=rom"


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org", "javascript:alert(1)"])
def test_signing_in_leads_to_no_other_site(client: Client, ada: User, elsewhere: str) -> None:
    answer = client.post("/login/", {"username": "ada", "password": PASSWORD, "next": elsewhere})
    assert answer.headers["Location"] == "/"


@pytest.mark.django_db
def test_without_any_user_the_login_says_how_to_begin(client: Client) -> None:
    answer = client.get("/login/")
    assert answer.status_code == 503
    assert "This server has no users yet" in answer.content.decode()


def test_signing_out_is_a_post(signed_in: Client) -> None:
    assert signed_in.get("/logout/").status_code == 405
    signed_in.post("/logout/")
    assert not is_signed_in(signed_in)


def test_a_form_without_its_token_is_refused(ada: User) -> None:
    answer = Client(enforce_csrf_checks=True).post("/login/", {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 403


def test_after_a_few_wrong_tries_one_has_to_wait(client: Client, ada: User, clock: Clock) -> None:
    for _ in range(FREE_TRIES_ACCOUNT):
        assert WRONG in try_(client)
    assert "Wait 1 s, then try again." in try_(client)


def test_during_the_wait_even_the_right_password_is_not_looked_at(client: Client, ada: User, clock: Clock) -> None:
    for _ in range(FREE_TRIES_ACCOUNT):
        try_(client)
    try_(client, password=PASSWORD)
    assert not is_signed_in(client)


def test_after_the_wait_the_right_password_signs_in(client: Client, ada: User, clock: Clock) -> None:
    for _ in range(FREE_TRIES_ACCOUNT):
        try_(client)
    clock.pass_(seconds=2)
    try_(client, password=PASSWORD)
    assert is_signed_in(client)


@pytest.mark.django_db
def test_of_a_thousand_guesses_in_a_minute_ten_are_looked_at(clock: Clock) -> None:
    waits = []
    for _ in range(1000):
        waits.append(wait_before_try("ada", "10.0.0.1"))
        clock.pass_(seconds=0.06)
    assert waits.count(0) == 10


def test_a_stranger_cannot_make_the_owner_of_an_account_wait(client: Client, ada: User, clock: Clock) -> None:
    for _ in range(50):
        try_(Client(), address="10.6.6.6")
    try_(client, password=PASSWORD)
    assert is_signed_in(client)


@pytest.mark.django_db
def test_trying_many_names_makes_an_address_wait(clock: Clock) -> None:
    waits = [wait_before_try(f"name{number}", "10.0.0.1") for number in range(FREE_TRIES_ADDRESS + 1)]
    assert waits == [0] * FREE_TRIES_ADDRESS + [1]


@pytest.mark.django_db
def test_colleagues_behind_one_address_do_not_make_one_another_wait(clock: Clock) -> None:
    for number in range(FREE_TRIES_ADDRESS + 5):
        assert wait_before_try(f"colleague{number}", "10.0.0.1") == 0
        forget_tries(f"colleague{number}", "10.0.0.1")


@pytest.mark.django_db
def test_signing_in_does_not_wipe_out_what_was_tried_on_others(clock: Clock) -> None:
    for number in range(FREE_TRIES_ADDRESS):
        assert wait_before_try("ada", "10.0.0.1") == 0
        forget_tries("ada", "10.0.0.1")
        assert wait_before_try(f"name{number}", "10.0.0.1") == 0
    assert wait_before_try("ada", "10.0.0.1") == 1


def test_wrong_tries_are_forgotten_after_an_hour(client: Client, ada: User, clock: Clock) -> None:
    for _ in range(FREE_TRIES_ACCOUNT):
        try_(client)
    clock.pass_(minutes=61)
    try_(client, username="grace")
    assert LoginDelay.objects.count() == 2


def test_what_was_typed_as_a_name_is_not_stored(client: Client, ada: User) -> None:
    try_(client, username="my secret password")
    assert "secret" not in str(list(LoginDelay.objects.values()))


def test_the_wait_doubles_up_to_a_minute() -> None:
    waits = [delay_s(tries, free=5) for tries in range(4, 14)]
    assert waits == [0, 1, 2, 4, 8, 16, 32, LONGEST_S, LONGEST_S, LONGEST_S]


def test_a_person_who_was_switched_off_cannot_sign_in(client: Client, ada: User) -> None:
    User.objects.update(is_active=False)
    assert WRONG in try_(client, password=PASSWORD)


def test_who_is_signed_in_needs_no_login(signed_in: Client) -> None:
    assert signed_in.get("/login/?next=/team/").headers["Location"] == "/team/"


def test_another_person_signs_in_after_the_first(client: Client, ada: User) -> None:
    grace = someone("grace")
    try_(client, password=PASSWORD)
    client.post("/logout/")
    try_(client, username="grace", password=PASSWORD)
    assert client.session["_auth_user_id"] == str(grace.pk)
