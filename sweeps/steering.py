"""What people ask for: cancel, pause, go on, go first. Each is one transaction that announces itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from sweeps.lifecycle import (
    end_compilations,
    end_what_has_no_binary,
    finish_where_over,
    hint,
    hint_sessions,
    lock,
    tell_sweeps,
)
from sweeps.models import Compilation, Conversion, DeviceSession, Sweep, Trial, Verification
from sweeps.models.work import SharedWork
from tunerweb.work import leases
from tunerweb.work.leases import CANCELLED, LIVE, WorkState


def cancel_sweep(sweep: Sweep) -> None:
    """Its live trials end; work that nobody else wants ends with them."""
    with transaction.atomic():
        lock([sweep.pk])
        now = timezone.now()
        Sweep.objects.filter(pk=sweep.pk, cancelled_at=None, finished_at=None).update(cancelled_at=now)
        _cancel_trials(sweep.trials.live(), now)
        _cancel_all(Verification.objects.filter(trial__sweep=sweep))
        _cancel_all(DeviceSession.objects.filter(sweep=sweep))
        finish_where_over([sweep.pk])
        tell_sweeps([sweep.public_id])


def cancel_session(session: DeviceSession) -> None:
    """The sweep goes on without this device."""
    with transaction.atomic():
        lock([session.sweep_id])
        _cancel_all(DeviceSession.objects.filter(pk=session.pk))
        finish_where_over([session.sweep_id])
        tell_sweeps([session.sweep.public_id])


def cancel_trial(trial: Trial) -> None:
    with transaction.atomic():
        lock([trial.sweep_id])
        _cancel_trials(Trial.objects.live().filter(pk=trial.pk), timezone.now())
        end_what_has_no_binary([trial.sweep_id])
        finish_where_over([trial.sweep_id])
        tell_sweeps([trial.sweep.public_id])


def _cancel_trials(trials: Any, now: Any) -> None:
    found = list(trials.values_list("pk", "compilation_id", "compilation__conversion_id"))
    Trial.objects.filter(pk__in=[pk for pk, _, _ in found]).update(cancelled_at=now)
    cancel_unwanted(Conversion, {conversion for _, _, conversion in found if conversion})
    cancel_unwanted(Compilation, {compilation for _, compilation, _ in found})


def cancel_unwanted(model: type[SharedWork], keys: Iterable[int]) -> None:
    """Inside a transaction, under the rows' locks: a trial that attaches itself takes the same lock."""
    rows = leases.locked(model._default_manager.filter(pk__in=keys, state__in=LIVE))
    list(rows.values_list("pk"))
    unwanted = rows.filter(~Exists(wanting(model)))
    now = timezone.now()
    queued = list(unwanted.filter(state=WorkState.QUEUED).order_by("pk").values_list("pk", flat=True))
    ended = model._default_manager.filter(pk__in=queued, state=WorkState.QUEUED)
    ended.update(state=WorkState.CANCELLED, finished_at=now, reason=CANCELLED)
    running = unwanted.filter(state=WorkState.RUNNING, cancel_requested_at=None)
    model._default_manager.filter(pk__in=list(running.values_list("pk", flat=True))).update(cancel_requested_at=now)


def wanting(model: type[SharedWork]) -> Any:
    if model is Compilation:
        return Trial.objects.filter(compilation=OuterRef("pk"), cancelled_at=None)
    return Trial.objects.filter(compilation__conversion=OuterRef("pk"), compilation__state__in=LIVE, cancelled_at=None)


def _cancel_all(rows: Any) -> None:
    """What waits ends now; what runs hears of it."""
    now = timezone.now()
    list(leases.locked(rows.filter(state__in=LIVE)).values_list("pk"))
    rows.filter(state=WorkState.QUEUED).update(state=WorkState.CANCELLED, finished_at=now, reason=CANCELLED)
    rows.filter(state=WorkState.RUNNING, cancel_requested_at=None).update(cancel_requested_at=now)


def pause_sweep(sweep: Sweep) -> None:
    """What runs goes on; nothing new of it starts."""
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk, paused_at=None, finished_at=None).update(paused_at=timezone.now())
        tell_sweeps([sweep.public_id])


def resume_sweep(sweep: Sweep) -> None:
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk).update(paused_at=None)
        tell_sweeps([sweep.public_id])
        hint(Compilation.queue)
        hint_sessions([sweep.pk])


def set_priority(sweep: Sweep, priority: int) -> None:
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk).update(priority=priority)
        tell_sweeps([sweep.public_id])


def hold(sweep: Sweep) -> None:
    """Inside a transaction that changes more of the sweep than its own row."""
    lock([sweep.pk])


def launched(sweep: Sweep) -> None:
    """Inside the transaction that made the sweep or gave its trials new work."""
    refused = Conversion.objects.filter(state=WorkState.REJECTED, compilations__trials__sweep=sweep).distinct()
    for conversion in refused:
        end_compilations(conversion)
    end_what_has_no_binary([sweep.pk])
    finish_where_over([sweep.pk])
    tell_sweeps([sweep.public_id])
    hint(Compilation.queue)
    hint_sessions([sweep.pk])


def reopen(sweep: Sweep) -> None:
    Sweep.objects.filter(pk=sweep.pk).update(finished_at=None, cancelled_at=None, paused_at=None, headline="")
