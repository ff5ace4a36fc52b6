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
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from devices import holding
from sweeps.headlines import headline_of
from sweeps.models import Compilation, Conversion, DeviceSession, MeasurementBlock, Sweep, Trial, Verification
from tunerweb.work import events, hints, leases
from tunerweb.work.leases import CANCELLED, LIVE, MOST_CRASHES, Lease, LeasedWork, WorkState

MOST_ATTEMPTS = 30
KILLED = (
    "It was killed from outside in {attempts} attempts, by a person or by the system when memory ran out, and is not "
    "tried again. Retry it, with fewer compiles at once if memory is short."
)
NOTHING_TO_RUN = "There is no binary to run: the compile gave none."
CONVERSION_CANCELLED = "The conversion that it stands on was cancelled."
OF_SWEEPS = (Conversion, Compilation, Verification, DeviceSession)
log = logging.getLogger(__name__)


class LeaseLost(Exception):
    """The work belongs to another worker now."""


@contextmanager
def changing(model: type[LeasedWork], pk: int) -> Iterator[None]:
    """A transaction that holds the sweeps which a piece of work belongs to."""
    with transaction.atomic():
        if model in OF_SWEEPS:
            lock(_sweeps_of(model, pk).values("pk"))
        yield


def lock(sweeps: Any) -> None:
    """Where transactions take the whole database, there is nothing to lock."""
    if not connection.features.has_select_for_update:
        return
    list(leases.locked(Sweep.objects.filter(pk__in=sweeps)).values_list("pk"))


def settle(lease: Lease, state: WorkState, **fields: Any) -> bool:
    """The end of a piece of work. False: the lease was lost meanwhile, and the result counts for nothing."""
    with changing(lease.model, lease.pk):
        if not leases.settle(lease, state, **fields):
            return False
        _free_device(lease)
        follow_up(lease.model, lease.pk)
        return True


def crashed(lease: Lease, sentence: str, **fields: Any) -> bool:
    """The child died of itself: three times, and the row is failed."""
    with changing(lease.model, lease.pk):
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
    with changing(lease.model, lease.pk):
        row = lease.held.first()
        if row is not None and row.attempts >= MOST_ATTEMPTS:
            return settle(lease, WorkState.FAILED, reason=KILLED.format(attempts=row.attempts))
        return _again(lease)


def hand_back(lease: Lease) -> bool:
    """The worker stops: somebody else goes on, and the attempt does not count."""
    with changing(lease.model, lease.pk):
        lease.held.update(attempts=F("attempts") - 1)
        return _again(lease)


def _again(lease: Lease) -> bool:
    if leases.cancel_requested(lease):
        return settle(lease, WorkState.CANCELLED, reason=CANCELLED)
    done = leases.put_back(lease)
    _free_device(lease)
    _announce(lease.model, lease.pk)
    hint_row(lease.model._default_manager.get(pk=lease.pk))
    return done


def _free_device(lease: Lease) -> None:
    if lease.model is DeviceSession:
        holding.release(lease)


# What follows from the end of a piece of work


def follow_up(model: type[LeasedWork], pk: int) -> None:
    if model is Conversion:
        end_compilations(Conversion.objects.get(pk=pk))
    if model in OF_SWEEPS:
        sweeps = dict(_sweeps_of(model, pk).values_list("pk", "public_id"))
        _go_on(model, _with_more_stages(sweeps))
        finish_where_over(sweeps)
        tell_sweeps(sweeps.values())


def end_compilations(conversion: Conversion) -> None:
    """Without its DLC nothing can be compiled: the compilations end as the conversion did."""
    if conversion.state == WorkState.DONE:
        hint(Compilation.queue)
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


def end_what_has_no_binary(sweeps: Iterable[int]) -> None:
    """Nothing can be run of a trial that was cancelled or did not compile, nor of a sweep without any that did."""
    keys, ends = list(sweeps), (WorkState.REJECTED, WorkState.FAILED, WorkState.CANCELLED)
    ended = {"state": WorkState.CANCELLED, "finished_at": timezone.now(), "reason": NOTHING_TO_RUN}
    waiting = Verification.objects.filter(trial__sweep__in=keys, state=WorkState.QUEUED)
    without = Trial.objects.filter(Q(cancelled_at__isnull=False) | Q(compilation__state__in=ends), sweep__in=keys)
    waiting.filter(trial__in=without).update(**ended)
    promising = Trial.objects.filter(sweep=OuterRef("sweep"), cancelled_at=None).exclude(compilation__state__in=ends)
    sessions = DeviceSession.objects.filter(~Exists(promising), sweep__in=keys, state=WorkState.QUEUED)
    sessions.update(**ended)


