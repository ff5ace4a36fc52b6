"""A worker for each queue that comes and goes. Real processes, which do nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from tests.processes import gone
from tests.tunerweb.work.test_keeper import comes_true
from tunerweb.work import crew as module
from tunerweb.work.crew import Crew


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    monkeypatch.setattr(module, "command_of", lambda queue: (sys.executable, "-c", "import signal; signal.pause()"))
    monkeypatch.setattr(module, "SHORTEST_LIFE_S", 0.0)
    made = Crew()
    yield made
    made.end()


def pid_of(crew: Crew, queue: str) -> int:
    return crew.members[queue].process.pid


def test_each_queue_gets_a_worker(crew: Crew) -> None:
    crew.one_round(["device-1", "device-2"])
    assert sorted(crew.members) == ["device-1", "device-2"]


def test_a_worker_that_runs_is_left_alone(crew: Crew) -> None:
    crew.one_round(["device-1"])
    first = pid_of(crew, "device-1")
    crew.one_round(["device-1"])
    assert pid_of(crew, "device-1") == first


def test_a_worker_that_died_is_started_again(crew: Crew) -> None:
    crew.one_round(["device-1"])
    first = pid_of(crew, "device-1")
    os.kill(first, signal.SIGKILL)
    assert comes_true(lambda: crew.members["device-1"].process.poll() is not None)
    crew.one_round(["device-1"])
    assert pid_of(crew, "device-1") != first


def test_a_worker_that_dies_at_once_is_not_started_again_at_once(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORTEST_LIFE_S", 60.0)
    crew.one_round(["device-1"])
    first = pid_of(crew, "device-1")
    os.kill(first, signal.SIGKILL)
    assert comes_true(lambda: crew.members["device-1"].process.poll() is not None)
    crew.one_round(["device-1"])
    assert pid_of(crew, "device-1") == first


def test_the_worker_of_a_queue_that_is_gone_ends(crew: Crew) -> None:
    crew.one_round(["device-1", "device-2"])
    removed = pid_of(crew, "device-1")
    crew.one_round(["device-2"])
    assert gone(removed)
    assert sorted(crew.members) == ["device-2"]


def test_at_the_end_nobody_is_left(crew: Crew) -> None:
    crew.one_round(["device-1", "device-2"])
    pids = [member.process.pid for member in crew.members.values()]
    crew.end()
    assert all(gone(pid) for pid in pids)
