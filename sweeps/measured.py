"""Blocks as the pure code knows them, and the ranking that they give."""

from __future__ import annotations

from dataclasses import dataclass

from devices.runners.base import Timing
from sweeps.models import DeviceSession, MeasurementBlock, Sweep, Trial, TrialKind, TrialState
from sweeps.profiling.blocks import TWIN, Conditions, MeasuredBlock, NotRankable, Rules, twin_of
from sweeps.profiling.ranking import LatencyRanking, TieKey, rank_latency


@dataclass(frozen=True)
class Measured:
    """`ranking` is None where there can be none; `why_not` says why."""

    blocks: tuple[MeasuredBlock, ...]
    baseline: str
    ranking: LatencyRanking | None
    why_not: str = ""


def candidates_of(sweep: Sweep) -> list[Trial]:
    """Those that compiled, the baseline first."""
    done = [trial for trial in sweep.trials.with_work() if trial.state == TrialState.DONE]
    return sorted(done, key=lambda trial: (trial.kind != TrialKind.BASELINE, trial.position))


def has_blocks(session: DeviceSession) -> bool:
    return session.blocks.exists()


def blocks_of(session: DeviceSession) -> tuple[MeasuredBlock, ...]:
    rows = session.blocks.select_related("trial").order_by("pk")
    return tuple(block_of(row, _name_of(row), session.device_name) for row in rows)


def measured_of(session: DeviceSession, tie_keys: dict[str, TieKey] | None = None) -> Measured:
    """Without the candidates that failed on the device, and those whose outputs differ there."""
    blocks = blocks_of(session)
    left_out = {*session.refused, *wrong_outputs(session)}
    kept = [block for block in blocks if block.candidate.removesuffix(TWIN) not in left_out]
    baseline = next((trial.label for trial in candidates_of(session.sweep) if trial.label not in left_out), "")
    try:
        return Measured(blocks, baseline, rank_latency(kept, baseline, Rules(), tie_keys))
    except NotRankable as error:
        return Measured(blocks, baseline, None, str(error))


def wrong_outputs(session: DeviceSession) -> dict[str, str]:
    """Trial to the sentence on what it computes otherwise on this device."""
    rows = session.outputs.filter(verdict="different").select_related("trial")
    return {row.trial.label: row.sentence for row in rows}


def block_of(row: MeasurementBlock, name: str, device: str) -> MeasuredBlock:
    conditions = Conditions(
        timing=Timing(row.timing),
        event=row.event,
        perf_profile=row.perf_profile,
        profiling_level=row.profiling_level,
        runtime=row.runtime,
        log_level=row.log_level,
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
