"""How far a sweep is, and how long the rest takes as far as anybody can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, Min, Q, Sum
from django.utils import timezone

from sweeps import formats
from sweeps.models import Sweep, Trial
from tunerweb.work.leases import WorkState

SLOW_TIMES = 3
SHORTEST_SLOW_S = 5.0
SLOW = "no estimate, because a compile takes longer than those before it"


@dataclass(frozen=True)
class Progress:
    """Counts of trials. `mean_us`: the wall time of a compile of this sweep, None before the first has finished.

    `busy_us`: all of them together, since `first_at`; `oldest_at`: the start of the compile that runs longest.
    """

    total: int
    queued: int
    running: int
    converting: int
    done: int
    rejected: int
    failed: int
    cancelled: int
    stored: int
    mean_us: float | None = None
    busy_us: int | None = None
    first_at: datetime | None = None
    oldest_at: datetime | None = None
    is_paused: bool = False

    @property
    def live(self) -> int:
        return self.queued + self.running

    @property
    def finished(self) -> int:
        return self.total - self.live

    @property
    def retryable(self) -> int:
        return self.failed + self.cancelled

    @property
    def unfinished_text(self) -> str:
        """What a verdict leaves out, when it speaks of a part of the sweep only."""
        if not self.retryable:
            return ""
        without = ", ".join(f"{count} {what}" for count, what in self._without_result() if count)
        return f"It speaks of the {self.done} that compiled: {without} of {self.total}."

    def _without_result(self) -> tuple[tuple[int, str], ...]:
        return (self.failed, "failed"), (self.cancelled, "cancelled"), (self.rejected, "rejected")

    @property
    def is_slower_than_before(self) -> bool:
        """A compile runs for so long that those before it say nothing about it."""
        if self.mean_us is None or self.oldest_at is None:
            return False
        elapsed_s = (timezone.now() - self.oldest_at).total_seconds()
        return elapsed_s > max(SHORTEST_SLOW_S, SLOW_TIMES * self.mean_us / 1e6)

    @property
    def left_s(self) -> float | None:
        """What runs is taken to be half done, and what waits to run as many at once as do now."""
        if self.mean_us is None or not self.running or self.is_paused or self.is_slower_than_before:
            return None
        return (self.queued + self.running / 2) * self.mean_us / 1e6 / self._at_once()

    def _at_once(self) -> float:
        """Between two short compiles a worker has none for a moment: on the whole it still works."""
        passed_s = (timezone.now() - self.first_at).total_seconds() if self.first_at else 0.0
        on_the_whole = (self.busy_us or 0) / 1e6 / passed_s if passed_s > 0 else 0.0
        return max(self.running, on_the_whole)

    @property
    def left_text(self) -> str:
        if not self.live:
            return ""
        if self.is_paused:
            return f"paused, {self.running} still running" if self.running else "paused"
        if self.left_s is not None:
            return f"about {formats.duration_text(max(1, round(self.left_s)))} left"
        if not self.running:
            return "the model is being converted first" if self.converting else "waiting for a free worker"
        return SLOW if self.is_slower_than_before else "no estimate yet"

    @property
    def counts(self) -> list[tuple[str, int]]:
        """State and number, of those that there are."""
        all_counts = {
            "done": self.done,
            "compiling": self.running,
            "converting": self.converting,
            "queued": self.queued - self.converting,
            "rejected": self.rejected,
            "failed": self.failed,
            "cancelled": self.cancelled,
        }
        return [(state, count) for state, count in all_counts.items() if count]


NO_TRIALS = Progress(0, 0, 0, 0, 0, 0, 0, 0, 0)


def progress_of(sweep: Sweep) -> Progress:
    return progress_of_each([sweep]).get(sweep.pk) or NO_TRIALS


def progress_of_each(sweeps: Sequence[Sweep]) -> dict[int, Progress]:
    """By primary key, of the sweeps that have trials. One query."""
    paused = {sweep.pk: sweep.paused_at is not None for sweep in sweeps}
    rows = Trial.objects.filter(sweep__in=list(paused)).order_by().values("sweep").annotate(**_counts())
    return {pk: Progress(**row, is_paused=paused[pk]) for row in rows for pk in [row.pop("sweep")]}


def _counts() -> dict[str, Any]:
    wanted, state = Q(cancelled_at=None), "compilation__state"
    done = wanted & Q(**{state: WorkState.DONE})
    own = done & Q(from_store=False)
    queued = wanted & Q(**{state: WorkState.QUEUED})
    return {
        "total": Count("pk"),
        "queued": Count("pk", filter=queued),
        "running": Count("pk", filter=wanted & Q(**{state: WorkState.RUNNING})),
        "converting": Count("pk", filter=queued & Q(compilation__conversion__state=WorkState.RUNNING)),
        "done": Count("pk", filter=done),
        "rejected": Count("pk", filter=wanted & Q(**{state: WorkState.REJECTED})),
        "failed": Count("pk", filter=wanted & Q(**{state: WorkState.FAILED})),
        "cancelled": Count("pk", filter=Q(cancelled_at__isnull=False) | Q(**{state: WorkState.CANCELLED})),
        "stored": Count("pk", filter=Q(from_store=True)),
        "oldest_at": Min("compilation__started_at", filter=wanted & Q(**{state: WorkState.RUNNING})),
        "mean_us": Avg("compilation__wall_us", filter=own),
        "busy_us": Sum("compilation__wall_us", filter=own),
        "first_at": Min("compilation__started_at", filter=own),
    }
