"""Sweeps as programs see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ninja import Schema

from sweeps.exports import NotFinished, report_of
from sweeps.models import Sweep, Trial
from sweeps.outcomes import outcomes_of
from sweeps.ranking import Metric, Ranking, rank
from sweeps.rows.page import state_of
from sweeps.rows.progress import NO_TRIALS, Progress, progress_of, progress_of_each


class TargetOut(Schema):
    soc_model: int
    name: str
    dsp_arch: str
    num_cores: int


class CountsOut(Schema):
    total: int
    queued: int
    running: int
    done: int
    rejected: int
    failed: int
    cancelled: int


class SweepOut(Schema):
    """`state`: queued, running, paused, done, failed (nothing compiled) or cancelled."""

    id: str
    name: str
    url: str
    state: str
    model: str
    config: str | None
    config_version: int | None
    target: TargetOut
    toolchain: str
    p_values: str
    left_out: dict[str, str]
    free_dimensions: dict[str, int]
    top_k: int
    parallel_compiles: int
    timeout_s: int
    memory_bytes: int | None
    priority: int
    trials: CountsOut
    left_s: float | None
    headline: str
    created_at: datetime
    created_by: str
    finished_at: datetime | None


class TrialOut(Schema):
    """`phase`: what the compiler does now. `reason`: why there is no result."""

    id: str
    label: str
    kind: str
    p_value: int | None
    state: str
    phase: str
    reason: str
    from_store: bool
    rom_bytes: int | None
    ram_bytes: int | None
    dram_bytes: int | None
    simulated_cycles: int | None


class SweepDetail(SweepOut):
    points: list[TrialOut]


class RankOut(Schema):
    """Equal values share a rank. `difference_percent` of the baseline; positive is more."""

    rank: int
    rank_label: str
    value: int
    difference_percent: float | None
    points: list[str]


class ExcludedOut(Schema):
    point: str
    reason: str


class RankingOut(Schema):
    unit: str
    entries: list[RankOut]
    excluded: list[ExcludedOut]


class SweepResults(Schema):
    """`report` is size_report.json."""

    headline: str
    report: dict[str, Any]
    rankings: dict[str, RankingOut]


def sweeps_out(rows: Sequence[Sweep]) -> list[SweepOut]:
    counted = progress_of_each(rows)
    return [SweepOut(**_fields(row, counted.get(row.pk, NO_TRIALS))) for row in rows]


def detail_of(row: Sweep) -> SweepDetail:
    points = [_trial_out(trial) for trial in row.trials.with_work().defer("compilation__result")]
    return SweepDetail(**_fields(row, progress_of(row)), points=points)


def results_of(row: Sweep) -> SweepResults:
    """Raises `NotFinished`."""
    if row.finished_at is None:
        raise NotFinished
    trials = outcomes_of(row)
    rankings = {str(metric): _ranking_out(rank(trials, metric, row.target)) for metric in Metric}
    return SweepResults(headline=row.headline, report=report_of(row, trials), rankings=rankings)


def _fields(row: Sweep, progress: Progress) -> dict[str, Any]:
    version, target = row.config_version, row.target
    same = ("name", "p_values", "left_out", "free_dimensions", "top_k", "parallel_compiles", "timeout_s")
    more = ("memory_bytes", "priority", "headline", "created_at", "finished_at")
    return {
        "id": row.public_id,
        "url": row.get_absolute_url(),
        "state": state_of(row, progress),
        "model": row.source_model.public_id,
        "config": version.config.public_id if version else None,
        "config_version": version.number if version else None,
        "target": {name: getattr(target, name) for name in TargetOut.model_fields},
        "toolchain": str(row.toolchain),
        "trials": {name: getattr(progress, name) for name in CountsOut.model_fields},
        "left_s": progress.left_s if progress.live else 0.0,
        "created_by": row.owner.get_username(),
        **{name: getattr(row, name) for name in (*same, *more)},
    }


def _trial_out(trial: Trial) -> TrialOut:
    work = trial.compilation
    values = ("rom_bytes", "ram_bytes", "dram_bytes", "simulated_cycles")
    return TrialOut(
        id=trial.public_id,
        label=trial.label,
        kind=trial.kind,
        p_value=trial.p_value,
        state=trial.state,
        phase=work.phase,
        reason="" if trial.is_live else work.reason,
        from_store=trial.from_store,
        **{name: None if trial.cancelled_at else getattr(work, name) for name in values},
    )


def _ranking_out(ranking: Ranking) -> RankingOut:
    return RankingOut(
        unit=ranking.metric.unit,
        entries=[
            RankOut(
                rank=entry.rank,
                rank_label=entry.rank_label,
                value=entry.value,
                difference_percent=entry.difference_percent,
                points=[trial.label for trial in entry.trials],
            )
            for entry in ranking.entries
        ],
        excluded=[ExcludedOut(point=each.trial.label, reason=each.reason) for each in ranking.excluded],
    )
