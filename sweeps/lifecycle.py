"""Every change of state of sweeps and of the work they share, each one transaction that announces itself.

Rows are locked in one order, or two transactions would wait for each other for ever: sweeps, then conversions, then
compilations, each by id.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from sweeps.headlines import headline_of
from sweeps.models import Compilation, Conversion, Inspection, Sweep, Trial
from sweeps.models.work import SharedWork
from tunerweb.work import events, hints, leases
from tunerweb.work.leases import CANCELLED, LIVE, MOST_CRASHES, MOST_WORKERS_TAKEN, Lease, LeasedWork, WorkState

MOST_ATTEMPTS = 30
KILLED = (
    "It was killed from outside in {attempts} attempts, by a person or by the system when memory ran out, and is not "
    "tried again. Retry it, with fewer compiles at once if memory is short."
)
CONVERSION_CANCELLED = "The conversion that it stands on was cancelled."
log = logging.getLogger(__name__)


@contextmanager
def _changing(model: type[LeasedWork], pk: int) -> Iterator[None]:
    """A transaction that holds the sweeps which a piece of work belongs to."""
    with transaction.atomic():
        if model in (Conversion, Compilation):
            _lock(_sweeps_of(model, pk).values("pk"))
        yield


def _lock(sweeps: Any) -> None:
    """Where transactions take the whole database, there is nothing to lock."""
    if not connection.features.has_select_for_update:
        return
    list(leases.locked(Sweep.objects.filter(pk__in=sweeps)).values_list("pk"))


def settle(lease: Lease, state: WorkState, **fields: Any) -> bool:
    """The end of a piece of work. False: the lease was lost meanwhile, and the result counts for nothing."""
    with _changing(lease.model, lease.pk):
        if not leases.settle(lease, state, **fields):
            return False
        _follow_up(lease.model, lease.pk)
        return True


def crashed(lease: Lease, sentence: str, **fields: Any) -> bool:
    """The child died of itself: three times, and the row is failed."""
    with _changing(lease.model, lease.pk):
        lease.held.update(crashes=F("crashes") + 1)
        row = lease.held.first()
        if row is None:
            return False
        if row.crashes < MOST_CRASHES:
            return _again(lease)
        reason = f"{sentence} It crashed {row.crashes} times, so it is not tried again."
        return settle(lease, WorkState.FAILED, reason=reason, **fields)


def killed_from_outside(lease: Lease) -> bool:
    """The child was killed by somebody else, which is no fault of the work: it is tried again."""
    with _changing(lease.model, lease.pk):
        row = lease.held.first()
        if row is not None and row.attempts >= MOST_ATTEMPTS:
            return settle(lease, WorkState.FAILED, reason=KILLED.format(attempts=row.attempts))
        return _again(lease)


def hand_back(lease: Lease) -> bool:
    """The worker stops: somebody else goes on, and the attempt does not count."""
    with _changing(lease.model, lease.pk):
        lease.held.update(attempts=F("attempts") - 1)
        return _again(lease)


def _again(lease: Lease) -> bool:
    if leases.cancel_requested(lease):
        return settle(lease, WorkState.CANCELLED, reason=CANCELLED)
    done = leases.put_back(lease)
    _announce(lease.model, lease.pk)
    _hint(lease.model.queue)
    return done


# What people ask for


def cancel_sweep(sweep: Sweep) -> None:
    """Its live trials end; work that nobody else wants ends with them."""
    with transaction.atomic():
        _lock([sweep.pk])
        now = timezone.now()
        Sweep.objects.filter(pk=sweep.pk, cancelled_at=None, finished_at=None).update(cancelled_at=now)
        _cancel_trials(sweep.trials.live(), now)
        finish_where_over([sweep.pk])
        _tell_sweeps([sweep.public_id])


def cancel_trial(trial: Trial) -> None:
    with transaction.atomic():
        _lock([trial.sweep_id])
        _cancel_trials(Trial.objects.live().filter(pk=trial.pk), timezone.now())
        finish_where_over([trial.sweep_id])
        _tell_sweeps([trial.sweep.public_id])


def _cancel_trials(trials: Any, now: Any) -> None:
    found = list(trials.values_list("pk", "compilation_id", "compilation__conversion_id"))
    Trial.objects.filter(pk__in=[pk for pk, _, _ in found]).update(cancelled_at=now)
    cancel_unwanted(Conversion, {conversion for _, _, conversion in found if conversion})
    cancel_unwanted(Compilation, {compilation for _, compilation, _ in found})


def cancel_unwanted(model: type[SharedWork], keys: Iterable[int]) -> None:
    """Inside a transaction, under the rows' locks: a trial that attaches itself takes the same lock."""
    rows = leases.locked(model._default_manager.filter(pk__in=keys, state__in=LIVE))
    list(rows.values_list("pk"))
    unwanted = rows.filter(~Exists(_wanting(model)))
    now = timezone.now()
    queued = list(unwanted.filter(state=WorkState.QUEUED).order_by("pk").values_list("pk", flat=True))
    ended = model._default_manager.filter(pk__in=queued, state=WorkState.QUEUED)
    ended.update(state=WorkState.CANCELLED, finished_at=now, reason=CANCELLED)
    running = unwanted.filter(state=WorkState.RUNNING, cancel_requested_at=None)
    model._default_manager.filter(pk__in=list(running.values_list("pk", flat=True))).update(cancel_requested_at=now)


def _wanting(model: type[SharedWork]) -> Any:
    if model is Compilation:
        return Trial.objects.filter(compilation=OuterRef("pk"), cancelled_at=None)
    return Trial.objects.filter(compilation__conversion=OuterRef("pk"), compilation__state__in=LIVE, cancelled_at=None)


