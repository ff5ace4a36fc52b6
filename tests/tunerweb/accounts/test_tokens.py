from __future__ import annotations

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from tests.tunerweb.accounts.conftest import Clock
from tunerweb.accounts.models import ApiToken, Team, User
from tunerweb.accounts.tokens import TokenAuth, new_token


def request_with(authorization: str) -> HttpRequest:
    return RequestFactory().get("/api/sweeps", headers={"Authorization": authorization})


@pytest.fixture
def secret(ada: User, team: Team) -> str:
    return new_token(ada, team, "nightly")[1]


def test_the_request_is_its_owners(ada: User, secret: str) -> None:
    request = request_with(f"Bearer {secret}")
    assert TokenAuth()(request) == ApiToken.objects.get()
    assert request.user == ada


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer tw_wrong", "Bearer ü", "Basic YTpi", "Bearer " + "x" * 9000]
)
def test_a_wrong_token_is_nobodys(secret: str, authorization: str) -> None:
    assert TokenAuth()(request_with(authorization)) is None


def test_the_token_of_a_person_who_was_switched_off_is_nobodys(ada: User, secret: str) -> None:
    User.objects.update(is_active=False)
    assert TokenAuth()(request_with(f"Bearer {secret}")) is None


def test_the_last_use_is_noted_at_most_once_a_minute(secret: str, clock: Clock) -> None:
    noted = set()
    for _ in range(5):
        TokenAuth()(request_with(f"Bearer {secret}"))
        noted.add(ApiToken.objects.get().last_used_at)
        clock.pass_(seconds=25)
    assert len(noted) == 2
