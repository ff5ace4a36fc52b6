"""Which differences are real. Ties are groups; the noise of measuring itself is measured, by the baseline's twin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy

from sweeps.profiling.blocks import (
    Conditions,
    MeasuredBlock,
    NotRankable,
    Rules,
    common_conditions,
    counted,
    medians_by_round,
    twin_of,
)
from sweeps.profiling.statistics import Interval, drift_of, interval_of, paired, resampled_medians

P99_RUNS = 1000
TieKey = tuple[float, ...]


@dataclass(frozen=True)
class LatencyStats:
    """Of one candidate, in microseconds. `p99_us` only where there are runs enough for it."""

    latency_us: Interval
    mad_us: float
    lowest_us: float
    p90_us: float
    p99_us: float | None
    rounds: int
    runs: int


@dataclass(frozen=True)
class RankedCandidate:
    """`slower_than_best`: a share with its interval, from pairs within rounds; None for the best itself."""

    name: str
    rank: int
    stats: LatencyStats
    slower_than_best: Interval | None


@dataclass(frozen=True)
class LatencyRanking:
    """In order. Candidates of one rank are tied: their order among each other says nothing of their latency.

    Ranks come from groups, so that two candidates of different ranks need not differ from each other: `ahead` holds
    the pairs (faster, slower) that surely do.

    `noise_floor` is the share by which two measurements of the same binary differ; `drift` that of the baseline from
    the first round to the last. `left_out`: candidates with too few rounds, with the reason.
    """

    conditions: Conditions
    candidates: tuple[RankedCandidate, ...]
    ahead: frozenset[tuple[str, str]]
    left_out: Mapping[str, str]
    noise_floor: float
    drift: float
    rounds: int

    def groups(self) -> tuple[tuple[RankedCandidate, ...], ...]:
        ranks = sorted({candidate.rank for candidate in self.candidates})
        return tuple(tuple(each for each in self.candidates if each.rank == rank) for rank in ranks)


def rank_latency(
    blocks: Sequence[MeasuredBlock], baseline: str, rules: Rules, tie_keys: Mapping[str, TieKey] | None = None
) -> LatencyRanking:
    """`tie_keys` orders candidates that tie, the smallest first: DRAM traffic, ROM, P.

    Raises `NotRankable`: too few rounds, too noisy, mixed conditions, emulated times.
    """
    conditions = common_conditions(blocks)
    medians = medians_by_round(blocks)
    floor = noise_floor(medians, baseline, rules)
    if floor > rules.most_noise:
        raise NotRankable(
            f"Too noisy to rank: the same binary differs from itself by {100 * floor:.1f} %, more than "
            f"{100 * rules.most_noise:.0f} %. Let the device cool down, end what else runs on it, and measure again."
        )
    left_out = {
        name: f"{len(rounds)} rounds are too few to rank; {rules.rounds_to_rank} are needed."
        for name, rounds in medians.items()
        if len(paired(rounds, medians[baseline])) < rules.rounds_to_rank
    }
    candidates = {
        name: rounds for name, rounds in medians.items() if name != twin_of(baseline) and name not in left_out
    }
    stats = {name: _stats(name, rounds, blocks, rules) for name, rounds in candidates.items()}
    effect, reference = max(rules.effect, floor), medians[baseline]
    ranked = _ranked(_by_pairs(candidates, reference), stats, rules, effect, tie_keys or {})
    ahead = _ahead(candidates, rules, effect)
    return LatencyRanking(conditions, ranked, ahead, left_out, floor, drift_of(reference), len(reference))


def noise_floor(medians: Mapping[str, Mapping[int, float]], baseline: str, rules: Rules) -> float:
    """A share. Raises `NotRankable` before there are rounds enough."""
    pairs = paired(medians.get(twin_of(baseline), {}), medians.get(baseline, {}))
    if len(pairs) < rules.rounds_to_rank:
        raise NotRankable(f"{len(pairs)} rounds are too few to rank; {rules.rounds_to_rank} are needed.")
    interval = interval_of(pairs, rules)
    return math.expm1(max(abs(interval.median), interval.half_width))


def is_slower(pairs: Sequence[float], effect: float, comparisons: int, rules: Rules) -> bool:
    """Surely, and by more than the effect: the bound is corrected for how many are compared with the best."""
    values = numpy.asarray(pairs, dtype=numpy.float64)
    if len(values) < rules.rounds_to_rank or float(numpy.median(values)) < math.log1p(effect):
        return False
    bound = numpy.quantile(resampled_medians(values, rules), rules.error / 2 / max(1, comparisons))
    return bool(bound > 0)


def _by_pairs(
    candidates: Mapping[str, Mapping[int, float]], baseline: Mapping[int, float]
) -> dict[str, Mapping[int, float]]:
    """The fastest first, by pairs with the baseline: who left early was measured on a cooler device."""

    def against_baseline(name: str) -> float:
        return float(numpy.median(paired(candidates[name], baseline)))

    return {name: candidates[name] for name in sorted(candidates, key=against_baseline)}


def _ahead(candidates: Mapping[str, Mapping[int, float]], rules: Rules, effect: float) -> frozenset[tuple[str, str]]:
    comparisons = len(candidates) * (len(candidates) - 1) // 2
    return frozenset(
        (faster, slower)
        for faster, slower in permutations(candidates, 2)
        if is_slower(list(paired(candidates[slower], candidates[faster])), effect, comparisons, rules)
    )


def _ranked(
    candidates: Mapping[str, Mapping[int, float]],
    stats: Mapping[str, LatencyStats],
    rules: Rules,
    effect: float,
    tie_keys: Mapping[str, TieKey],
) -> tuple[RankedCandidate, ...]:
    """`candidates`: the fastest first."""
    left = list(candidates)
    best, ranked = left[0], list[RankedCandidate]()
    while left:
        first, others = left[0], left[1:]
        slower = {
            name
            for name in others
            if is_slower(list(paired(candidates[name], candidates[first])), effect, len(others), rules)
        }
        tied = sorted((name for name in left if name not in slower), key=lambda name: (tie_keys.get(name, ()), name))
        rank = len(ranked) + 1
        ranked += [RankedCandidate(name, rank, stats[name], _slower(candidates, name, best, rules)) for name in tied]
        left = [name for name in left if name in slower]
    return tuple(ranked)


def _slower(candidates: Mapping[str, Mapping[int, float]], name: str, best: str, rules: Rules) -> Interval | None:
    pairs = paired(candidates[name], candidates[best])
    if name == best or not len(pairs):
        return None
    found = interval_of(pairs, rules)
    return Interval(*(math.expm1(value) for value in (found.median, found.low, found.high)))


def _stats(name: str, rounds: Mapping[int, float], blocks: Sequence[MeasuredBlock], rules: Rules) -> LatencyStats:
    medians = numpy.array(list(rounds.values()))
    samples = numpy.array([us for block in counted(blocks) if block.candidate == name for us in block.samples_us])
    return LatencyStats(
        latency_us=interval_of(medians, rules),
        mad_us=float(numpy.median(numpy.abs(medians - numpy.median(medians)))),
        lowest_us=float(samples.min()),
        p90_us=float(numpy.quantile(samples, 0.9)),
        p99_us=float(numpy.quantile(samples, 0.99)) if len(samples) >= P99_RUNS else None,
        rounds=len(medians),
        runs=len(samples),
    )