def pause_sweep(sweep: Sweep) -> None:
    """What runs goes on; nothing new of it starts."""
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk, paused_at=None, finished_at=None).update(paused_at=timezone.now())
        _tell_sweeps([sweep.public_id])


def resume_sweep(sweep: Sweep) -> None:
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk).update(paused_at=None)
        _tell_sweeps([sweep.public_id])
        _hint(Compilation.queue)


def set_priority(sweep: Sweep, priority: int) -> None:
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk).update(priority=priority)
        _tell_sweeps([sweep.public_id])


def hold(sweep: Sweep) -> None:
    """Inside a transaction that changes more of the sweep than its own row."""
    _lock([sweep.pk])


def launched(sweep: Sweep) -> None:
    """Inside the transaction that made the sweep or gave its trials new work."""
    refused = Conversion.objects.filter(state=WorkState.REJECTED, compilations__trials__sweep=sweep).distinct()
    for conversion in refused:
        _end_compilations(conversion)
    finish_where_over([sweep.pk])
    _tell_sweeps([sweep.public_id])
    _hint(Compilation.queue)


def reopen(sweep: Sweep) -> None:
    Sweep.objects.filter(pk=sweep.pk).update(finished_at=None, cancelled_at=None, paused_at=None, headline="")


# What follows from the end of a piece of work


def _follow_up(model: type[LeasedWork], pk: int) -> None:
    if model is Conversion:
        _end_compilations(Conversion.objects.get(pk=pk))
    if model in (Conversion, Compilation):
        sweeps = dict(_sweeps_of(model, pk).values_list("pk", "public_id"))
        finish_where_over(sweeps)
        _tell_sweeps(sweeps.values())


def _end_compilations(conversion: Conversion) -> None:
    """Without its DLC nothing can be compiled: the compilations end as the conversion did."""
    if conversion.state == WorkState.DONE:
        _hint(Compilation.queue)
        return
    waiting = Compilation.objects.filter(conversion=conversion, state=WorkState.QUEUED)
    list(leases.locked(waiting).values_list("pk"))
    reason = CONVERSION_CANCELLED if conversion.state == WorkState.CANCELLED else conversion.reason
    waiting.update(
        state=conversion.state,
        reason=reason,
        error=conversion.error,
        log=conversion.log,
        finished_at=timezone.now(),
    )


def finish_where_over(sweeps: Iterable[int]) -> None:
    """A sweep without live trials is finished. Two workers that end the last two trials at once may both see the other
    one running: the reconciler asks again.
    """
    live = Trial.objects.live().filter(sweep=OuterRef("pk"))
    for sweep in Sweep.objects.filter(~Exists(live), pk__in=list(sweeps), finished_at=None):
        headline = _headline(sweep)
        Sweep.objects.filter(pk=sweep.pk, finished_at=None).update(finished_at=timezone.now(), headline=headline)
        _tell_sweeps([sweep.public_id])


def _headline(sweep: Sweep) -> str:
    """No result is lost because nothing can be said of it in one line."""
    try:
        return headline_of(sweep)
    except ValueError:
        log.exception("%s has no headline", sweep)
        return ""


def _sweeps_of(model: type[LeasedWork], pk: int) -> Any:
    wanted = {"trials__compilation": pk} if model is Compilation else {"trials__compilation__conversion": pk}
    return Sweep.objects.filter(trials__cancelled_at=None, **wanted).distinct().order_by()


def _announce(model: type[LeasedWork], pk: int) -> None:
    if model in (Conversion, Compilation):
        _tell_sweeps(_sweeps_of(model, pk).values_list("public_id", flat=True))


def _tell_sweeps(public_ids: Iterable[str]) -> None:
    events.announce(*(events.sweep_group(public_id) for public_id in public_ids), events.OVERVIEW)


def _hint(queue: str) -> None:
    transaction.on_commit(lambda: hints.push(queue))


# What others left


def reconcile() -> None:
    for model in (Conversion, Compilation, Inspection):
        for row in leases.expired(model).order_by("pk"):
            _rescue(row)
    _end_what_is_cancelled()
    with transaction.atomic():
        cancel_unwanted(Compilation, _unwanted_compilations())
    overdue = Sweep.objects.unfinished().filter(~Exists(Trial.objects.live().filter(sweep=OuterRef("pk"))))
    finish_where_over(overdue.values_list("pk", flat=True))


def _end_what_is_cancelled() -> None:
    """Work that came back into the queue at the moment in which it was cancelled."""
    for model in (Conversion, Compilation):
        for row in model.objects.filter(state=WorkState.QUEUED, cancel_requested_at__isnull=False).order_by("pk"):
            with _changing(model, row.pk):
                queued = model.objects.filter(pk=row.pk, fence=row.fence, state=WorkState.QUEUED)
                if queued.update(state=WorkState.CANCELLED, finished_at=timezone.now(), reason=CANCELLED):
                    _follow_up(model, row.pk)


def _unwanted_compilations() -> list[int]:
    live = Compilation.objects.filter(~Exists(_wanting(Compilation)), state__in=LIVE, cancel_requested_at=None)
    return list(live.values_list("pk", flat=True))


def _rescue(row: LeasedWork) -> None:
    with _changing(type(row), row.pk):
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
            _follow_up(type(row), row.pk)
            _hint(row.queue)


def _takes_workers_with_it(row: LeasedWork) -> bool:
    """The third worker that died under it, while nothing else lost one since it was first tried."""
    if row.rescues + 1 < MOST_WORKERS_TAKEN:
        return False
    others = (
        model._default_manager.exclude(pk=row.pk) if isinstance(row, model) else model._default_manager.all()
        for model in (Conversion, Compilation, Inspection)
    )
    return not any(rows.filter(last_rescue_at__gte=row.created_at).exists() for rows in others)
