"""Profiles as CSV, read by their header: what ONNX Runtime's QNN provider writes, and what `qnn-profile-viewer` makes.

The viewer's have a preamble, spaces in the header, and a row of `qnn-net-run` itself at the start of each inference.
The provider's have none of these: an inference ends with `QNN (execute) time`. Rows without a number are counted and
left out.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from devices.runners.parsers.profile import QNN, Collector, NotAProfile, Profile

MESSAGE, TIME, UNIT, SOURCE, LEVEL, EVENT = (
    "Message",
    "Time",
    "Unit of Measurement",
    "Timing Source",
    "Event Level",
    "Event Identifier",
)
NEEDED = {MESSAGE, TIME, UNIT, EVENT}
NET_RUN = "NetRun"


class Row(NamedTuple):
    """`time` is None for a row without a number."""

    message: str
    time: float | None
    unit: str
    source: str
    is_root: bool
    event: str

    @property
    def starts_inference(self) -> bool:
        return self.message == "EXECUTE" and self.source == "NETRUN" and self.is_root and self.unit == "US"

    @property
    def is_load(self) -> bool:
        return self.message == "INIT" and "load binary" in self.event

    @property
    def is_of_inference(self) -> bool:
        """The provider calls what the accelerator says BACKEND, whether it loads, finalizes or executes."""
        is_other = "load binary" in self.event or "finalize" in self.event.lower()
        return self.is_root and (self.message == "EXECUTE" or (self.message == "BACKEND" and not is_other))


def parse_profile_csv(text: str) -> Profile:
    """Raises `NotAProfile`."""
    rows = list(_rows(text))
    is_of_net_run = any(row.starts_inference for row in rows)
    collector = Collector()
    for row in rows:
        if row.time is None:
            collector.skipped_rows += 1
        elif row.is_load:
            collector.add_load(row.time)
        elif row.starts_inference:
            collector.end_inference()
            collector.add(NET_RUN, row.time, row.unit)
        elif row.is_of_inference:
            collector.add(row.event, row.time, row.unit)
            if row.event == QNN and not is_of_net_run:
                collector.end_inference()
    return collector.profile()


def has_header(line: str) -> bool:
    return EVENT in line and MESSAGE in line


def _rows(text: str) -> Iterator[Row]:
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if has_header(line)), None)
    if start is None:
        raise NotAProfile("This is not a profile: no line names its columns (Message, Time, Event Identifier, ...).")
    names = [name.strip() for name in next(csv.reader([lines[start]]))]
    if not set(names) >= NEEDED:
        raise NotAProfile(f"The profile lacks the columns {', '.join(sorted(NEEDED - set(names)))}.")
    return _named(names, csv.reader(lines[start + 1 :]))


def _named(names: list[str], table: Iterable[list[str]]) -> Iterator[Row]:
    # Newer versions may add columns after the event. Where there are none, commas that nobody quoted are of its name.
    event_is_last = names[-1] == EVENT
    for cells in table:
        if event_is_last and len(cells) > len(names):
            cells = [*cells[: len(names) - 1], ",".join(cells[len(names) - 1 :])]
        row = {name: cell.strip() for name, cell in zip(names, cells, strict=False)}
        if not any(row.values()):
            continue
        yield Row(
            message=row.get(MESSAGE, ""),
            time=_number(row.get(TIME, "")),
            unit=row.get(UNIT, ""),
            source=row.get(SOURCE, ""),
            is_root=row.get(LEVEL, "ROOT") == "ROOT",
            event=row.get(EVENT, ""),
        )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
