"""What a latency ranking says, in sentences; and where devices contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from devices.runners.base import Timing
from sweeps.profiling.ranking import LatencyRanking, RankedCandidate
from sweeps.profiling.statistics import Interval

MOST_NAMED = 6
ORIGIN = {Timing.MEASURED: "", Timing.SIMULATED: " (simulated)"}


def latency_sentences(ranking: LatencyRanking, baseline: str) -> list[str]:
    """First what is fastest and what ties with it, then how the baseline compares, then what the noise was."""
    first, *_ = ranking.groups()
    best = next(each for each in first if each.slower_than_best is None)
    said = [f"{best.name} takes {_microseconds(best.stats.latency_us)}{ORIGIN.get(ranking.conditions.timing, '')}."]
    if len(first) > 1:
        others = [each.name for each in first if each is not best]
        said.append(
            f"{_listed(others)} {'is' if len(others) == 1 else 'are'} not told apart from it: differences below "
            f"{_percent(max(ranking.noise_floor, 0.01))} are noise here."
        )
    if (other := _of(ranking, baseline)) and other.rank > 1 and other.slower_than_best:
        said.append(f"The baseline ({baseline}) is {_slower(other.slower_than_best)} slower.")
    if ranking.left_out:
        said.append(f"Not ranked: {_listed(list(ranking.left_out))}.")
    return said


def disagreements(rankings: Mapping[str, LatencyRanking]) -> list[str]:
    """Pairs of which one device surely has the first ahead and another device the second."""
    said = []
    for (one, first), (other, second) in combinations(rankings.items(), 2):
        for faster, slower in sorted(first.ahead, key=sorted):
            if (slower, faster) in second.ahead:
                said.append(f"{faster} is faster than {slower} on {one}, and slower on {other}.")
    return said


def _of(ranking: LatencyRanking, name: str) -> RankedCandidate | None:
    return next((each for each in ranking.candidates if each.name == name), None)


def _microseconds(latency_us: Interval) -> str:
    return f"{latency_us.median:,.0f} µs (95 % sure: {latency_us.low:,.0f} to {latency_us.high:,.0f})"


def _slower(slower: Interval) -> str:
    return f"{_percent(slower.median)} ({_percent(slower.low)} to {_percent(slower.high)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _listed(names: list[str]) -> str:
    shown = names[:MOST_NAMED] + ([f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
