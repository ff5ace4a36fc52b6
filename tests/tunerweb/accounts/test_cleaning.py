from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.tunerweb.accounts.conftest import Clock
from tunerweb.accounts import cleaning
from tunerweb.accounts.links import new_enter_link
from tunerweb.accounts.models import Link, User


def test_links_that_ran_out_long_ago_are_thrown_away(ada: User, clock: Clock) -> None:
    new_enter_link(ada)
    clock.pass_(days=91)
    new_enter_link(ada)
    cleaning.throw_away()
    assert Link.objects.count() == 1


def test_sessions_that_ran_out_are_thrown_away(signed_in: Client, clock: Clock) -> None:
    cleaning.throw_away()
    assert Session.objects.count() == 1
    clock.pass_(days=15)
    cleaning.throw_away()
    assert not Session.objects.exists()


def test_the_reconciler_throws_away_once_an_hour(ada: User, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "_next_at", 0.0)
    rounds: list[None] = []
    monkeypatch.setattr(cleaning, "throw_away", lambda: rounds.append(None))
    for _ in range(3):
        cleaning.reconcile()
    assert len(rounds) == 1
