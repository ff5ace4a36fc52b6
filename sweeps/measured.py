"""Blocks as the pure code knows them, and the ranking that they give."""

from __future__ import annotations

from dataclasses import dataclass

from devices.runners.base import Timing
from sweeps.models import DeviceSession, MeasurementBlock, Sweep, Trial, TrialKind, TrialState, Verdict, Verification
from sweeps.outcomes import outcome_of
from sweeps.profiling.blocks import Conditions, MeasuredBlock, NotRankable, Rules, twin_of
from sweeps.profiling.ranking import LatencyRanking, TieKey, rank_latency
from sweeps.ranking import granted_differences


@dataclass(frozen=True)
class Measured:
    """`ranking` is None where there can be none; `why_not` says why."""

    blocks: tuple[MeasuredBlock, ...]
    baseline: str
    ranking: LatencyRanking | None
    why_not: str = ""


def candidates_of(sweep: Sweep) -> list[Trial]:
    """Those that compiled and compute the same as far as is known, the baseline first."""
    done = [trial for trial in sweep.trials.with_work() if trial.state == TrialState.DONE and not _differs(trial)]
    return sorted(done, key=lambda trial: (trial.kind != TrialKind.BASELINE, trial.position))


def has_blocks(session: DeviceSession) -> bool:
    return session.blocks.exists()


def blocks_of(session: DeviceSession) -> tuple[MeasuredBlock, ...]:
    rows = session.blocks.select_related("trial").order_by("pk")
    return tuple(block_of(row, _name_of(row), session.device_name) for row in rows)


def measured_of(session: DeviceSession, tie_keys: dict[str, TieKey] | None = None) -> Measured:
    """Without the candidates that failed on the device, and those whose outputs differ there."""
    blocks, refused = blocks_of(session), {**reasons_of(session), **_not_as_asked(session.sweep)}
    baseline = next((trial.label for trial in candidates_of(session.sweep) if trial.label not in refused), "")
    try:
        return Measured(blocks, baseline, rank_latency(blocks, baseline, Rules(), tie_keys, refused=refused))
    except NotRankable as error:
        return Measured(blocks, baseline, None, str(error))


def reasons_of(session: DeviceSession) -> dict[str, str]:
    """Trial to the sentence on why it is not ranked here: the device would not run it, or it computes otherwise."""
    rows = session.outputs.filter(verdict=Verdict.DIFFERENT).select_related("trial")
    return {**session.refused, **{row.trial.label: row.sentence for row in rows}}


def _not_as_asked(sweep: Sweep) -> dict[str, str]:
    """Binaries that were not built with the options that they are named for."""
    found = {trial.label: granted_differences(outcome_of(trial), sweep.target) for trial in candidates_of(sweep)}
    return {label: "; ".join(differences) for label, differences in found.items() if differences}


def _differs(trial: Trial) -> bool:
    verification: Verification | None = getattr(trial, "verification", None)
    return verification is not None and verification.verdict == Verdict.DIFFERENT


def block_of(row: MeasurementBlock, name: str, device: str) -> MeasuredBlock:
    conditions = Conditions(
        timing=Timing(row.timing),
        event=row.event,
        perf_profile=row.perf_profile,
        profiling_level=row.profiling_level,
        runtime=row.runtime,
        log_level=row.log_level,
        device=device,
    )
    return MeasuredBlock(
        round=row.round,
        candidate=name,
        samples_us=tuple(row.samples_us),
        conditions=conditions,
        temperature_c=row.temperature_before_c,
        is_noisy=row.is_noisy,
        after_pause=row.after_pause,
    )


def _name_of(row: MeasurementBlock) -> str:
    return twin_of(row.trial.label) if row.is_twin else row.trial.label
