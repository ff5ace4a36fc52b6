from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.people import someone
from tunerweb.accounts.models import Team, User

PASSWORD = "correct horse"


class Clock:
    """Django's clock, standing still until it is moved."""

    def __init__(self) -> None:
        self.at = timezone.now()

    def now(self) -> datetime:
        return self.at

    def pass_(self, **time: float) -> None:
        self.at += timedelta(**time)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock.now)
    return clock


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="Detectors")


@pytest.fixture
def ada(team: Team) -> User:
    return someone("ada", team)


@pytest.fixture
def signed_in(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client
