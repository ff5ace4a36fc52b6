"""A sweep as rows of text: one line a trial, exact values, an empty cell for what is not reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from devices.targets import Target
from sweeps.measurements import CycleEstimate, DramTraffic, MemoryFootprint
from sweeps.ranking import Metric, Ranking, TrialOutcome, rank, value_of
from sweeps.toolchain.base import CompileResult

FOOTPRINT = tuple(MemoryFootprint.model_fields)
TRAFFIC = tuple(DramTraffic.model_fields)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

RESULT_COLUMNS: dict[str, Callable[[CompileResult], object]] = {
    "file_bytes": lambda result: result.file_bytes,
    **{name: lambda result, name=name: getattr(result.footprint, name, None) for name in FOOTPRINT},
    "shared_weights_bytes": lambda result: result.shared_weights_bytes,
    **{f"dram_{name}": lambda result, name=name: getattr(result.traffic, name, None) for name in TRAFFIC},
    "cycle_origin": lambda result: _cycle_origin(result),
    "wall_us": lambda result: result.wall_us,
    "cpu_us": lambda result: result.cpu_us,
    "peak_memory_bytes": lambda result: result.peak_memory_bytes,
    "sha256": lambda result: result.sha256,
}


def csv_rows(trials: Sequence[TrialOutcome], target: Target) -> list[list[str]]:
    """The head first. Differences are in percent of the baseline, positive is larger."""
    rankings = [rank(trials, metric, target) for metric in Metric]
    head = ["point", "p_value"]
    for metric in Metric:
        head += [f"{metric}_{metric.unit}", f"{metric}_rank", f"{metric}_difference_percent", f"{metric}_excluded"]
    return [[*head, *RESULT_COLUMNS, "error"], *(_row(trial, rankings) for trial in trials)]


def _row(trial: TrialOutcome, rankings: Sequence[Ranking]) -> list[str]:
    cells: list[object] = [trial.label, trial.p_value]
    for ranking in rankings:
        cells += _ranked(trial, ranking)
    cells += [read(trial.result) if trial.result else None for read in RESULT_COLUMNS.values()]
    return [_text(cell) for cell in (*cells, None if trial.result else trial.error)]


def _ranked(trial: TrialOutcome, ranking: Ranking) -> list[object]:
    value = value_of(trial, ranking.metric)
    if entry := ranking.entry_of(trial):
        percent = entry.difference_percent
        return [value, entry.rank_label, None if percent is None else round(percent, 4) + 0.0, None]
    reason = next((excluded.reason for excluded in ranking.excluded if excluded.trial is trial), None)
    return [value, None, None, reason if trial.result else None]


def _cycle_origin(result: CompileResult) -> str | None:
    cycles: list[CycleEstimate] = [graph.cycles for graph in result.graphs if graph.cycles]
    return "; ".join(sorted({estimate.origin.value for estimate in cycles})) or None


def _text(cell: object) -> str:
    """Words that a spreadsheet would take for a formula get a quote in front; numbers stay numbers."""
    if cell is None:
        return ""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return str(cell)