def _with_more_stages(sweeps: Iterable[int]) -> list[int]:
    more = Q(verifies_outputs=True) | Q(sessions__isnull=False)
    return list(Sweep.objects.filter(more, pk__in=list(sweeps)).order_by().values_list("pk", flat=True).distinct())


def _go_on(model: type[LeasedWork], sweeps: list[int]) -> None:
    """What stands on this piece of work may start, or never will."""
    if not sweeps:
        return
    end_what_has_no_binary(sweeps)
    hint(Verification.queue)
    if model is not DeviceSession:
        hint_sessions(sweeps)


def hint_sessions(sweeps: Iterable[int]) -> None:
    waiting = DeviceSession.objects.filter(sweep__in=list(sweeps), state=WorkState.QUEUED, device__isnull=False)
    for session in waiting.select_related("device"):
        hint_row(session)


def finish_where_over(sweeps: Iterable[int]) -> None:
    """A sweep without live trials is finished. Two workers that end the last two trials at once may both see the other
    one running: the reconciler asks again.
    """
    for sweep in over().filter(pk__in=list(sweeps)):
        headline = _headline(sweep)
        Sweep.objects.filter(pk=sweep.pk, finished_at=None).update(finished_at=timezone.now(), headline=headline)
        tell_sweeps([sweep.public_id])


def over() -> Any:
    """Unfinished sweeps of which nothing is left to do."""
    return Sweep.objects.unfinished().filter(
        ~Exists(Trial.objects.live().filter(sweep=OuterRef("pk"))),
        ~Exists(Verification.objects.filter(trial__sweep=OuterRef("pk"), state__in=LIVE)),
        ~Exists(DeviceSession.objects.filter(sweep=OuterRef("pk"), state__in=LIVE)),
    )


def _headline(sweep: Sweep) -> str:
    """No result is lost because nothing can be said of it in one line."""
    try:
        return headline_of(sweep)
    except ValueError:
        log.exception("%s has no headline", sweep)
        return ""


def hear_of_session(lease: Lease, **fields: Any) -> None:
    """What becomes known while it runs."""
    with transaction.atomic():
        if lease.held.update(**fields):
            _announce(lease.model, lease.pk)


def keep_block(lease: Lease, block: MeasurementBlock) -> None:
    """Raises `LeaseLost`: somebody else measures now, and two at once disturb each other."""
    with transaction.atomic():
        if not leases.locked(lease.held).exists():
            raise LeaseLost(f"{lease} is held by somebody else now.")
        block.save(force_insert=True)
        _announce(lease.model, lease.pk)


def wait_for_device(lease: Lease, reason: str) -> None:
    """What was measured stays; the rest is measured when the device is back."""
    with changing(lease.model, lease.pk):
        lease.held.update(reason=reason)
        _again(lease)


def _sweeps_of(model: type[LeasedWork], pk: int) -> Any:
    if model is Verification:
        return Sweep.objects.filter(trials__verification=pk).order_by()
    if model is DeviceSession:
        return Sweep.objects.filter(sessions=pk).order_by()
    wanted = {"trials__compilation": pk} if model is Compilation else {"trials__compilation__conversion": pk}
    return Sweep.objects.filter(trials__cancelled_at=None, **wanted).distinct().order_by()


def _announce(model: type[LeasedWork], pk: int) -> None:
    if model in OF_SWEEPS:
        tell_sweeps(_sweeps_of(model, pk).values_list("public_id", flat=True))


def tell_sweeps(public_ids: Iterable[str]) -> None:
    events.announce(*(events.sweep_group(public_id) for public_id in public_ids), events.OVERVIEW)


def hint(queue: str) -> None:
    transaction.on_commit(lambda: hints.push(queue))


def hint_row(row: LeasedWork) -> None:
    """On the queue that the row waits on: that of its device, or of its kind."""
    device = row.device if isinstance(row, DeviceSession) else None
    if device is not None:
        hint(device.queue)
    elif not isinstance(row, DeviceSession):
        hint(row.queue)
