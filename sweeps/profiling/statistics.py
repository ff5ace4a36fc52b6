"""Bootstrap over rounds, and Student's t where a bootstrap knows too little.

The same blocks give the same answer: the resampling is seeded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from sweeps.profiling.blocks import Rules

Floats = NDArray[numpy.float64]
Ranks = NDArray[numpy.int64]


@dataclass(frozen=True)
class Interval:
    """A median with its confidence interval, in the unit of what it is of."""

    median: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def interval_of(values: Floats, rules: Rules, error: float | None = None) -> Interval:
    """Of the median; `error` is two-sided and by default that of the rules."""
    resampled = resampled_medians(values, rules)
    tail = (rules.error if error is None else error) / 2
    low, high = numpy.quantile(resampled, [tail, 1 - tail])
    return Interval(float(numpy.median(values)), float(low), float(high))


def resampled_medians(values: Floats, rules: Rules) -> Floats:
    """Whatever the order of the values: which of them are in the middle of each resample is known by their rank."""
    lower, upper = _middles(rules.seed, rules.resamples, len(values))
    ordered = numpy.sort(values)
    medians: Floats = (ordered[lower] + ordered[upper]) / 2
    return medians


@lru_cache(maxsize=128)
def _middles(seed: int, resamples: int, count: int) -> tuple[Ranks, Ranks]:
    picks = numpy.sort(numpy.random.default_rng([seed, count]).integers(0, count, (resamples, count)), axis=1)
    return picks[:, (count - 1) // 2], picks[:, count // 2]


def lower_bound(values: Floats, tail: float, rules: Rules) -> float:
    """The centre of the values lies above it but for this chance: the lower of two bounds.

    No bootstrap bound is below the smallest value, so that five values of one sign would convince it of anything,
    however small the chance. That of Student's t has no such end, and the bootstrap is there for what is not normal.
    """
    mean, spread = float(numpy.mean(values)), float(numpy.std(values, ddof=1))
    student = mean - t_quantile(tail, len(values) - 1) * spread / math.sqrt(len(values))
    return min(student, float(numpy.quantile(resampled_medians(values, rules), tail)))


@lru_cache(maxsize=1024)
def t_quantile(tail: float, degrees: int) -> float:
    """What Student's t with these degrees of freedom exceeds with this chance, which is below a half."""
    low, high = 0.0, 1.0
    while t_tail(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, degrees) > tail else (low, middle)
    return high


def t_tail(value: float, degrees: int) -> float:
    """The chance of more than this value: Abramowitz and Stegun 26.7.3 and 26.7.4, finite sums that are exact."""
    angle = math.atan(value / math.sqrt(degrees))
    odd, square = degrees % 2, math.cos(angle) ** 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for power in range(odd, degrees - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    within = math.sin(angle) * total
    return (1 - (2 / math.pi * (angle + within) if odd else within)) / 2


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Floats:
    """ln(one / other) for each round that has both: what the rounds have in common, such as heat, drops out."""
    rounds = sorted(one.keys() & other.keys())
    return numpy.array([math.log(one[number] / other[number]) for number in rounds])


def drift_of(baseline: Mapping[int, float], since_round: int = 0) -> float:
    """How much slower the last round is than the first, as a share, by a straight line through all since a round."""
    rounds = sorted(number for number in baseline if number >= since_round)
    if len(rounds) < 3:
        return 0.0
    values = numpy.array([baseline[number] for number in rounds])
    slope, _ = numpy.polyfit(rounds, values / numpy.median(values), 1)
    return float(slope * (rounds[-1] - rounds[0]))
