"""Read the simulated schedule that the compiler can write. Standard library only: this runs in the compile child."""

from __future__ import annotations

import json

# The compiler's own estimate is this much above the end of the last event, in every run where both exist.
CYCLES_AFTER_LAST_EVENT = 6


def schedule_cycles(path: str) -> int | None:
    """Core cycles of one inference; None when the file holds no timed event."""
    with open(path, "rb") as file:
        events = json.load(file)["traceEvents"]
    ends = [event["ts"] + event["dur"] for event in events if event.get("ph") == "X"]
    return int(max(ends)) + CYCLES_AFTER_LAST_EVENT if ends else None
