"""Which piece of work a free worker takes next. Stages are conditions here: a compile waits for its conversion.

The order: teams in turn, then the highest priority, then baselines and configs as given (an order, never a barrier),
then first come.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Count, Exists, F, IntegerField, Max, OuterRef, Q, QuerySet, Value, When

from devices import holding
from devices.models import Device
from sweeps.models import Compilation, DeviceSession, Inspection, Sweep, Trial, TrialKind, Verification
from sweeps.models.work import SharedWork
from sweeps.tuner.running import available_memory_bytes
from tunerweb.work import events, leases
from tunerweb.work.leases import LIVE, Lease, WorkState

STARTABLE = (WorkState.QUEUED, WorkState.DONE)
NEXT_STAGE = Q(compilation__conversion=None) | Q(compilation__conversion__state__in=STARTABLE)
MOST_TRIES = 20


def waiting_queues() -> list[str]:
    """Those on which a claim would find something."""
    waiting = {Compilation.queue: is_compile_waiting, Inspection.queue: is_inspection_waiting}
    return [queue for queue, is_waiting in waiting.items() if is_waiting()]


def waiting_device_queues() -> list[str]:
    devices = Device.objects.schedulable().filter(hold=None, pk__in=_waiting_sessions().values("device"))
    return [device.queue for device in devices]


def is_compile_waiting() -> bool:
    return _next_compilation() is not None or _waiting_verifications().exists()


def is_inspection_waiting() -> bool:
    return Inspection.objects.filter(state=WorkState.QUEUED).exists()


def claim_compile(worker: str) -> tuple[SharedWork, Lease] | None:
    """A conversion or a compilation that a live trial of a running sweep wants, claimed; None when there is none."""
    for _ in range(MOST_TRIES):
        row = _next_work()
        if row is None:
            return None
        if lease := _claim_under_limits(row, worker):
            return row, lease
    return None


def claim_inspection(worker: str) -> tuple[Inspection, Lease] | None:
    for row in Inspection.objects.filter(state=WorkState.QUEUED, cancel_requested_at=None).order_by("pk")[:MOST_TRIES]:
        if lease := leases.claim(row, worker):
            return row, lease
    return None


def claim_verification(worker: str) -> tuple[Verification, Lease] | None:
    """Of a binary that is there; the baseline's first, since the others are compared with its outputs."""
    for row in _waiting_verifications().select_related("trial__sweep", "trial__compilation__binary")[:MOST_TRIES]:
        if lease := leases.claim(row, worker):
            events.announce(events.sweep_group(row.trial.sweep.public_id), events.OVERVIEW)
            return row, lease
    return None


def claim_session(device: Device, worker: str) -> tuple[DeviceSession, Lease] | None:
    """Of a sweep that has compiled and verified all it wanted; with it the device is held."""
    if not Device.objects.schedulable().filter(pk=device.pk).exists():
        return None
    waiting = _waiting_sessions().filter(device=device).order_by("-sweep__priority", "pk")
    for row in waiting.select_related("sweep", "device")[:MOST_TRIES]:
        if lease := holding.claim_with_device(row, device, worker, row.sweep.name):
            events.announce(events.sweep_group(row.sweep.public_id), events.OVERVIEW)
            return row, lease
    return None


def _waiting_verifications() -> QuerySet[Verification]:
    first = Verification.objects.filter(
        trial__sweep=OuterRef("trial__sweep"), trial__kind=TrialKind.BASELINE, state__in=LIVE
    )
    return Verification.objects.filter(
        Q(trial__kind=TrialKind.BASELINE) | ~Exists(first),
        state=WorkState.QUEUED,
        cancel_requested_at=None,
        trial__cancelled_at=None,
        trial__sweep__paused_at=None,
        trial__compilation__state=WorkState.DONE,
    ).order_by("-trial__sweep__priority", "trial__sweep_id", "trial__position")


def _waiting_sessions() -> QuerySet[DeviceSession]:
    compiling = Trial.objects.live().filter(sweep=OuterRef("sweep"))
    verifying = Verification.objects.filter(trial__sweep=OuterRef("sweep"), state__in=LIVE)
    return DeviceSession.objects.filter(
        ~Exists(compiling), ~Exists(verifying), state=WorkState.QUEUED, cancel_requested_at=None, sweep__paused_at=None
    )


def _next_work() -> SharedWork | None:
    compilation = _next_compilation()
    if compilation is None:
        return None
    if compilation.conversion and compilation.conversion.state == WorkState.QUEUED:
        return compilation.conversion
    return compilation if _fits_in_memory(compilation) else None


