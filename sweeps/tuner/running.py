"""Compile the points of a sweep side by side, each in its own child, as many at once as cores and memory allow."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from sweeps.ranking import TrialOutcome
from sweeps.toolchain.base import CompileResult, Point, Session
from sweeps.toolchain.errors import Cancelled, ToolchainError
from tunerweb.work.child import Limits

ASSUMED_BYTES = 2**30
ASSUMED_PER_MODEL_BYTE = 30


@dataclass(frozen=True)
class Progress:
    """Sent when a point starts (`trial` is None) and when it ends."""

    point: Point
    trial: TrialOutcome | None
    finished: int
    running: int
    total: int
    elapsed_s: float


class MemoryGate:
    """Lets a compile start only while the largest peak seen so far, times those running, fits into the free memory.

    Until one has been measured it assumes a peak from the size of the model.
    """

    def __init__(self, budget_bytes: int, model_bytes: int) -> None:
        self.budget_bytes = budget_bytes
        self.peak_bytes = ASSUMED_BYTES + ASSUMED_PER_MODEL_BYTE * model_bytes
        self._measured = False

    def learn(self, result: CompileResult | None) -> None:
        if result and result.peak_memory_bytes:
            known = self.peak_bytes if self._measured else 0
            self.peak_bytes = max(known, result.peak_memory_bytes)
            self._measured = True

    def admits_another(self, running: int) -> bool:
        return running == 0 or (running + 1) * self.peak_bytes <= self.budget_bytes


def available_memory_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def default_workers() -> int:
    return len(os.sched_getaffinity(0))


class PointRunner:
    """Runs the points of one session. `run` raises whatever interrupts it, after every child has ended."""

    def __init__(
        self, session: Session, *, workers: int, limits: Limits, gate: MemoryGate, report: Callable[[Progress], None]
    ) -> None:
        self.session = session
        self.workers = workers
        self.limits = limits
        self.gate = gate
        self.report = report
        self._stop = threading.Event()
        self._trials: dict[int, TrialOutcome] = {}
        self._total = 0
        self._started = time.monotonic()

    def run(self, points: Sequence[Point]) -> list[TrialOutcome]:
        """One outcome per point, in the order of the points."""
        self._total = len(points)
        waiting = deque(enumerate(points))
        running: dict[Future[TrialOutcome], int] = {}
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                while waiting or running:
                    self._start(pool, waiting, running)
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._finish(running.pop(future), future.result(), len(running))
            except BaseException:
                self._stop.set()
                raise
        return [self._trials[index] for index in range(len(points))]

    def _start(
        self,
        pool: ThreadPoolExecutor,
        waiting: deque[tuple[int, Point]],
        running: dict[Future[TrialOutcome], int],
    ) -> None:
        while waiting and len(running) < self.workers and self.gate.admits_another(len(running)):
            index, point = waiting.popleft()
            running[pool.submit(self._compile, point)] = index
            self._tell(point, None, len(running))

    def _finish(self, index: int, trial: TrialOutcome, running: int) -> None:
        self.gate.learn(trial.result)
        self._trials[index] = trial
        self._tell(trial.point, trial, running)

    def _tell(self, point: Point, trial: TrialOutcome | None, running: int) -> None:
        elapsed_s = time.monotonic() - self._started
        self.report(Progress(point, trial, len(self._trials), running, self._total, elapsed_s))

    def _compile(self, point: Point) -> TrialOutcome:
        try:
            result = self.session.compile(point, limits=self.limits, cancelled=self._stop.is_set)
        except Cancelled:
            raise
        except ToolchainError as error:
            return TrialOutcome(point=point, error=str(error), failure=error)
        return TrialOutcome(point=point, result=result)
