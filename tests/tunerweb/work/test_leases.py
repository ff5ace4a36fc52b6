"""Whoever holds the fence may write; nobody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from sweeps.models import Inspection
from tests.people import someone
from tunerweb.work import leases
from tunerweb.work.leases import Lease, WorkState

pytestmark = pytest.mark.django_db
WORKER = "compile-1@here"


def queued() -> Inspection:
    person = someone()
    row: Inspection = Inspection.objects.create(team=person.team, owner=person)
    return row


def claimed(row: Inspection) -> Lease:
    lease = leases.claim(row, WORKER)
    assert lease is not None
    row.refresh_from_db()
    return lease


def run_out(row: Inspection) -> None:
    """As time would: the lease ended before now."""
    Inspection.objects.filter(pk=row.pk).update(lease_until=0.0)


def test_a_claimed_row_is_running_under_the_next_fence() -> None:
    row = queued()
    lease = claimed(row)
    assert (row.state, row.fence, row.attempts, row.worker) == (WorkState.RUNNING, lease.fence, 1, WORKER)


def test_a_row_is_claimed_once() -> None:
    row = queued()
    stale = Inspection.objects.get(pk=row.pk)
    claimed(row)
    assert leases.claim(stale, WORKER) is None


def test_a_row_that_is_to_be_cancelled_is_not_claimed() -> None:
    row = queued()
    Inspection.objects.filter(pk=row.pk).update(cancel_requested_at=timezone.now())
    assert leases.claim(row, WORKER) is None


def test_a_settled_row_keeps_its_state_and_loses_its_lease() -> None:
    row = queued()
    assert leases.settle(claimed(row), WorkState.DONE)
    row.refresh_from_db()
    assert (row.state, row.lease_until, row.finished_at is None) == (WorkState.DONE, None, False)


def test_the_result_of_a_lost_lease_is_not_written() -> None:
    row = queued()
    late = claimed(row)
    run_out(row)
    assert leases.rescue(row)
    row.refresh_from_db()
    claimed(row)
    assert not leases.settle(late, WorkState.DONE, reason="late")
    row.refresh_from_db()
    assert (row.state, row.reason) == (WorkState.RUNNING, "")


def test_a_lease_that_was_renewed_is_not_rescued() -> None:
    row = queued()
    lease = claimed(row)
    run_out(row)
    assert leases.renew(lease)
    assert not leases.rescue(row)


def test_a_lost_lease_cannot_be_renewed() -> None:
    row = queued()
    lease = claimed(row)
    run_out(row)
    leases.rescue(row)
    assert not leases.renew(lease)


def test_a_running_lease_is_not_expired() -> None:
    row = queued()
    claimed(row)
    assert not leases.expired(Inspection).exists()


def test_the_lease_of_an_earlier_boot_is_expired() -> None:
    row = queued()
    claimed(row)
    Inspection.objects.filter(pk=row.pk).update(lease_clock="another boot")
    assert leases.expired(Inspection).exists()


def test_leases_do_not_hang_on_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    row = queued()
    claimed(row)
    later = timezone.now() + timedelta(days=3650)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert not leases.expired(Inspection).exists()


def test_a_rescue_counts() -> None:
    row = queued()
    claimed(row)
    run_out(row)
    leases.rescue(row)
    row.refresh_from_db()
    assert (row.state, row.rescues, row.attempts) == (WorkState.QUEUED, 1, 1)


def test_whoever_lost_the_lease_is_told_to_end() -> None:
    row = queued()
    lease = claimed(row)
    run_out(row)
    leases.rescue(row)
    assert leases.cancel_requested(lease)
