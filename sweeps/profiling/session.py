"""One session on one device: what the plan asks for becomes blocks, until there is nothing left to measure.

Nothing is kept here: a new process goes on from the record of one that died.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sweeps.profiling.blocks import MeasuredBlock, Rules
from sweeps.profiling.plan import Finished, Measure, Pause, next_step


class CandidateFailed(Exception):
    """This binary gave no measurement, and the device is well: the others go on. The message is a sentence."""


class Record(Protocol):
    """What a session came to so far. `refused`: candidates that are not measured any more, with the reason."""

    @property
    def blocks(self) -> Sequence[MeasuredBlock]: ...

    @property
    def refused(self) -> dict[str, str]: ...

    def keep(self, block: MeasuredBlock) -> None: ...

    def refuse(self, candidate: str, reason: str) -> None: ...


# The flag: the device was given time to cool down just before.
MeasureOne = Callable[[Measure, bool], MeasuredBlock]


def run_session(
    candidates: Sequence[str],
    rules: Rules,
    record: Record,
    measure: MeasureOne,
    pause: Callable[[Pause], None],
) -> Finished:
    """`candidates`: the baseline first. `measure` raises `CandidateFailed`; what else it raises ends the session.

    Without its baseline a session goes on with the next candidate in that role.
    """
    has_paused = False
    while left := [name for name in candidates if name not in record.refused]:
        step = next_step(record.blocks, left, rules, has_paused=has_paused)
        if isinstance(step, Finished):
            return step
        if isinstance(step, Pause):
            pause(step)
            has_paused = True
            continue
        try:
            record.keep(measure(step, has_paused))
        except CandidateFailed as error:
            record.refuse(_candidate_of(step, left), str(error))
        has_paused = False
    return Finished("no candidate could be measured")


def _candidate_of(step: Measure, candidates: Sequence[str]) -> str:
    """The twin is the baseline by another name."""
    return step.candidate if step.candidate in candidates else candidates[0]
