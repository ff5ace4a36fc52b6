"""The JSON of `qnn-profile-viewer` with its JSON reader: each message is one step, with a tree of events."""

from __future__ import annotations

from typing import Any

from devices.runners.parsers.json_text import dig, number, read_object, rows
from devices.runners.parsers.profile import Collector, NotAProfile, Profile

EXPECTED = "the JSON of qnn-profile-viewer"
EXECUTE = "BACKEND_EXECUTE"
# From the application's start of the call to its end.
HOST_WALL = "host wall time"


def parse_viewer_json(text: str) -> Profile:
    """Raises `NotAProfile`."""
    document = read_object(text, EXPECTED)
    if not isinstance(document.get("messages"), list):
        raise NotAProfile(f'There are no "messages" in this JSON. Expected is {EXPECTED}.')
    scale_s = number(dig(document, "metadata", "timeScale")) or 1e-6
    collector = Collector()
    for message in rows(document["messages"]):
        if message.get("method") == EXECUTE:
            _add_inference(collector, message, scale_s)
        else:
            _add_load(collector, message)
    return collector.profile()


def _add_inference(collector: Collector, message: dict[str, Any], scale_s: float) -> None:
    collector.end_inference()
    start, stop = (number(dig(message, "appMetrics", name)) for name in ("startTime", "stopTime"))
    if start is not None and stop is not None and stop > start:
        collector.add(HOST_WALL, (stop - start) * scale_s * 1e6, "US")
    for event in rows(message.get("profilingEvents")):
        value = number(event.get("value"))
        if value is None:
            collector.skipped_rows += 1
        else:
            collector.add(str(event.get("identifier")), value, str(event.get("unit")))


def _add_load(collector: Collector, message: dict[str, Any]) -> None:
    for event in rows(message.get("profilingEvents")):
        value = number(event.get("value"))
        if value is not None and "load binary" in str(event.get("identifier")) and event.get("unit") == "MICROSEC":
            collector.add_load(value)
