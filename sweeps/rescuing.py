"""What others left: work of dead workers, work that nobody wants any more, sweeps that are over."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists
from django.utils import timezone

from sweeps.lifecycle import OF_SWEEPS, changing, finish_where_over, follow_up, hint_row, over
from sweeps.models import Compilation, DeviceSession, Inspection
from sweeps.steering import cancel_unwanted, wanting
from tunerweb.work import leases
from tunerweb.work.leases import CANCELLED, LIVE, MOST_WORKERS_TAKEN, LeasedWork, WorkState

WORK = (*OF_SWEEPS, Inspection)
DEVICE_GONE = "The device was deleted before anything could be measured on it."


def reconcile() -> None:
    for model in WORK:
        for row in leases.expired(model).order_by("pk"):
            _rescue(row)
    _end_what_is_cancelled()
    with transaction.atomic():
        cancel_unwanted(Compilation, _unwanted_compilations())
    _end_what_lost_its_device()
    finish_where_over(over().values_list("pk", flat=True))


def _end_what_is_cancelled() -> None:
    """Work that came back into the queue at the moment in which it was cancelled."""
    for model in OF_SWEEPS:
        for row in model.objects.filter(state=WorkState.QUEUED, cancel_requested_at__isnull=False).order_by("pk"):
            with changing(model, row.pk):
                queued = model.objects.filter(pk=row.pk, fence=row.fence, state=WorkState.QUEUED)
                if queued.update(state=WorkState.CANCELLED, finished_at=timezone.now(), reason=CANCELLED):
                    follow_up(model, row.pk)


def _unwanted_compilations() -> list[int]:
    live = Compilation.objects.filter(~Exists(wanting(Compilation)), state__in=LIVE, cancel_requested_at=None)
    return list(live.values_list("pk", flat=True))


def _rescue(row: LeasedWork) -> None:
    with changing(type(row), row.pk):
        if row.cancel_requested_at:
            rescued = leases.rescue(row, WorkState.CANCELLED, reason=CANCELLED)
        elif _takes_workers_with_it(row):
            reason = (
                f"{row.rescues + 1} workers died while they worked on it, and none on anything else: it is not tried "
                "again. The workers' logs say how they ended."
            )
            rescued = leases.rescue(row, WorkState.FAILED, reason=reason)
        else:
            rescued = leases.rescue(row)
        if rescued:
            follow_up(type(row), row.pk)
            hint_row(row)


def _takes_workers_with_it(row: LeasedWork) -> bool:
    """The third worker that died under it, while nothing else lost one since it was first tried."""
    if row.rescues + 1 < MOST_WORKERS_TAKEN:
        return False
    others = (
        model._default_manager.exclude(pk=row.pk) if isinstance(row, model) else model._default_manager.all()
        for model in WORK
    )
    return not any(rows.filter(last_rescue_at__gte=row.created_at).exists() for rows in others)


def _end_what_lost_its_device() -> None:
    DeviceSession.objects.filter(device=None, state=WorkState.QUEUED).update(
        state=WorkState.CANCELLED, finished_at=timezone.now(), reason=DEVICE_GONE
    )
