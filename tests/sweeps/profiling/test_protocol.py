"""The naive rule ranks the heat of the phone; this one holds. Shares are over many simulated devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy
import pytest

from sweeps.profiling.blocks import Rules, medians_by_round
from sweeps.profiling.plan import still_in
from sweeps.profiling.ranking import rank_latency
from tests.sweeps.profiling.simulated import Device, interleaved

RULES = Rules(resamples=500)
TRIALS = 60
ROUNDS = 9
NAMES = ("base", "a", "b", "c", "d", "e")
MANY = tuple(f"p{number:02}" for number in range(18))
FIRST, LAST = 0, len(NAMES) - 1


def gaps(gap: float, best: int, names: tuple[str, ...] = NAMES) -> dict[str, float]:
    """All are this share slower than the best, which is in that place."""
    return {name: 0.0 if number == best else gap for number, name in enumerate(names)}


def naive_winner(seed: int, slower: Mapping[str, float]) -> str:
    """All processes of one candidate after those of the other; the lowest mean wins."""
    device = Device(seed, blocks=ROUNDS * len(slower))
    means = {name: numpy.mean([device.samples_us(by) for _ in range(ROUNDS)]) for name, by in slower.items()}
    return min(means, key=lambda name: means[name])


def naive_share(gap: float, best: int) -> float:
    return share(naive_winner(seed, gaps(gap, best)) == NAMES[best] for seed in range(TRIALS))


@cache
def first_groups(gap: float, best: int, names: tuple[str, ...] = NAMES) -> tuple[tuple[str, ...], ...]:
    """Of each trial, who is first or ties with the first."""
    return tuple(first_group(seed, gaps(gap, best, names)) for seed in range(TRIALS))


def first_group(seed: int, slower: Mapping[str, float]) -> tuple[str, ...]:
    blocks = interleaved(Device(seed, ROUNDS * (len(slower) + 1)), slower, ROUNDS, RULES)
    return tuple(each.name for each in rank_latency(blocks, next(iter(slower)), RULES).groups()[0])


def share(found: Iterable[bool]) -> float:
    return float(numpy.mean(list(found)))


# Of 300 trials of this device. Another one, with smaller spikes, gave 84 % for the first of equals and 95 % for a best
# that is last by 3 %; its other shares were these. With no gap chance alone would give each of the six 17 %.
@pytest.mark.parametrize(("gap", "found"), [(0.0, 0.65), (0.01, 0.96), (0.03, 1.0), (0.06, 1.0)])
def test_the_naive_rule_picks_the_first_whether_it_is_the_best_or_not(gap: float, found: float) -> None:
    assert naive_share(gap, FIRST) == pytest.approx(found, abs=0.12)


@pytest.mark.parametrize(("gap", "found"), [(0.0, 0.0), (0.01, 0.01), (0.03, 0.70), (0.06, 1.0)])
def test_the_naive_rule_misses_a_best_that_is_measured_last(gap: float, found: float) -> None:
    assert naive_share(gap, LAST) == pytest.approx(found, abs=0.12)


@pytest.mark.parametrize("best", [FIRST, LAST])
@pytest.mark.parametrize("gap", [0.0, 0.01, 0.03, 0.06])
def test_the_protocol_keeps_the_best_wherever_it_is(gap: float, best: int) -> None:
    assert share(NAMES[best] in group for group in first_groups(gap, best)) > 0.98


@pytest.mark.parametrize("best", [FIRST, LAST])
@pytest.mark.parametrize("gap", [0.0, 0.01])
def test_the_protocol_claims_no_winner_below_its_effect(gap: float, best: int) -> None:
    assert share(len(group) == 1 for group in first_groups(gap, best)) < 0.05


@pytest.mark.parametrize("best", [FIRST, LAST])
@pytest.mark.parametrize("gap", [0.03, 0.06])
def test_the_protocol_finds_the_winner_above_it(gap: float, best: int) -> None:
    assert share(group == (NAMES[best],) for group in first_groups(gap, best)) > 0.95


def test_equals_are_one_tie() -> None:
    assert share(len(group) == len(NAMES) for group in first_groups(0.0, LAST)) > 0.9


def test_a_gap_of_three_percent_is_found_among_eighteen() -> None:
    assert share(group == (MANY[-1],) for group in first_groups(0.03, len(MANY) - 1, MANY)) > 0.85


def dropped(seed: int, slower: Mapping[str, float], rounds: int) -> set[str]:
    blocks = interleaved(Device(seed, rounds * (len(slower) + 1)), slower, rounds, RULES)
    return set(slower) - set(still_in(medians_by_round(blocks), list(slower), rounds, RULES))


def test_who_equals_the_best_is_measured_on() -> None:
    equal = dict.fromkeys(MANY, 0.0)
    assert share(bool(dropped(seed, equal, RULES.least_rounds)) for seed in range(TRIALS)) < 0.05


def test_most_of_those_that_are_six_percent_slower_are_soon_measured_no_more() -> None:
    slower = gaps(0.06, 1, MANY)
    assert numpy.mean([len(dropped(seed, slower, 7)) for seed in range(TRIALS)]) > 0.8 * (len(MANY) - 2)
