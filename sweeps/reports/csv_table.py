"""A sweep as rows of text: one line a trial, exact values, an empty cell for what is not reported."""

from __future__ import annotations

from collections.abc import Sequence

from devices.targets import Target
from sweeps.measurements import DramTraffic, MemoryFootprint
from sweeps.ranking import Metric, Ranking, TrialOutcome, rank, value_of
from sweeps.toolchain.base import CompileResult

FOOTPRINT = tuple(MemoryFootprint.model_fields)
TRAFFIC = tuple(DramTraffic.model_fields)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

VALUE_COLUMNS = {
    Metric.ROM: "rom_bytes",
    Metric.RAM: "ram_bytes",
    Metric.DRAM: "dram_bytes",
    Metric.CYCLES: "simulated_cycles",
}
RESULT_COLUMNS = (
    "file_bytes",
    *FOOTPRINT,
    "shared_weights_bytes",
    *(f"dram_{name}" for name in TRAFFIC),
    "cycle_origin",
    "wall_us",
    "cpu_us",
    "peak_memory_bytes",
    "sha256",
)


def csv_rows(trials: Sequence[TrialOutcome], target: Target) -> list[list[str]]:
    """The head first. Differences are in percent of the baseline, positive is larger."""
    rankings = [rank(trials, metric, target) for metric in Metric]
    head = ["point", "p_value"]
    for metric in Metric:
        head += [VALUE_COLUMNS[metric], f"{metric}_rank", f"{metric}_difference_percent", f"{metric}_excluded"]
    return [[*head, *RESULT_COLUMNS, "error"], *(_row(trial, rankings) for trial in trials)]


def _row(trial: TrialOutcome, rankings: Sequence[Ranking]) -> list[str]:
    cells: list[object] = [trial.label, trial.p_value]
    for ranking in rankings:
        cells += _ranked(trial, ranking)
    cells += _result_cells(trial.result) if trial.result else [None] * len(RESULT_COLUMNS)
    return [_text(cell) for cell in (*cells, None if trial.result else trial.error)]


def _ranked(trial: TrialOutcome, ranking: Ranking) -> list[object]:
    value = value_of(trial, ranking.metric)
    if entry := ranking.entry_of(trial):
        percent = entry.difference_percent
        return [value, entry.rank_label, None if percent is None else round(percent, 4) + 0.0, None]
    reason = next((excluded.reason for excluded in ranking.excluded if excluded.trial is trial), None)
    return [value, None, None, reason if trial.result else None]


def _result_cells(result: CompileResult) -> list[object]:
    return [
        result.file_bytes,
        *(getattr(result.footprint, name, None) for name in FOOTPRINT),
        result.shared_weights_bytes,
        *(getattr(result.traffic, name, None) for name in TRAFFIC),
        _cycle_origin(result),
        result.wall_us,
        result.cpu_us,
        result.peak_memory_bytes,
        result.sha256,
    ]


def _cycle_origin(result: CompileResult) -> str | None:
    return "; ".join(sorted({graph.cycles.origin for graph in result.graphs if graph.cycles})) or None


def _text(cell: object) -> str:
    """Words that a spreadsheet would take for a formula get a quote in front; numbers stay numbers."""
    if cell is None:
        return ""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return str(cell)
