"""What all profiles come to: one record for each inference, by the names of its events."""

from __future__ import annotations

from dataclasses import dataclass, replace

QNN = "QNN (execute) time"
# The first that is there names the headline: closest to the NPU, and never two of them in one ranking.
HEADLINES = ("QNN accelerator (execute) time", "Accelerator (execute) time", "RPC (execute) time", QNN)


class NotAProfile(ValueError):
    """One or two sentences: what it is instead, and which file is expected."""


@dataclass(frozen=True)
class Profile:
    """`inferences`: event to microseconds, in order. `counts`: events that are numbers, such as HVX threads.

    `skipped_rows` had no value, or one that is no number.
    """

    inferences: tuple[dict[str, float], ...] = ()
    counts: tuple[dict[str, int], ...] = ()
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

    def others(self, headline: str) -> dict[str, tuple[float, ...]]:
        """Microseconds of all other events, by name."""
        events = {event for inference in self.inferences for event in inference} - {headline}
        return {event: self.of(event) for event in sorted(events)}

    def counters(self) -> dict[str, tuple[int, ...]]:
        events = {event for counts in self.counts for event in counts}
        return {event: tuple(each[event] for each in self.counts if event in each) for event in sorted(events)}

    def after(self, warm_up: int) -> Profile:
        """Without the first inferences."""
        return replace(self, inferences=self.inferences[warm_up:], counts=self.counts[warm_up:])


class Collector:
    """Takes events in their order and gives the profile."""

    def __init__(self) -> None:
        self._inferences: list[dict[str, float]] = []
        self._counts: list[dict[str, int]] = []
        self._times_now: dict[str, float] = {}
        self._counts_now: dict[str, int] = {}
        self.load_us: float | None = None
        self.skipped_rows = 0

    def add(self, event: str, value: float, unit: str) -> None:
        """`unit` in the profile's own word. Cycles are of many threads at once: they are no time, and are left out."""
        if unit in ("US", "MICROSEC"):
            self._times_now[event] = value
        elif unit == "COUNT":
            self._counts_now[event] = int(value)

    def add_load(self, value_us: float) -> None:
        """Loading is told once by each layer; the outermost took the longest."""
        self.load_us = max(value_us, self.load_us or 0.0)

    def end_inference(self) -> None:
        if self._times_now:
            self._inferences.append(self._times_now)
            self._counts.append(self._counts_now)
        self._times_now, self._counts_now = {}, {}

    def profile(self) -> Profile:
        self.end_inference()
        return Profile(tuple(self._inferences), tuple(self._counts), self.load_us, self.skipped_rows)
