"""An RQ worker runs hints only, hands its work back when asked to stop, and never leaves a horse behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django.fixtures import Settings
from rq import Worker
from rq.job import Job
from rq.serializers import JSONSerializer

from tests.processes import PATIENCE_S, gone, wait_for_file
from tests.tunerweb.work.test_keeper import comes_true
from tests.valkey import Valkey
from tunerweb.work import hints
from tunerweb.work.hints import queue_named
from tunerweb.work.worker import HintWorker, use_scratch_of_data_folder

QUEUE = "compile"
WORK = "tests.tunerweb.work.hint_jobs.work"


class RunningWorker:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = (folder / "log").open("w+b")
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.tunerweb.work.hint_settings",
            "HINT_FOLDER": str(folder),
            "REDIS_URL": settings.ENVIRONMENT.broker_url,
        }
        command = [sys.executable, "-m", "tunerweb.work.worker", "--queue", QUEUE, "--name", "compile-1"]
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)

    def is_known(self) -> bool:
        """Wait until it has introduced itself and waits for hints."""
        queue = queue_named(QUEUE)
        return comes_true(lambda: [each.get_state() for each in Worker.all(queue=queue)] == ["idle"])

    def horse(self) -> int:
        """Once it has begun its work."""
        path = self.folder / "horse.pid"
        wait_for_file(path)
        assert comes_true(lambda: path.read_text() != "")
        return int(path.read_text())

    def has_done(self, number: int) -> bool:
        return comes_true((self.folder / f"done {number - 1}").exists)

    def end(self) -> int:
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def worker(tmp_path: Path, broker: Valkey) -> Iterator[RunningWorker]:
    running = RunningWorker(tmp_path)
    yield running
    running.process.kill()
    running.process.wait()
    running.log.close()


def hint() -> None:
    queue_named(QUEUE).enqueue_call(WORK)


def test_a_hint_is_worked_on(worker: RunningWorker) -> None:
    hint()
    assert worker.has_done(1)


def test_the_horse_dies_with_its_worker(worker: RunningWorker) -> None:
    (worker.folder / "hangs").touch()
    hint()
    horse = worker.horse()
    worker.process.kill()
    assert gone(horse)


def test_a_worker_that_is_told_to_stop_lets_its_horse_hand_the_work_back(worker: RunningWorker) -> None:
    (worker.folder / "waits").touch()
    hint()
    horse = worker.horse()
    worker.process.send_signal(signal.SIGTERM)
    assert worker.end() == 0
    assert (worker.folder / "handed back").exists()
    assert gone(horse)


def test_an_idle_worker_stops_at_once(worker: RunningWorker) -> None:
    assert worker.is_known()
    worker.process.send_signal(signal.SIGTERM)
    assert worker.end() == 0


def test_a_worker_outlives_its_broker_and_introduces_itself_again(worker: RunningWorker, broker: Valkey) -> None:
    assert worker.is_known()
    broker.kill()
    broker.start()
    queue = queue_named(QUEUE)
    assert comes_true(lambda: Worker.count(connection=queue.connection, queue=queue) == 1)
    hint()
    assert worker.has_done(1)
    assert worker.process.poll() is None


def test_a_horse_that_dies_does_not_take_its_worker_along(worker: RunningWorker) -> None:
    hangs = worker.folder / "hangs"
    hangs.touch()
    hint()
    horse = worker.horse()
    hangs.unlink()
    os.kill(horse, signal.SIGKILL)
    hint()
    assert worker.has_done(1)
    assert worker.process.poll() is None


def test_temporary_files_go_into_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/tmp")
    monkeypatch.setattr(tempfile, "tempdir", None)
    use_scratch_of_data_folder()
    assert [tempfile.gettempdir(), os.environ["TMPDIR"]] == [str(settings.ENVIRONMENT.data / "scratch")] * 2


@pytest.mark.parametrize(
    "payload",
    [
        ["os.system", None, ["touch MARKER"], {}],
        ["builtins.exec", None, ["open('MARKER', 'w')"], {}],
        [WORK, None, ["an argument"], {}],
        [WORK, None, [], {"name": "an argument"}],
        [WORK, "an instance", [], {}],
        ["sweeps.jobs.loops.time.sleep", None, [], {}],
    ],
)
def test_what_is_not_a_hint_is_refused(
    payload: list[object], broker: Valkey, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write to the broker is no reason to run what it says."""
    settings.WORK_QUEUES = {QUEUE: WORK}
    monkeypatch.setenv("HINT_FOLDER", str(tmp_path))
    marker = tmp_path / "marker"
    job = given_to_the_broker(json.loads(json.dumps(payload).replace("MARKER", str(marker))))
    work_once()
    assert not marker.exists()
    assert not list(tmp_path.iterdir())
    assert job.get_status() == "failed"
    assert "is not among the functions that a hint may call" in job.latest_result().exc_string


def given_to_the_broker(payload: list[object]) -> Job:
    queue = queue_named(QUEUE)
    job = queue.enqueue_call("os.getpid")
    queue.connection.hset(job.key, "data", JSONSerializer.dumps(payload))
    return job


def work_once() -> None:
    queue = queue_named(QUEUE)
    worker = HintWorker([queue], connection=queue.connection, serializer=JSONSerializer)
    worker.work(burst=True, logging_level="CRITICAL")


def test_the_hints_of_the_settings_are_run(
    broker: Valkey, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WORK_QUEUES = {QUEUE: WORK}
    monkeypatch.setenv("HINT_FOLDER", str(tmp_path))
    hints.push(QUEUE)
    work_once()
    assert (tmp_path / "done 0").exists()