def _claim_under_limits(row: SharedWork, worker: str) -> Lease | None:
    """The sweeps that want the row are locked, so that two workers cannot both take the last free place of one."""
    with transaction.atomic():
        wanting = Sweep.objects.filter(pk__in=_wanting(row).values("sweep_id"))
        locked = dict(leases.locked(wanting).values_list("pk", "public_id"))
        if not locked.keys() - set(_column(_sweeps_at_their_limit)):
            return None
        if lease := leases.claim(row, worker):
            events.announce(*map(events.sweep_group, locked.values()), events.OVERVIEW)
        return lease


def _wanting(row: SharedWork) -> QuerySet[Any]:
    wanted = Q(compilation=row) if isinstance(row, Compilation) else Q(compilation__conversion=row)
    return Trial.objects.filter(wanted, cancelled_at=None, sweep__paused_at=None)


def _next_compilation() -> Compilation | None:
    teams = _column(_waiting_teams)
    if len(teams) > 1:
        first = list(_in_order(_waiting().filter(team_id=_team_whose_turn_it_is(teams))))
    else:
        first = _column(_first_waiting)
    found: Compilation | None = (
        Compilation.objects.filter(pk__in=first).select_related("conversion", "team", "source_model").first()
    )
    return found


def _column(query: Callable[[], QuerySet[Any]]) -> list[int]:
    """What a query without arguments gives. Django takes longer to write such a query than the database to answer it,
    and these are asked for each compile: each is written once.
    """
    with connection.cursor() as cursor:
        cursor.execute(*_written(query, connection.vendor))
        return [row[0] for row in cursor.fetchall()]


@cache
def _written(query: Callable[[], QuerySet[Any]], vendor: str) -> tuple[str, tuple[Any, ...]]:
    sql, params = query().query.sql_with_params()
    return sql, params


def _waiting() -> QuerySet[Any]:
    """Trials whose next stage can start: their conversion, or their compile when it stands on none or a done one."""
    return Trial.objects.filter(
        NEXT_STAGE,
        cancelled_at=None,
        sweep__paused_at=None,
        compilation__state=WorkState.QUEUED,
        compilation__cancel_requested_at=None,
    ).exclude(sweep_id__in=_sweeps_at_their_limit())


def _waiting_teams() -> QuerySet[Any]:
    return _waiting().order_by().values_list("team_id", flat=True).distinct()


def _first_waiting() -> QuerySet[Any]:
    return _in_order(_waiting())


def _in_order(waiting: QuerySet[Any]) -> QuerySet[Any]:
    ordered = waiting.order_by("-sweep__priority", _first_of_all(), "sweep_id", "position")
    return ordered.values_list("compilation_id", flat=True)[:1]


def _sweeps_at_their_limit() -> QuerySet[Any]:
    running = Trial.objects.filter(cancelled_at=None, compilation__state=WorkState.RUNNING).order_by()
    counted = running.values("sweep_id").annotate(running=Count("compilation_id", distinct=True))
    at_limit: QuerySet[Any] = counted.filter(running__gte=F("sweep__parallel_compiles"))
    return at_limit.values_list("sweep_id", flat=True)


def _team_whose_turn_it_is(teams: list[int]) -> int:
    """The one with the fewest compiles running; among equals, the one that was served longest ago."""
    served = Compilation.objects.filter(team_id__in=teams, started_at__isnull=False).order_by().values("team_id")
    rows = served.annotate(last=Max("started_at"), running=Count("pk", filter=Q(state=WorkState.RUNNING)))
    known = {row["team_id"]: (row["running"], row["last"].timestamp()) for row in rows}
    return min(teams, key=lambda team: known.get(team, (0, 0.0)))


def _first_of_all() -> Case:
    first = When(kind__in=(TrialKind.BASELINE, TrialKind.AS_GIVEN), then=Value(0))
    return Case(first, default=Value(1), output_field=IntegerField())


def _fits_in_memory(row: Compilation) -> bool:
    """A compile starts when the highest peak of this model on this target fits into what is free; the first always."""
    if not Compilation.objects.filter(state=WorkState.RUNNING).exists():
        return True
    same = Compilation.objects.filter(source_model=row.source_model_id, soc_model=row.soc_model)
    peak_bytes = same.aggregate(peak=Max("peak_memory_bytes"))["peak"]
    return peak_bytes is None or peak_bytes <= available_memory_bytes()
