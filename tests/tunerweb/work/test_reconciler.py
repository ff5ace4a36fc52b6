"""One process repairs what others left; the others stand by."""

from __future__ import annotations

import logging

import pytest
from django.db import OperationalError
from pytest_django.fixtures import Settings

from tunerweb.work import reconciler as reconciling
from tunerweb.work.models import Duty
from tunerweb.work.reconciler import Reconciler

pytestmark = pytest.mark.django_db(transaction=True)
rounds: list[str] = []


@pytest.fixture(autouse=True)
def _steps(settings: Settings) -> None:
    rounds.clear()
    settings.WORK_WAITING = []
    settings.RECONCILER_STEPS = [f"{__name__}.count"]


class Clock:
    """Stands in for the time that a process itself sees."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(reconciling, "time", made)
    return made


def count() -> None:
    rounds.append("round")


def fail() -> None:
    raise ZeroDivisionError("oh")


def test_one_is_on_duty() -> None:
    first, second = Reconciler(), Reconciler()
    first.one_round()
    second.one_round()
    assert (first.is_on_duty(), second.is_on_duty(), len(rounds)) == (True, False, 1)


def test_the_one_on_duty_stays_on_duty() -> None:
    first, second = Reconciler(), Reconciler()
    for _ in range(3):
        first.one_round()
        second.one_round()
    assert len(rounds) == 3
    assert Duty.objects.get().holder == first.name


def test_another_takes_over_when_the_lease_has_run_out() -> None:
    first, second = Reconciler(), Reconciler()
    first.one_round()
    Duty.objects.update(lease_until=0.0)
    assert second.is_on_duty()
    assert not first.is_on_duty()


def test_a_duty_of_before_the_last_start_of_the_machine_is_over() -> None:
    first, second = Reconciler(), Reconciler()
    first.one_round()
    Duty.objects.update(lease_clock="another boot")
    assert second.is_on_duty()


def test_who_stops_in_order_leaves_the_duty_to_the_next_at_once() -> None:
    first, second = Reconciler(), Reconciler()
    first.one_round()
    first.leave()
    assert second.is_on_duty()


def test_who_is_not_on_duty_takes_it_from_nobody_by_leaving() -> None:
    first, second = Reconciler(), Reconciler()
    first.one_round()
    second.leave()
    assert Duty.objects.get().holder == first.name


def test_a_step_that_fails_keeps_the_others_from_nothing(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.RECONCILER_STEPS = [f"{__name__}.fail", f"{__name__}.count"]
    with caplog.at_level(logging.ERROR):
        Reconciler().one_round()
    assert len(rounds) == 1
    assert "ZeroDivisionError: oh" in caplog.text


def test_after_an_outage_of_the_database_it_waits_for_one_lease(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    reconciler = Reconciler()
    with monkeypatch.context() as patch:
        patch.setattr(reconciler, "is_on_duty", outage)
        reconciler.one_round()
    clock.now += settings.LEASE_S - 0.1
    reconciler.one_round()
    assert rounds == []
    clock.now += 0.2
    reconciler.one_round()
    assert len(rounds) == 1


def outage() -> bool:
    raise OperationalError("the database is gone")


@pytest.mark.parametrize(("lease_s", "interval_s"), [(15.0, 2.0), (1.0, 0.5)])
def test_it_looks_every_two_seconds_and_at_least_twice_a_lease(
    settings: Settings, lease_s: float, interval_s: float
) -> None:
    settings.LEASE_S = lease_s
    assert reconciling.interval_s() == interval_s
