"""What a latency ranking says, in sentences; and where devices contradict each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from devices.runners.base import Timing
from sweeps.profiling.blocks import Rules
from sweeps.profiling.ranking import LatencyRanking, RankedCandidate, TieKey
from sweeps.profiling.statistics import Interval

MOST_NAMED = 6
ORIGIN = {Timing.MEASURED: "", Timing.SIMULATED: " (simulated)"}
TIE_KEYS = ("DRAM traffic", "ROM", "P")


def latency_sentences(
    ranking: LatencyRanking,
    baseline: str,
    rules: Rules | None = None,
    tie_keys: Mapping[str, TieKey] | None = None,
) -> list[str]:
    """First what is fastest and what ties with it, then how the baseline compares, then what disturbed the device.

    `tie_keys`: those that the ranking was made with.
    """
    first, *_ = ranking.groups()
    best = next(each for each in first if each.slower_than_best is None)
    said = [f"{best.name} takes {_microseconds(best.stats.latency_us)}{ORIGIN.get(ranking.conditions.timing, '')}."]
    if len(first) > 1:
        others = [each.name for each in first if each is not best]
        said.append(
            f"{_listed(others)} {'is' if len(others) == 1 else 'are'} not told apart from it: differences below "
            f"{_percent(ranking.effect)} are noise here."
        )
        said += _tie_break(first, tie_keys or {})
    if (other := _of(ranking, baseline)) and other.rank > 1 and other.slower_than_best:
        said.append(f"The baseline ({baseline}) is {_slower(other.slower_than_best)} slower.")
    if ranking.left_out:
        said.append(f"Not ranked: {_listed(list(ranking.left_out))}.")
    return said + _drift(ranking, rules or Rules()) + _disturbed(ranking)


def disagreements(rankings: Mapping[str, LatencyRanking]) -> list[str]:
    """Pairs of which one device surely has the first ahead and another device the second."""
    said = []
    for (one, first), (other, second) in combinations(rankings.items(), 2):
        for faster, slower in sorted(first.ahead, key=sorted):
            if (slower, faster) in second.ahead:
                said.append(f"{faster} is faster than {slower} on {one}, and slower on {other}.")
    return said


def _tie_break(tied: Sequence[RankedCandidate], tie_keys: Mapping[str, TieKey]) -> list[str]:
    """Why this one is shown first of those that tie; nothing where only the name decided."""
    one, other = tied[0].name, tied[1].name
    if one not in tie_keys:
        return []
    if other not in tie_keys:
        return [f"{one} is shown first of these: {_listed(list(TIE_KEYS))} are known of no other."]
    pairs = list(zip(TIE_KEYS, tie_keys[one], tie_keys[other], strict=False))
    decided = next((place for place, (_, mine, theirs) in enumerate(pairs) if mine != theirs), None)
    if decided is None:
        return []
    equal = f", at equal {_listed(list(TIE_KEYS[:decided]))}" if decided else ""
    return [f"{one} is shown first of these: it has the lowest {TIE_KEYS[decided]}{equal}."]


def _drift(ranking: LatencyRanking, rules: Rules) -> list[str]:
    """Rounds are compared within themselves, so that the order holds; the microseconds are of a changing device."""
    if abs(ranking.drift) <= rules.most_drift:
        return []
    became = "slower" if ranking.drift > 0 else "faster"
    return [
        f"The device grew {_percent(abs(ranking.drift))} {became} from the first round to the last. The order holds, "
        "since candidates are compared within each round, but the times themselves do not: let the device come to "
        "rest and measure again where they matter."
    ]


def _disturbed(ranking: LatencyRanking) -> list[str]:
    """Of those only the second measurement counts."""
    count = ranking.disturbed_blocks
    if not count:
        return []
    return [f"{count} {'block was' if count == 1 else 'blocks were'} disturbed and measured once more."]


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
