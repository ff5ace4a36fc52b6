"""`size_report.json`: the documented keys, which hold P points only, and ours beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from devices.targets import Target
from sweeps.ranking import (
    Metric,
    TrialOutcome,
    as_given_of,
    baseline_of,
    best_p_points,
    granted_differences,
    percent_difference,
    value_of,
)
from sweeps.verdict import verdict

Json = dict[str, Any]
Invalid = Mapping[int, str]

SIZE_KEYS = {Metric.ROM: "rom_size_bytes", Metric.RAM: "ram_size_bytes"}
BREAKDOWN = {
    "opDataSize": "op_data_bytes",
    "constSize": "const_bytes",
    "ioTensorSize": "io_tensor_bytes",
    "ddrTensorSize": "ddr_tensor_bytes",
    "spillFillBufferSize": "spill_fill_bytes",
    "total": "ram_bytes",
}
NOTHING_INVALID: Invalid = {}
NOTHING_ABOUT: Mapping[str, Any] = {}


def size_report(
    trials: Sequence[TrialOutcome],
    k: int,
    target: Target,
    *,
    invalid: Invalid = NOTHING_INVALID,
    about: Mapping[str, Any] = NOTHING_ABOUT,
) -> Json:
    """Raises ValueError for k < 1.

    `invalid`: the P values that were asked for and not compiled, with the reasons. `about` is added as it is, and
    never replaces a key of the report.
    """
    baseline = baseline_of(trials)
    report = {
        "verdict": verdict(trials, target).text,
        "baseline_rom_size_bytes": value_of(baseline, Metric.ROM) if baseline else None,
        "baseline_ram_size_bytes": value_of(baseline, Metric.RAM) if baseline else None,
        "baseline_ram_breakdown_bytes": ram_breakdown(baseline) if baseline else None,
        "best_rom": _best(trials, Metric.ROM, target),
        "best_ram": _best(trials, Metric.RAM, target) | _best_ram_breakdown(trials, target),
        "top_k_rom": _top_k(trials, Metric.ROM, k, target),
        "top_k_ram": _top_k(trials, Metric.RAM, k, target),
        "as_given": _as_given(trials, target),
        **_per_p(trials, invalid),
        "per_p_errors": _errors(trials, invalid),
        "per_p_excluded": _excluded(trials, target),
    }
    return report | {key: value for key, value in about.items() if key not in report}


def ram_breakdown(trial: TrialOutcome) -> dict[str, int] | None:
    """Bytes by kind, summed over the graphs; None when there is no result or it does not report them."""
    footprint = trial.result.footprint if trial.result else None
    return {key: getattr(footprint, name) for key, name in BREAKDOWN.items()} if footprint else None


def _top_k(trials: Sequence[TrialOutcome], metric: Metric, k: int, target: Target) -> list[Json]:
    best = best_p_points(trials, metric, k, target)
    return [{"rank": rank, **_entry(trial, metric, trials, target)} for rank, trial in enumerate(best, start=1)]


def _best(trials: Sequence[TrialOutcome], metric: Metric, target: Target) -> Json:
    if best := best_p_points(trials, metric, 1, target):
        return _entry(best[0], metric, trials, target)
    return {"p_value": None, SIZE_KEYS[metric]: None, "improvement_percent": None}


def _best_ram_breakdown(trials: Sequence[TrialOutcome], target: Target) -> Json:
    best = best_p_points(trials, Metric.RAM, 1, target)
    baseline = baseline_of(trials)
    ours = ram_breakdown(best[0]) if best else None
    theirs = ram_breakdown(baseline) if baseline else None
    delta = {key: ours[key] - theirs[key] for key in BREAKDOWN} if ours and theirs else None
    return {"ram_breakdown_bytes": ours, "ram_breakdown_delta_bytes": delta}


def _entry(trial: TrialOutcome, metric: Metric, trials: Sequence[TrialOutcome], target: Target) -> Json:
    return {
        "p_value": trial.p_value,
        SIZE_KEYS[metric]: value_of(trial, metric),
        "improvement_percent": _improvement_percent(trial, metric, trials, target),
    }


def _improvement_percent(
    trial: TrialOutcome, metric: Metric, trials: Sequence[TrialOutcome], target: Target
) -> float | None:
    """Positive is smaller. None when the baseline failed, or was not built as it was asked for."""
    baseline = baseline_of(trials)
    if baseline is None or granted_differences(baseline, target):
        return None
    value, reference = value_of(trial, metric), value_of(baseline, metric)
    if value is None or reference is None:
        return None
    difference = percent_difference(value, reference)
    return None if difference is None else 0.0 - round(difference, 2)


def _per_p(trials: Sequence[TrialOutcome], invalid: Invalid) -> dict[str, Json]:
    columns: dict[str, Callable[[TrialOutcome], Any]] = {
        "per_p_rom_size_bytes": lambda trial: value_of(trial, Metric.ROM),
        "per_p_ram_size_bytes": lambda trial: value_of(trial, Metric.RAM),
        "per_p_ram_breakdown_bytes": ram_breakdown,
        "per_p_file_bytes": lambda trial: trial.result.file_bytes if trial.result else None,
        "per_p_dram_bytes": lambda trial: value_of(trial, Metric.DRAM),
        "per_p_simulated_cycles": lambda trial: value_of(trial, Metric.CYCLES),
        "per_p_sha256": lambda trial: trial.result.sha256 if trial.result else None,
    }
    by_p = _by_p(trials)
    asked = sorted({*by_p, *invalid})
    return {
        column: {str(p_value): read(by_p[p_value]) if p_value in by_p else None for p_value in asked}
        for column, read in columns.items()
    }


def _by_p(trials: Sequence[TrialOutcome]) -> dict[int, TrialOutcome]:
    return {trial.p_value: trial for trial in trials if trial.p_value is not None and not trial.as_given}


def _errors(trials: Sequence[TrialOutcome], invalid: Invalid) -> dict[str, str]:
    failed = {p: trial.error or "It did not compile." for p, trial in _by_p(trials).items() if trial.result is None}
    return {str(p_value): reason for p_value, reason in sorted({**invalid, **failed}.items())}


def _excluded(trials: Sequence[TrialOutcome], target: Target) -> dict[str, str]:
    """The P values that compiled and are not ranked: not built as they were asked for."""
    differences = {p_value: granted_differences(trial, target) for p_value, trial in sorted(_by_p(trials).items())}
    return {str(p_value): "; ".join(found) for p_value, found in differences.items() if found}


def _as_given(trials: Sequence[TrialOutcome], target: Target) -> Json | None:
    trial = as_given_of(trials)
    if trial is None:
        return None
    improvements = {
        f"{metric}_improvement_percent": _improvement_percent(trial, metric, trials, target) for metric in SIZE_KEYS
    }
    return {
        "p_value": trial.p_value,
        "rom_size_bytes": value_of(trial, Metric.ROM),
        "ram_size_bytes": value_of(trial, Metric.RAM),
        **improvements,
        "ram_breakdown_bytes": ram_breakdown(trial),
        "file_bytes": trial.result.file_bytes if trial.result else None,
        "dram_bytes": value_of(trial, Metric.DRAM),
        "simulated_cycles": value_of(trial, Metric.CYCLES),
        "sha256": trial.result.sha256 if trial.result else None,
        "error": None if trial.result else trial.error,
        "excluded": "; ".join(granted_differences(trial, target)) or None,
    }
