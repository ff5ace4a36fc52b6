"""Read the simulated schedule that the compiler can write. Standard library only: this runs in the compile child."""

from __future__ import annotations

import json
import re
from typing import Any

# The compiler's own estimate is this much above the end of the last event, in every run where both exist.
CYCLES_AFTER_LAST_EVENT = 6
EVENT = re.compile(rb'"ts":\s*(\d+),\s*"dur":\s*(\d+)')
CLOCK = re.compile(rb'"sim_core_freq":\s*([\d.]+)')


def read_schedule(path: str) -> dict[str, Any] | None:
    """`cycles` of one inference and the simulated `core_mhz`; None when the file holds no timed event.

    The file of a middling model has 10 MB, of which four numbers in a thousand matter: they are picked out, and the
    whole is parsed only when the count says that some were written in another way.
    """
    with open(path, "rb") as file:
        text = file.read()
    ends = [int(start) + int(duration) for start, duration in EVENT.findall(text)]
    if len(ends) != text.count(b'"ph":"X"'):
        events = json.loads(text)["traceEvents"]
        ends = [int(event["ts"] + event["dur"]) for event in events if event.get("ph") == "X"]
    clock = CLOCK.search(text)
    if not ends:
        return None
    return {"cycles": max(ends) + CYCLES_AFTER_LAST_EVENT, "core_mhz": float(clock[1]) if clock else None}
