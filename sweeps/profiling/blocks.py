"""What was measured, and under which conditions. A block is one process on the device."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import median

from devices.runners.base import Timing

TWIN = "#2"
# With fewer, no interval of a median holds what it promises.
FEWEST_TO_RANK = 5


@dataclass(frozen=True)
class Conditions:
    """What two blocks must have in common to be compared. `event` is what was timed."""

    timing: Timing
    event: str
    perf_profile: str
    profiling_level: str
    runtime: str
    log_level: str = "error"
    device: str = ""


class NotRankable(ValueError):
    """One sentence: why these measurements give no ranking."""


class UnusableBlock(NotRankable):
    """One sentence: why these samples are no measurement."""


@dataclass(frozen=True)
class MeasuredBlock:
    """`samples_us`: one per inference, warm-up left out. `round` counts from 0. `is_noisy`: something disturbed it.

    `after_pause`: the device was given time to cool down before it.
    """

    round: int
    candidate: str
    samples_us: tuple[float, ...]
    conditions: Conditions
    temperature_c: float | None = None
    is_noisy: bool = False
    after_pause: bool = False

    def __post_init__(self) -> None:
        """Raises `UnusableBlock`. No process that worked gives such samples, and no statistics survive them."""
        where = f"The block of {self.candidate} in round {self.round + 1}"
        if not self.samples_us:
            raise UnusableBlock(f"{where} holds no measurement: the run gave no times. Look at its log.")
        wrong = next((us for us in self.samples_us if not (math.isfinite(us) and us > 0)), None)
        if wrong is not None:
            raise UnusableBlock(
                f"{where} holds {wrong:g} µs, which no inference can take: the times were read or written wrongly. "
                "Look at the log of its run."
            )

    @property
    def median_us(self) -> float:
        return median(self.samples_us)


@dataclass(frozen=True)
class Rules:
    """The protocol's numbers; shares, not percent. A difference below `effect` counts for nothing.

    `most_noise`: two measurements of one binary that differ by more make every ranking worthless. `most_drift`: how
    much slower the last round may be than the first. `error` is two-sided, for all comparisons together. Without the
    twin there is no noise floor and no ranking: for times that mean nothing, such as emulated ones.
    """

    least_rounds: int = 5
    most_rounds: int = 25
    effect: float = 0.01
    most_noise: float = 0.05
    most_drift: float = 0.05
    most_pauses: int = 3
    resamples: int = 2000
    error: float = 0.05
    seed: int = 0
    with_twin: bool = True

    @property
    def rounds_to_rank(self) -> int:
        """A session may be shorter than this; then it gives no ranking."""
        return max(self.least_rounds, FEWEST_TO_RANK)


def twin_of(baseline: str) -> str:
    """The baseline measured a second time under another name, which shows what chance alone does."""
    return baseline + TWIN


def common_conditions(blocks: Iterable[MeasuredBlock]) -> Conditions:
    """Raise `NotRankable` when there are several, or when their times mean nothing."""
    found = {block.conditions for block in blocks}
    if not found:
        raise NotRankable("Nothing was measured.")
    if len(found) > 1:
        raise NotRankable(
            f"The blocks were measured under different conditions, which do not compare ({_differing(found)}). "
            "Measure all candidates again under the same."
        )
    [conditions] = found
    if conditions.timing is Timing.EMULATED:
        raise NotRankable("Not rankable: emulated. An emulator's times say nothing about the device.")
    return conditions


def without(blocks: Iterable[MeasuredBlock], refused: Collection[str]) -> list[MeasuredBlock]:
    """The blocks of those that were not refused; the twin of a refused baseline goes with it."""
    gone = {*refused, *map(twin_of, refused)}
    return [block for block in blocks if block.candidate not in gone]


def medians_by_round(blocks: Sequence[MeasuredBlock]) -> dict[str, dict[int, float]]:
    """Candidate to round to the block's median; of a block that was repeated the last counts."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for block in counted(blocks):
        found[block.candidate][block.round] = block.median_us
    return dict(found)


def counted(blocks: Iterable[MeasuredBlock]) -> list[MeasuredBlock]:
    """Without those that were measured once more."""
    return list({(block.candidate, block.round): block for block in blocks}.values())


def _differing(found: Collection[Conditions]) -> str:
    """Which of the conditions are not the same everywhere, each with its values."""
    values = {each.name: sorted({str(getattr(one, each.name)) for one in found}) for each in fields(Conditions)}
    return "; ".join(f"{name}: {' and '.join(several)}" for name, several in values.items() if len(several) > 1)
