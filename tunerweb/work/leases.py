"""Work that survives: rows that a worker holds by a lease and settles by the fence it was given.

Every change is one compare-and-set. Whoever finds that it changed no row has lost the work to somebody else.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils import timezone

from tunerweb.accounts.models import Owned
from tunerweb.work import clock


class WorkState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


LIVE = (WorkState.QUEUED, WorkState.RUNNING)
REUSABLE = (WorkState.QUEUED, WorkState.RUNNING, WorkState.DONE, WorkState.REJECTED)
CANCELLED = "It was cancelled."
MOST_CRASHES = 3
MOST_WORKERS_TAKEN = 3
log = logging.getLogger(__name__)


class LeasedWork(Owned):
    """`crashes` counts deaths of the child that it caused itself; `rescues` counts leases that ran out under it."""

    state = models.CharField(max_length=10, choices=WorkState, default=WorkState.QUEUED)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.FloatField(null=True, blank=True)
    lease_clock = models.CharField(max_length=40, blank=True)
    worker = models.CharField(max_length=100, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    crashes = models.PositiveIntegerField(default=0)
    rescues = models.PositiveIntegerField(default=0)
    last_rescue_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    phase = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)

    queue: ClassVar[str]

    class Meta:
        abstract = True

    @property
    def is_live(self) -> bool:
        return self.state in LIVE


@dataclass(frozen=True)
class Lease:
    """The right to work on one row until the lease runs out; `fence` is what proves it."""

    model: type[LeasedWork]
    pk: int
    fence: int

    def __str__(self) -> str:
        return f"{self.model.__name__} {self.pk} with fence {self.fence}"

    @property
    def held(self) -> models.QuerySet[Any]:
        return self.model._default_manager.filter(pk=self.pk, fence=self.fence, state=WorkState.RUNNING)


def locked(rows: models.QuerySet[Any]) -> models.QuerySet[Any]:
    """Inside a transaction: in id order, so that two that lock the same rows never wait for each other crosswise. Rows
    that merely point to them may be made meanwhile.
    """
    return rows.select_for_update(of=("self",), no_key=True).order_by("pk")


def claim(row: LeasedWork, worker: str) -> Lease | None:
    """Take a queued row, unless somebody was faster or it is to be cancelled. The row given knows it then."""
    taken = (
        type(row)
        ._default_manager.filter(pk=row.pk, fence=row.fence, state=WorkState.QUEUED, cancel_requested_at=None)
        .update(
            state=WorkState.RUNNING,
            fence=F("fence") + 1,
            attempts=F("attempts") + 1,
            worker=worker,
            started_at=timezone.now(),
            phase="",
            **_new_lease(),
        )
    )
    if not taken:
        return None
    row.state, row.fence, row.attempts = WorkState.RUNNING, row.fence + 1, row.attempts + 1
    return Lease(type(row), row.pk, row.fence)


def renew(lease: Lease) -> bool:
    """False: the lease is lost, what was made under it counts for nothing."""
    return bool(lease.held.update(**_new_lease()))


def cancel_requested(lease: Lease) -> bool:
    """Also true when the lease is lost: either way the work is to end now."""
    return not lease.held.filter(cancel_requested_at=None).exists()


def settle(lease: Lease, state: WorkState, **fields: Any) -> bool:
    """Write the end of the work. False: the lease was lost, and nothing was written.

    What was cancelled while it ran is cancelled, whatever it came to.
    """
    end: dict[str, Any] = {"finished_at": timezone.now(), **_no_lease()}
    changed = lease.held.filter(cancel_requested_at=None).update(state=state, **end, **fields)
    return _kept(lease, changed or lease.held.update(state=WorkState.CANCELLED, reason=CANCELLED, **end))


def put_back(lease: Lease) -> bool:
    """Into the queue again, for whoever is free."""
    return _kept(lease, lease.held.update(state=WorkState.QUEUED, started_at=None, **_no_lease()))


def _kept(lease: Lease, changed: int) -> bool:
    if not changed:
        log.warning("%s came too late: somebody else has it now, and this result is discarded", lease)
    return bool(changed)


def expired(model: type[LeasedWork]) -> models.QuerySet[Any]:
    return model._default_manager.filter(clock.expired(), state=WorkState.RUNNING)


def rescue(row: LeasedWork, state: WorkState = WorkState.QUEUED, **fields: Any) -> bool:
    """Take a row away from a holder whose lease has run out. False: it was renewed or settled meanwhile."""
    changes: dict[str, Any] = {"rescues": F("rescues") + 1, "last_rescue_at": timezone.now(), **fields}
    if state == WorkState.QUEUED:
        changes |= {"started_at": None}
    else:
        changes |= {"finished_at": timezone.now()}
    return bool(expired(type(row)).filter(pk=row.pk, fence=row.fence).update(state=state, **_no_lease(), **changes))


def _new_lease() -> dict[str, Any]:
    return {"lease_until": clock.now() + settings.LEASE_S, "lease_clock": clock.clock_id()}


def _no_lease() -> dict[str, Any]:
    return {"lease_until": None, "lease_clock": "", "worker": "", "phase": ""}
