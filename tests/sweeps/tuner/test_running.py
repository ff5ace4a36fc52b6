"""Running points side by side: order, memory, failures, the end. A session that is a stand-in answers at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from sweeps.configs import HtpConfig
from sweeps.toolchain.base import Cancelled as CancelFlag
from sweeps.toolchain.base import CompileResult, Point
from sweeps.toolchain.errors import Cancelled, ConfigRejected
from sweeps.tuner.running import ASSUMED_BYTES, MemoryGate, PointRunner, Progress
from tests.sweeps import factories
from tunerweb.work.child import Limits

POINTS = tuple(Point(config=HtpConfig(), p_value=p_value) for p_value in range(6))
ROOMY = 2**50


class FakeSession:
    """Compiles nothing: gives what `answer` says, and records how many ran at once."""

    graph_names = ("g",)

    def __init__(self, answer: Callable[[Point, CancelFlag], CompileResult]) -> None:
        self.answer = answer
        self.lock = threading.Lock()
        self.running = 0
        self.most_at_once = 0

    def compile(
        self, point: Point, *, limits: Limits | None = None, cancelled: CancelFlag | None = None
    ) -> CompileResult:
        with self.lock:
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
        try:
            return self.answer(point, cancelled or (lambda: False))
        finally:
            with self.lock:
                self.running -= 1

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def runner(
    session: FakeSession, *, workers: int = 2, budget: int = ROOMY, seen: list[Progress] | None = None
) -> PointRunner:
    report = seen.append if seen is not None else lambda _: None
    return PointRunner(session, workers=workers, limits=Limits(), gate=MemoryGate(budget, 0), report=report)


def result(peak_memory_bytes: int = 2**27) -> CompileResult:
    return factories.result(peak_memory_bytes=peak_memory_bytes)


def test_outcomes_come_in_the_order_of_the_points() -> None:
    trials = runner(FakeSession(lambda point, _: result()), workers=3).run(POINTS)
    assert [trial.p_value for trial in trials] == list(range(6))


def test_a_failed_point_does_not_end_the_sweep() -> None:
    def answer(point: Point, _: CancelFlag) -> CompileResult:
        if point.p_value == 2:
            raise ConfigRejected("P=2 was refused.")
        return result()

    trials = runner(FakeSession(answer)).run(POINTS)
    assert [trial.error for trial in trials] == [None, None, "P=2 was refused.", None, None, None]


def test_no_more_run_at_once_than_workers() -> None:
    barrier = threading.Barrier(2)

    def answer(_: Point, __: CancelFlag) -> CompileResult:
        barrier.wait(10)
        return result()

    session = FakeSession(answer)
    runner(session, workers=2).run(POINTS)
    assert session.most_at_once == 2


def test_only_one_runs_at_a_time_when_memory_holds_no_second() -> None:
    session = FakeSession(lambda point, _: result())
    runner(session, workers=4, budget=ASSUMED_BYTES).run(POINTS)
    assert session.most_at_once == 1


def test_a_measured_peak_replaces_the_assumed_one() -> None:
    gate = MemoryGate(10 * 2**20, model_bytes=0)
    assert not gate.admits_another(1)
    gate.learn(result(peak_memory_bytes=4 * 2**20))
    assert (gate.admits_another(1), gate.admits_another(2)) == (True, False)


def test_the_largest_peak_counts() -> None:
    gate = MemoryGate(10 * 2**20, model_bytes=0)
    for peak in (2 * 2**20, 6 * 2**20, 1 * 2**20):
        gate.learn(result(peak_memory_bytes=peak))
    assert not gate.admits_another(1)


def test_progress_counts_up_to_the_whole() -> None:
    seen: list[Progress] = []
    runner(FakeSession(lambda point, _: result()), seen=seen).run(POINTS)
    assert [progress.finished for progress in seen if progress.trial] == [1, 2, 3, 4, 5, 6]
    assert {progress.total for progress in seen} == {6}


def test_an_interruption_cancels_what_runs_and_is_raised_when_that_has_ended() -> None:
    ended = threading.Event()

    def answer(point: Point, cancelled: CancelFlag) -> CompileResult:
        if point.p_value == 0:
            return result()
        while not cancelled():
            threading.Event().wait(0.001)
        ended.set()
        raise Cancelled("cancelled")

    def interrupt(progress: Progress) -> None:
        if progress.trial:
            raise KeyboardInterrupt

    session = FakeSession(answer)
    points = PointRunner(session, workers=2, limits=Limits(), gate=MemoryGate(ROOMY, 0), report=interrupt)
    with pytest.raises(KeyboardInterrupt):
        points.run(POINTS)
    assert ended.is_set()
    assert session.running == 0
