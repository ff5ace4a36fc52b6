"""What to measure next: a function of the blocks that are there, so that a new process goes on where another died."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sweeps.profiling.blocks import MeasuredBlock, NotRankable, Rules, medians_by_round, twin_of
from sweeps.profiling.ranking import is_hopeless, noise_floor
from sweeps.profiling.statistics import drift_of, interval_of, paired

Medians = Mapping[str, Mapping[int, float]]
PAUSE_S = 60.0


@dataclass(frozen=True)
class Measure:
    """One block of this candidate, in this round."""

    round: int
    candidate: str


@dataclass(frozen=True)
class Pause:
    """Let the device cool down; the next block says that it came after a pause."""

    seconds: float
    why: str


@dataclass(frozen=True)
class Finished:
    why: str


Step = Measure | Pause | Finished


def next_step(
    blocks: Sequence[MeasuredBlock], candidates: Sequence[str], rules: Rules, *, has_paused: bool = False
) -> Step:
    """`candidates`: the baseline first. Rounds are interleaved: each candidate once, in an order of chance.

    `has_paused`: the pause that was asked for is over, and no block was measured since.
    """
    medians, baseline, wanted = medians_by_round(blocks), candidates[0], list(candidates)
    twin = [twin_of(baseline)] if rules.with_twin else []
    for number in range(rules.most_rounds):
        if number >= rules.least_rounds:
            # From those still left: who was not measured in one round cannot come back in the next.
            wanted = still_in(medians, wanted, number, rules)
        for candidate in _shuffled([*wanted, *twin], number, rules):
            if _is_missing(blocks, number, candidate):
                pause = None if has_paused else _pause_before(blocks, medians, baseline, number, rules)
                return pause or Measure(number, candidate)
        done = number + 1
        if done >= rules.least_rounds and (why := _enough(medians, wanted, baseline, done, rules)):
            return Finished(why)
    return Finished(f"{_rounds(rules.most_rounds)}, the most that are made")


def still_in(medians: Medians, candidates: Sequence[str], rounds: int, rules: Rules) -> list[str]:
    """Without those that are surely slower than the best by more than the effect. The baseline stays."""
    seen = _of_rounds(medians, rounds)
    known = [name for name in candidates if len(seen.get(name, {})) >= rules.least_rounds]
    if not known:
        return list(candidates)
    best = min(known, key=lambda name: sorted(seen[name].values())[len(seen[name]) // 2])
    return [
        name
        for name in candidates
        if name == candidates[0]
        or name == best
        or name not in known
        or not is_hopeless(paired(seen[name], seen[best]), rules.effect, len(known) - 1, rules)
    ]


def _of_rounds(medians: Medians, rounds: int) -> dict[str, dict[int, float]]:
    return {name: {key: value for key, value in each.items() if key < rounds} for name, each in medians.items()}


def _shuffled(names: list[str], number: int, rules: Rules) -> list[str]:
    random.Random(f"{rules.seed} {number}").shuffle(names)
    return names


def _is_missing(blocks: Sequence[MeasuredBlock], number: int, candidate: str) -> bool:
    """A block that something disturbed is measured once more."""
    there = [block for block in blocks if (block.round, block.candidate) == (number, candidate)]
    return not there or (len(there) == 1 and there[0].is_noisy)


def _enough(medians: Medians, wanted: Sequence[str], baseline: str, rounds: int, rules: Rules) -> str:
    """By the width of the intervals alone, never because a difference has just become significant."""
    if not rules.with_twin:
        return f"{_rounds(rounds)}, which is all that times that are not compared are worth"
    seen = _of_rounds(medians, rounds)
    try:
        floor = noise_floor(seen, baseline, rules)
    except NotRankable:
        return ""
    best = min(wanted, key=lambda name: sorted(seen[name].values())[len(seen[name]) // 2])
    widths = [interval_of(paired(seen[name], seen[best]), rules).half_width for name in wanted if name != best]
    if floor <= rules.effect and all(width <= rules.effect for width in widths):
        return f"every difference is known to {100 * rules.effect:.0f} % after {rounds} rounds"
    return ""


def _pause_before(
    blocks: Sequence[MeasuredBlock], medians: Medians, baseline: str, number: int, rules: Rules
) -> Pause | None:
    """Before a round that would begin on a device which grew slower since it last cooled down."""
    pauses = [block.round for block in blocks if block.after_pause]
    begun = any(block.round == number for block in blocks)
    if not rules.with_twin or begun or len(pauses) >= rules.most_pauses:
        return None
    drift = drift_of(medians.get(baseline, {}), max(pauses, default=0))
    if drift <= rules.most_drift:
        return None
    return Pause(PAUSE_S, f"the baseline grew {100 * drift:.1f} % slower: the device is warm")


def _rounds(number: int) -> str:
    return "1 round" if number == 1 else f"{number} rounds"
