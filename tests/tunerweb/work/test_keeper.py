"""The lease of the work at hand is kept while a child does it, and its end is heard."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django.fixtures import Settings

from sweeps.models import Inspection
from tests.people import someone
from tests.processes import PATIENCE_S, STEP_S
from tunerweb.work import keeper as keeping
from tunerweb.work import leases
from tunerweb.work.keeper import LOOK_S, Keeper
from tunerweb.work.leases import Lease

pytestmark = pytest.mark.django_db(transaction=True)
LEASE_S = 0.6
# A look may come just after the cancel, and the machine may be busy with something else.
HEARD_S = LOOK_S + 1.0


@pytest.fixture
def row(settings: Settings) -> Inspection:
    settings.LEASE_S = LEASE_S
    person = someone()
    made: Inspection = Inspection.objects.create(team=person.team, owner=person)
    return made


@pytest.fixture
def lease(row: Inspection) -> Lease:
    claimed = leases.claim(row, "light@here")
    assert claimed is not None
    return claimed


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    with Keeper() as running:
        yield running


def comes_true(is_so: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP_S)
    return True


def lease_until(lease: Lease) -> float:
    until: float = lease.held.values_list("lease_until", flat=True).get()
    return until


def test_the_lease_is_renewed_again_and_again(keeper: Keeper, lease: Lease) -> None:
    with keeper.keeping(lease):
        for _ in range(3):
            before = lease_until(lease)
            assert comes_true(lambda before=before: lease_until(lease) > before)
    assert not keeper.is_over()


def test_it_is_not_renewed_any_more_when_the_work_is_done(keeper: Keeper, lease: Lease) -> None:
    with keeper.keeping(lease):
        before = lease_until(lease)
        assert comes_true(lambda: lease_until(lease) > before)
    assert comes_true(lambda: leases.expired(Inspection).exists())


def test_a_cancel_is_heard_within_a_look(keeper: Keeper, lease: Lease, row: Inspection) -> None:
    with keeper.keeping(lease):
        Inspection.objects.filter(pk=row.pk).update(cancel_requested_at=timezone.now())
        assert comes_true(keeper.is_over, HEARD_S)


def test_a_lease_that_somebody_else_has_got_ends_the_work(keeper: Keeper, lease: Lease, row: Inspection) -> None:
    with keeper.keeping(lease):
        Inspection.objects.filter(pk=row.pk).update(fence=lease.fence + 1)
        assert comes_true(keeper.is_over, HEARD_S)


def test_a_row_that_is_gone_ends_the_work(keeper: Keeper, lease: Lease, row: Inspection) -> None:
    with keeper.keeping(lease):
        row.delete()
        assert comes_true(keeper.is_over, HEARD_S)


def test_the_work_goes_on_while_the_database_does_not_answer(
    keeper: Keeper, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fail(lease: Lease) -> bool:
        asked.append(lease)
        raise OperationalError("the database is gone")

    with keeper.keeping(lease):
        with monkeypatch.context() as patch:
            patch.setattr(keeping.leases, "cancel_requested", fail)
            assert comes_true(lambda: len(asked) > 1)
        assert not keeper.is_over()
        before = lease_until(lease)
        assert comes_true(lambda: lease_until(lease) > before)


def test_the_next_work_starts_anew(keeper: Keeper, lease: Lease, row: Inspection) -> None:
    other = Inspection.objects.create(team=row.team, owner=row.owner)
    second = leases.claim(other, "light@here")
    assert second is not None
    with keeper.keeping(lease):
        row.delete()
        assert comes_true(keeper.is_over, HEARD_S)
    with keeper.keeping(second):
        assert not keeper.is_over()


def test_what_the_child_does_is_written_down(keeper: Keeper, lease: Lease, row: Inspection) -> None:
    with keeper.keeping(lease):
        keeper.hear_phase("finalize")
        assert comes_true(lambda: Inspection.objects.filter(pk=row.pk, phase="finalize").exists())


def test_a_worker_that_is_to_stop_ends_the_work(keeper: Keeper, lease: Lease) -> None:
    with keeper.keeping(lease):
        keeping.stopping.set()
        try:
            assert keeper.is_over()
        finally:
            keeping.stopping.clear()
