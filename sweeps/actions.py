"""What people ask of sweeps: launch, retry, clone, delete. Each is one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, Sum

from sweeps import steering
from sweeps.attaching import Asked, attach_compilations, attach_conversion
from sweeps.configs import HtpConfig
from sweeps.models import Compilation, Conversion, DeviceSession, Sweep, Trial, Verification
from sweeps.models.sources import LONGEST_NAME
from sweeps.planning import SweepPlan, plan_sweep
from sweeps.specs import Measurements, SweepSpec
from sweeps.toolchain.base import Point
from tunerweb.work.artifacts import Freed, forget
from tunerweb.work.leases import LIVE, WorkState
from tunerweb.work.models import Artifact

cancel_sweep = steering.cancel_sweep
cancel_session = steering.cancel_session
cancel_trial = steering.cancel_trial
pause_sweep = steering.pause_sweep
resume_sweep = steering.resume_sweep
set_priority = steering.set_priority


def start_sweep(spec: SweepSpec) -> Sweep:
    """Raise `SpecRejected`. The same form sent twice is one sweep, and the second gets the first one's."""
    try:
        with transaction.atomic():
            return _submitted(spec) or _start(spec, plan_sweep(spec))
    except IntegrityError:
        if sweep := _submitted(spec):
            return sweep
        raise


def _submitted(spec: SweepSpec) -> Sweep | None:
    if spec.submission is None:
        return None
    found: Sweep | None = Sweep.objects.filter(team=spec.team, submission=spec.submission).first()
    return found


def _start(spec: SweepSpec, plan: SweepPlan) -> Sweep:
    sweep = _new_sweep(spec, plan)
    asked = Asked(spec.team, spec.owner, spec.source_model, plan.target, plan.toolchain)
    conversion = None
    if plan.conversion_key:
        conversion = attach_conversion(asked, plan.conversion_key, spec.free_dimensions)
    points = [(planned.key, planned.point) for planned in plan.points]
    compilations = attach_compilations(asked, points, conversion)
    trials = Trial.objects.bulk_create(
        Trial(
            team=spec.team,
            owner=spec.owner,
            sweep=sweep,
            position=position,
            kind=planned.kind,
            p_value=planned.p_value,
            compilation=compilations[planned.key],
            from_store=compilations[planned.key].state not in LIVE,
        )
        for position, planned in enumerate(plan.points)
    )
    _add_measurements(spec, sweep, trials)
    steering.launched(sweep)
    return sweep


def _add_measurements(spec: SweepSpec, sweep: Sweep, trials: Iterable[Trial]) -> None:
    """All rows are there from the start: when they may be worked on is a question of the claim."""
    asked = spec.measurements
    owned = {"team": spec.team, "owner": spec.owner}
    if asked.verifies_outputs:
        Verification.objects.bulk_create(Verification(trial=trial, **owned) for trial in trials)
    DeviceSession.objects.bulk_create(
        DeviceSession(
            sweep=sweep,
            device=device,
            device_name=device.name,
            perf_profile=asked.perf_profile,
            rounds=asked.rounds,
            runs=asked.runs,
            **owned,
        )
        for device in asked.devices
    )


def _new_sweep(spec: SweepSpec, plan: SweepPlan) -> Sweep:
    sweep: Sweep = Sweep.objects.create(
        team=spec.team,
        owner=spec.owner,
        name=(spec.name.strip() or f"{spec.source_model.name} on {plan.target.name}")[:LONGEST_NAME],
        source_model=spec.source_model,
        config_version=spec.config_version,
        free_dimensions=dict(spec.free_dimensions),
        soc_model=plan.target.soc_model,
        num_cores=plan.target.num_cores,
        toolchain=plan.toolchain,
        p_values=spec.p_values,
        left_out={str(p_value): reason for p_value, reason in plan.left_out.items()},
        top_k=spec.top_k,
        parallel_compiles=spec.parallel_compiles,
        timeout_s=spec.timeout_s,
        memory_bytes=spec.memory_bytes,
        priority=spec.priority,
        verifies_outputs=spec.measurements.verifies_outputs,
        input_seed=spec.measurements.input_seed,
        submission=spec.submission,
        cloned_from=spec.cloned_from,
    )
    return sweep


def spec_of(sweep: Sweep) -> SweepSpec:
    """What a clone starts from."""
    return SweepSpec(
        team=sweep.team,
        owner=sweep.owner,
        source_model=sweep.source_model,
        config_version=sweep.config_version,
        soc=str(sweep.soc_model),
        p_values=sweep.p_values,
        free_dimensions=sweep.free_dimensions,
        name=sweep.name,
        top_k=sweep.top_k,
        parallel_compiles=sweep.parallel_compiles,
        timeout_s=sweep.timeout_s,
        memory_bytes=sweep.memory_bytes,
        priority=sweep.priority,
        measurements=_measurements_of(sweep),
        cloned_from=sweep,
    )


