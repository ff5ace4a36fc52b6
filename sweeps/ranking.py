"""Rank the trials of a sweep by one metric, leaving out, with the reason, those whose value does not compare.

All metrics here are exact (`ROM`, `RAM`, `DRAM` traffic, simulated `CYCLES`): equal is a tie, and ties share a rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from devices.targets import Target
from sweeps.granted import option_differences
from sweeps.toolchain.base import CompileResult, Point
from sweeps.toolchain.errors import ToolchainError

CLOCK_TOLERANCE = 0.02


class Metric(StrEnum):
    ROM = "rom"
    RAM = "ram"
    DRAM = "dram"
    CYCLES = "cycles"

    @property
    def label(self) -> str:
        labels = {"rom": "ROM", "ram": "RAM", "dram": "DRAM traffic", "cycles": "simulated cycles"}
        return labels[self.value]

    @property
    def unit(self) -> str:
        return "cycles" if self is Metric.CYCLES else "bytes"


@dataclass(frozen=True)
class TrialOutcome:
    """A point with its result, or with the reason why there is none.

    `outputs_problem`: it computes something else than the baseline, so that it can win nothing.
    """

    point: Point
    result: CompileResult | None = None
    error: str | None = None
    failure: ToolchainError | None = None
    outputs_problem: str = ""

    @property
    def label(self) -> str:
        return self.point.label

    @property
    def p_value(self) -> int | None:
        return self.point.p_value

    @property
    def as_given(self) -> bool:
        return self.point.as_given

    @property
    def is_baseline(self) -> bool:
        return self.p_value == 0 and not self.as_given


@dataclass(frozen=True)
class RankEntry:
    """Trials of one value, in P order with `as given` last. `difference_percent`: positive is more than the baseline.

    `has_shared_weights`: a pool of weights shared by the graphs of the context comes on top of this RAM.
    """

    rank: int
    value: int
    trials: tuple[TrialOutcome, ...]
    difference_percent: float | None
    has_shared_weights: bool = False

    @property
    def rank_label(self) -> str:
        return f"{self.rank}=" if len(self.trials) > 1 else str(self.rank)

    @property
    def holds_baseline(self) -> bool:
        return any(trial.is_baseline for trial in self.trials)


@dataclass(frozen=True)
class Excluded:
    trial: TrialOutcome
    reason: str


@dataclass(frozen=True)
class Ranking:
    """Smallest value first. Ranks count trials: two on rank 2 are followed by rank 4."""

    metric: Metric
    entries: tuple[RankEntry, ...]
    excluded: tuple[Excluded, ...]

    def entry_of(self, trial: TrialOutcome) -> RankEntry | None:
        return next((entry for entry in self.entries if any(each is trial for each in entry.trials)), None)


def value_of(trial: TrialOutcome, metric: Metric) -> int | None:
    """None when the trial has no result or its toolchain does not report this."""
    if trial.result is None:
        return None
    result = trial.result
    if metric is Metric.ROM:
        return result.rom_bytes
    if metric is Metric.RAM:
        return result.footprint.ram_bytes if result.footprint else None
    if metric is Metric.DRAM:
        return result.traffic.total_bytes if result.traffic else None
    return result.simulated_cycles


def baseline_of(trials: Sequence[TrialOutcome]) -> TrialOutcome | None:
    return next((trial for trial in trials if trial.is_baseline), None)


def as_given_of(trials: Sequence[TrialOutcome]) -> TrialOutcome | None:
    return next((trial for trial in trials if trial.as_given), None)


def rank(trials: Sequence[TrialOutcome], metric: Metric, target: Target) -> Ranking:
    ordered = sorted(trials, key=_p_order)
    reference = _cycle_reference(ordered, target) if metric is Metric.CYCLES else None
    by_value: dict[int, list[TrialOutcome]] = {}
    excluded: list[Excluded] = []
    for trial in ordered:
        value = value_of(trial, metric)
        reason = _exclusion(trial, metric, target, reference)
        if value is None or reason:
            excluded.append(Excluded(trial, reason or "not reported"))
        else:
            by_value.setdefault(value, []).append(trial)
    return Ranking(metric, _entries(by_value, metric), tuple(excluded))


def best_p_points(trials: Sequence[TrialOutcome], metric: Metric, k: int, target: Target) -> tuple[TrialOutcome, ...]:
    """The k smallest among the P points; ties keep P order, so the baseline wins a tie. Raises ValueError for k < 1."""
    if k < 1:
        raise ValueError(f"k is {k}, but at least the best binary is kept: give 1 or more.")
    ranking = rank([trial for trial in trials if not trial.as_given], metric, target)
    return tuple(trial for entry in ranking.entries for trial in entry.trials)[:k]


def granted_differences(trial: TrialOutcome, target: Target) -> tuple[str, ...]:
    """What the binary says it was built with, where that is not what was asked for; a part of a sentence each."""
    if trial.result is None:
        return ()
    return option_differences(trial.point.config, trial.result, target)


def percent_difference(value: int, reference: int) -> float | None:
    """Positive when `value` is larger; None when there is nothing to take a percentage of."""
    return 100 * (value - reference) / reference if reference else None


def _p_order(trial: TrialOutcome) -> tuple[bool, int]:
    return trial.as_given, trial.p_value or 0


def _entries(by_value: dict[int, list[TrialOutcome]], metric: Metric) -> tuple[RankEntry, ...]:
    baseline = next((value for value, tied in by_value.items() if baseline_of(tied)), None)
    entries: list[RankEntry] = []
    position = 1
    for value, tied in sorted(by_value.items()):
        difference = None if baseline is None else percent_difference(value, baseline)
        shared = metric is Metric.RAM and any(_has_shared_weights(trial) for trial in tied)
        entries.append(RankEntry(position, value, tuple(tied), difference, shared))
        position += len(tied)
    return tuple(entries)


def _has_shared_weights(trial: TrialOutcome) -> bool:
    return trial.result is not None and any(graph.shared_weights_bytes for graph in trial.result.graphs)


def _exclusion(trial: TrialOutcome, metric: Metric, target: Target, reference: TrialOutcome | None) -> str | None:
    if trial.result is None:
        return trial.error or "not compiled"
    if differences := granted_differences(trial, target):
        return "; ".join(differences)
    if trial.outputs_problem:
        return f"its outputs differ from the baseline's: {trial.outputs_problem}"
    if metric is Metric.CYCLES and reference and reference.result and trial.result.simulated_cycles is not None:
        return _cycle_difference(trial.result, reference.result, reference.label)
    return None


def _cycle_reference(ordered: Sequence[TrialOutcome], target: Target) -> TrialOutcome | None:
    """Cycles are compared with those of the baseline; without it, with the first that has any."""
    usable = [trial for trial in ordered if value_of(trial, Metric.CYCLES) is not None]
    return next((trial for trial in usable if not granted_differences(trial, target)), None)


def _cycle_difference(result: CompileResult, reference: CompileResult, name: str) -> str | None:
    origins = {graph.cycles.origin for graph in result.graphs if graph.cycles}
    expected = {graph.cycles.origin for graph in reference.graphs if graph.cycles}
    if origins != expected:
        return f"cycles of another origin ({', '.join(sorted(origins))}; {name}: {', '.join(sorted(expected))})"
    clock, expected_clock = _clock_mhz(result), _clock_mhz(reference)
    if clock is None or expected_clock is None:
        return None if clock == expected_clock else f"simulated clock not reported as for {name}"
    # A simulated time is cut to whole microseconds, which alone moves the clock by up to 1 in that many.
    tolerance = CLOCK_TOLERANCE + 1 / min(_simulated_us(result) or 1, _simulated_us(reference) or 1)
    if abs(clock / expected_clock - 1) > tolerance:
        return f"another simulated clock ({clock:.0f} MHz; {name}: {expected_clock:.0f} MHz)"
    return None


def _simulated_us(result: CompileResult) -> int | None:
    times = [graph.cycles.simulated_us if graph.cycles else None for graph in result.graphs]
    return sum(time for time in times if time) if all(times) else None


def _clock_mhz(result: CompileResult) -> float | None:
    simulated_us, cycles = _simulated_us(result), result.simulated_cycles
    return cycles / simulated_us if simulated_us and cycles else None
