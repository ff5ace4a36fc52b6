"""The text that `qnn-profile-viewer` prints: averages over all inferences, for reading and never for ranking."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from devices.runners.parsers.profile import NotAProfile

AVERAGES = re.compile(r"^Execute Stats \(Average\):")
SECTION = re.compile(r"^\S.*Stats.*:\s*$")
GRAPH = re.compile(r"^Graph \d+ \((?P<name>.*)\):\s*$")
TIME = re.compile(r"^\s+(?:Backend \((?P<event>.+)\)|(?P<own>NetRun)): (?P<value>\d+(?:\.\d+)?) us\s*$")
SPEED = re.compile(r"NetRun IPS \(includes IO and misc\. time\): (?P<value>\d+(?:\.\d+)?) inf/sec")


@dataclass(frozen=True)
class Averages:
    """`graphs`: graph to event to the mean in microseconds. `inferences_per_s` has reading and writing files in it."""

    graphs: dict[str, dict[str, float]] = field(default_factory=dict)
    inferences_per_s: float | None = None


def parse_viewer_text(text: str) -> Averages:
    """Raises `NotAProfile`."""
    graphs: dict[str, dict[str, float]] = {}
    current: dict[str, float] | None = None
    is_inside = False
    for line in text.splitlines():
        if SECTION.match(line):
            is_inside, current = bool(AVERAGES.match(line)), None
        elif is_inside and (graph := GRAPH.match(line)):
            current = graphs.setdefault(graph["name"], {})
        elif current is not None and (time := TIME.match(line)):
            current[time["event"] or time["own"]] = float(time["value"])
    if not any(graphs.values()):
        raise NotAProfile("There are no average times of a graph here. The text of qnn-profile-viewer is expected.")
    speed = SPEED.search(text)
    return Averages(graphs, float(speed["value"]) if speed else None)