def _measurements_of(sweep: Sweep) -> Measurements:
    sessions = list(sweep.sessions.filter(device__isnull=False).select_related("device"))
    first = sessions[0] if sessions else DeviceSession()
    return Measurements(
        verifies_outputs=sweep.verifies_outputs,
        devices=tuple(session.device for session in sessions if session.device),
        perf_profile=first.perf_profile,
        rounds=first.rounds,
        runs=first.runs,
        input_seed=sweep.input_seed,
    )


def retry_failed(sweep: Sweep) -> int:
    """New work for the trials that failed or were cancelled; refusals are answers and stay. Returns how many."""
    with transaction.atomic():
        steering.hold(sweep)
        trials = list(sweep.trials.retryable().select_related("compilation", "compilation__conversion"))
        again = _measure_again(sweep, trials)
        if not trials:
            if again:
                steering.reopen(sweep)
                steering.launched(sweep)
            return again
        asked = Asked(sweep.team, sweep.owner, sweep.source_model, sweep.target, sweep.toolchain)
        points = [(trial.compilation.key, _point_of(trial.compilation)) for trial in trials]
        compilations = attach_compilations(asked, points, _conversion_again(asked, trials))
        for trial in trials:
            trial.compilation = compilations[trial.compilation.key]
            trial.cancelled_at = None
            trial.from_store = trial.compilation.state not in LIVE
        Trial.objects.bulk_update(trials, ["compilation", "cancelled_at", "from_store"])
        steering.reopen(sweep)
        steering.launched(sweep)
        return len(trials) + again


RETRIED = (WorkState.FAILED, WorkState.CANCELLED)


def _measure_again(sweep: Sweep, trials: Iterable[Trial]) -> int:
    """Verifications and sessions have no history of their own: the same row is worked on again."""
    afresh: dict[str, Any] = {
        "state": WorkState.QUEUED,
        "cancel_requested_at": None,
        "reason": "",
        "crashes": 0,
        "attempts": 0,
        "rescues": 0,
        "started_at": None,
        "finished_at": None,
    }
    verifications = Verification.objects.filter(trial__sweep=sweep, state__in=RETRIED).filter(
        Q(trial__in=[trial.pk for trial in trials]) | Q(trial__compilation__state=WorkState.DONE)
    )
    sessions = sweep.sessions.filter(state__in=RETRIED, device__isnull=False)
    return int(verifications.update(**afresh)) + int(sessions.update(refused={}, **afresh))


def _conversion_again(asked: Asked, trials: Iterable[Trial]) -> Conversion | None:
    old: Conversion | None = next((each.compilation.conversion for each in trials), None)
    return attach_conversion(asked, old.key, old.free_dimensions) if old else None


def _point_of(compilation: Compilation) -> Point:
    config = HtpConfig.from_json(compilation.config)
    return Point(config=config, p_value=compilation.p_value, as_given=compilation.as_given)


RUNNING = "It is still running: cancel it first."


def freed_by(sweep: Sweep) -> Freed:
    """Without deleting anything."""
    artifacts = Artifact.objects.filter(pk__in=_artifacts_of(_only_of(sweep)))
    elsewhere = _artifacts_of(Compilation.objects.filter(team=sweep.team).exclude(pk__in=_only_of(sweep)))
    freed = artifacts.exclude(pk__in=elsewhere).exclude(source_files__isnull=False).exclude(conversions__isnull=False)
    total = freed.aggregate(size_bytes=Sum("size_bytes"))["size_bytes"] or 0
    return Freed(freed.count(), total, RUNNING if _is_at_work(sweep) else "")


def _is_at_work(sweep: Sweep) -> bool:
    running = {"state": WorkState.RUNNING}
    measuring = sweep.sessions.filter(**running), Verification.objects.filter(trial__sweep=sweep, **running)
    return sweep.trials.live().exists() or any(rows.exists() for rows in measuring)


def delete_sweep(sweep: Sweep) -> Freed:
    """Its files go with it; those that were kept a moment ago go with the reconciler's next round."""
    with transaction.atomic():
        steering.hold(sweep)
        freed = freed_by(sweep)
        if freed.blocked_by:
            return freed
        wanted = list(sweep.trials.values_list("compilation_id", flat=True))
        artifacts = _artifacts_of(wanted)
        sweep.delete()
        Compilation.objects.filter(pk__in=wanted, trials=None).exclude(state__in=LIVE).delete()
        Conversion.objects.filter(team=sweep.team, compilations=None).exclude(state__in=LIVE).delete()
        transaction.on_commit(lambda: forget(artifacts))
    return freed


def _only_of(sweep: Sweep) -> list[int]:
    mine = Compilation.objects.filter(trials__sweep=sweep)
    shared = mine.filter(trials__in=Trial.objects.exclude(sweep=sweep))
    return list(mine.exclude(pk__in=shared.values("pk")).values_list("pk", flat=True))


def _artifacts_of(compilations: Any) -> set[int]:
    rows = Compilation.objects.filter(pk__in=compilations).values_list("binary_id", "log_id")
    return {pk for row in rows for pk in row if pk}
