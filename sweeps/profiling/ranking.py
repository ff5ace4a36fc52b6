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
    without,
)
from sweeps.profiling.statistics import Floats, Interval, drift_of, interval_of, lower_bound, paired

P99_RUNS = 1000
TieKey = tuple[float, ...]
Medians = Mapping[str, Mapping[int, float]]


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
    the first round to the last. A difference below `effect` is a tie: what the rules ask for, or the noise floor where
    that is larger. `left_out`: candidates that failed or have too few rounds, with the reason. `disturbed_blocks` were
    measured once more.
    """

    conditions: Conditions
    candidates: tuple[RankedCandidate, ...]
    ahead: frozenset[tuple[str, str]]
    left_out: Mapping[str, str]
    noise_floor: float
    drift: float
    rounds: int
    effect: float
    disturbed_blocks: int

    def groups(self) -> tuple[tuple[RankedCandidate, ...], ...]:
        ranks = sorted({candidate.rank for candidate in self.candidates})
        return tuple(tuple(each for each in self.candidates if each.rank == rank) for rank in ranks)


def rank_latency(
    blocks: Sequence[MeasuredBlock],
    baseline: str,
    rules: Rules,
    tie_keys: Mapping[str, TieKey] | None = None,
    *,
    refused: Mapping[str, str] | None = None,
) -> LatencyRanking:
    """`tie_keys` orders candidates that tie, the smallest first: DRAM traffic, ROM, P; without one they come last.

    `refused`: candidates that failed, with the reason; they are left out whatever blocks they have.

    Raises `NotRankable`: too few rounds, too noisy, mixed conditions, emulated times, a reference that was refused.
    """
    kept, failed = _kept(blocks, baseline, refused or {})
    conditions = common_conditions(kept)
    medians = medians_by_round(kept)
    floor = _checked_floor(medians, baseline, rules)
    short = _too_few(medians, baseline, rules)
    candidates = {name: rounds for name, rounds in medians.items() if name not in short and not _is_twin(name, medians)}
    stats = {name: _stats(name, rounds, kept, rules) for name, rounds in candidates.items()}
    effect, reference = max(rules.effect, floor), medians[baseline]
    return LatencyRanking(
        conditions=conditions,
        candidates=_ranked(_by_pairs(candidates, reference), stats, rules, effect, tie_keys or {}),
        ahead=_ahead(candidates, rules, effect),
        left_out={**short, **failed},
        noise_floor=floor,
        drift=drift_of(reference),
        rounds=len(reference),
        effect=effect,
        disturbed_blocks=len(kept) - len(counted(kept)),
    )


def noise_floor(medians: Medians, baseline: str, rules: Rules) -> float:
    """A share. Raises `NotRankable` before there are rounds enough."""
    twin = medians.get(twin_of(baseline), {})
    if not twin:
        raise NotRankable(
            f"{baseline} was not measured twice in each round, so that nobody knows how much of a difference is noise. "
            "Measure again, with it as the baseline."
        )
    pairs = paired(twin, medians.get(baseline, {}))
    if len(pairs) < rules.rounds_to_rank:
        raise NotRankable(_few(len(pairs), rules))
    interval = interval_of(pairs, rules)
    return math.expm1(max(abs(interval.median), interval.half_width))


def is_slower(pairs: Sequence[float] | Floats, effect: float, comparisons: int, rules: Rules) -> bool:
    """Surely slower at all, and by the effect or more as far as is known: enough for another rank."""
    return _is_above(0.0, pairs, effect, comparisons, rules)


def is_hopeless(pairs: Sequence[float] | Floats, effect: float, comparisons: int, rules: Rules) -> bool:
    """Surely slower by more than the effect: enough to be measured no more, which cannot be taken back.

    It is asked again after each round, and each time may be wrong; who equals the best is far from this bound.
    """
    return _is_above(math.log1p(effect), pairs, effect, comparisons, rules)


def _is_above(least: float, pairs: Sequence[float] | Floats, effect: float, comparisons: int, rules: Rules) -> bool:
    """The bound, whose error is corrected after Bonferroni; who has a median below the effect is seen at once."""
    values = numpy.asarray(pairs, dtype=numpy.float64)
    if len(values) < rules.rounds_to_rank or float(numpy.median(values)) < math.log1p(effect):
        return False
    return lower_bound(values, rules.error / 2 / max(1, comparisons), rules) > least


def _kept(
    blocks: Sequence[MeasuredBlock], baseline: str, refused: Mapping[str, str]
) -> tuple[list[MeasuredBlock], dict[str, str]]:
    """What may be ranked, and who may not; a refused twin is the baseline under another name, and no candidate."""
    if baseline in refused:
        raise NotRankable(f"{baseline} cannot be what the others are compared with: {refused[baseline]}")
    return without(blocks, refused), dict(refused)


def _checked_floor(medians: Medians, baseline: str, rules: Rules) -> float:
    floor = noise_floor(medians, baseline, rules)
    if floor > rules.most_noise:
        raise NotRankable(
            f"Too noisy to rank: the same binary differs from itself by {100 * floor:.1f} %, more than "
            f"{100 * rules.most_noise:.0f} %. Let the device cool down, end what else runs on it, and measure again."
        )
    return floor


def _too_few(medians: Medians, baseline: str, rules: Rules) -> dict[str, str]:
    """The rounds that count are those that the baseline has too."""
    shared = {
        name: len(paired(rounds, medians[baseline])) for name, rounds in medians.items() if not _is_twin(name, medians)
    }
    return {name: _few(count, rules) for name, count in shared.items() if count < rules.rounds_to_rank}


def _few(rounds: int, rules: Rules) -> str:
    said = "1 round is" if rounds == 1 else f"{rounds} rounds are"
    return f"{said} too few to rank; {rules.rounds_to_rank} are needed."


def _is_twin(name: str, medians: Medians) -> bool:
    """Of whoever was the baseline once: it may have changed during the session."""
    return any(name == twin_of(other) for other in medians)


def _by_pairs(candidates: Medians, baseline: Mapping[int, float]) -> dict[str, Mapping[int, float]]:
    """The fastest first, by pairs with the baseline: who left early was measured on a cooler device."""

    def against_baseline(name: str) -> float:
        return float(numpy.median(paired(candidates[name], baseline)))

    return {name: candidates[name] for name in sorted(candidates, key=against_baseline)}


def _ahead(candidates: Medians, rules: Rules, effect: float) -> frozenset[tuple[str, str]]:
    comparisons = len(candidates) * (len(candidates) - 1) // 2
    return frozenset(
        (faster, slower)
        for faster, slower in permutations(candidates, 2)
        if is_slower(paired(candidates[slower], candidates[faster]), effect, comparisons, rules)
    )


def _ranked(
    candidates: Medians,
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
            if is_slower(paired(candidates[name], candidates[first]), effect, len(others), rules)
        }
        tied = sorted(
            (name for name in left if name not in slower),
            key=lambda name: (name not in tie_keys, tie_keys.get(name, ()), name),
        )
        rank = len(ranked) + 1
        ranked += [RankedCandidate(name, rank, stats[name], _slower(candidates, name, best, rules)) for name in tied]
        left = [name for name in left if name in slower]
    return tuple(ranked)


def _slower(candidates: Medians, name: str, best: str, rules: Rules) -> Interval | None:
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
