"""The profile that ONNX Runtime's QNN provider writes as CSV, read by its header.

An inference ends with the row `QNN (execute) time`. What belongs to loading or finalizing is told apart by its message
type; rows without a number are counted and left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field

MESSAGE, TIME, UNIT, LEVEL, EVENT = (
    "Message",
    "Time",
    "Unit of Measurement",
    "Event Level",
    "Event Identifier",
)
NEEDED = {MESSAGE, TIME, UNIT, EVENT}
LAST = "QNN (execute) time"
# The first that is there names the headline: closest to the NPU, and never two of them in one ranking.
HEADLINES = ("QNN accelerator (execute) time", "Accelerator (execute) time", "RPC (execute) time", LAST)


class NotAProfile(ValueError):
    """One sentence: what was expected."""


@dataclass
class Profile:
    """`inferences`: event to microseconds, in order. `counts`: events that are numbers, such as HVX threads."""

    inferences: list[dict[str, float]] = field(default_factory=list)
    counts: list[dict[str, int]] = field(default_factory=list)
    load_us: float | None = None
    skipped_rows: int = 0

    def headline(self) -> tuple[str, tuple[float, ...]]:
        """The event and one value for each inference. Raises `NotAProfile` when no event has a value in all."""
        for event in HEADLINES:
            if self.inferences and all(event in inference for inference in self.inferences):
                return event, self.of(event)
        raise NotAProfile("The profile holds no time of an inference. Was profiling on, and did the session end?")

    def of(self, event: str) -> tuple[float, ...]:
        return tuple(inference[event] for inference in self.inferences if event in inference)


def parse_ort_csv(text: str) -> Profile:
    """Raises `NotAProfile`."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if EVENT in line and MESSAGE in line), None)
    if start is None:
        raise NotAProfile("This is not a profile: no line names its columns (Message, Time, Event Identifier, ...).")
    names = [name.strip() for name in next(csv.reader([lines[start]]))]
    if not set(names) >= NEEDED:
        raise NotAProfile(f"The profile lacks the columns {', '.join(sorted(NEEDED - set(names)))}.")
    return _profile(names, csv.reader(lines[start + 1 :]))


def _profile(names: list[str], rows: Iterable[list[str]]) -> Profile:
    profile, current = Profile(), _Inference()
    for cells in rows:
        # A name of an operation may hold commas that nobody quoted: it is the last column.
        row = dict(zip(names, [*cells[: len(names) - 1], ",".join(cells[len(names) - 1 :])], strict=False))
        event, value = row.get(EVENT, "").strip(), _number(row.get(TIME, ""))
        if value is None:
            profile.skipped_rows += 1
        elif row[MESSAGE].strip() == "INIT" and "load binary" in event:
            profile.load_us = value
        elif _is_of_inference(row, event):
            current.add(event, value, row[UNIT].strip())
            if event == LAST:
                current = current.end(profile)
    current.end(profile)
    return profile


class _Inference:
    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def add(self, event: str, value: float, unit: str) -> None:
        if unit == "US":
            self.times[event] = value
        elif unit == "COUNT":
            self.counts[event] = int(value)

    def end(self, profile: Profile) -> _Inference:
        if self.times:
            profile.inferences.append(self.times)
            profile.counts.append(self.counts)
        return _Inference()


def _is_of_inference(row: dict[str, str], event: str) -> bool:
    """Rows of the accelerator are of the kind BACKEND, whether it loads, finalizes or executes."""
    message, level = row[MESSAGE].strip(), row.get(LEVEL, "ROOT").strip()
    is_other = "load binary" in event or "finalize" in event.lower()
    return level == "ROOT" and (message == "EXECUTE" or (message == "BACKEND" and not is_other))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
