"""Read the compiler's DDR bandwidth summaries out of its log. Standard library only: this runs in the compile child."""

from __future__ import annotations

import re
from collections.abc import Sequence

HEADING = "DDR bandwidth summary"
COUNTER = re.compile(r"(spill|fill|write_total|read_total)_bytes=(\d+)")


def ddr_summaries(messages: Sequence[str]) -> list[dict[str, int]]:
    """One dict per finalized graph, in order; empty where the build prints none."""
    summaries: list[dict[str, int]] = []
    for message in messages:
        if HEADING in message:
            summaries.append({})
        if summaries:
            summaries[-1] |= {f"{name}_bytes": int(value) for name, value in COUNTER.findall(message)}
    return summaries
