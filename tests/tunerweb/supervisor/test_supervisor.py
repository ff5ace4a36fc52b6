"""The supervisor with the real broker and stand-ins for the other processes; see small_stack.py."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.processes import descendants, gone
from tests.tunerweb.supervisor.running import SMALL_STACK, Running
from tunerweb.supervisor.broker import answers, socket_path


def start(data: Path, *workers: str, **env: str) -> Running:
    return Running([*SMALL_STACK, data, *workers], data, env)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_and_that_is_success(tmp_path: Path, number: signal.Signals) -> None:
    with start(tmp_path, "obedient", "parent") as up:
        up.until("ready")
        up.send(number)
        assert up.end() == 0
        assert up.nobody_is_left()


def test_a_kill_of_the_supervisor_leaves_nobody(tmp_path: Path) -> None:
    with start(tmp_path, "obedient", "deaf") as up:
        up.until("ready")
        up.send(signal.SIGKILL)
        up.end()
        assert up.nobody_is_left()
        assert not answers(socket_path(tmp_path))


def test_after_a_kill_the_next_one_starts(tmp_path: Path) -> None:
    with start(tmp_path) as up:
        up.until("ready")
        up.send(signal.SIGKILL)
        up.end()
    with start(tmp_path) as up:
        up.until("ready")
        up.send(signal.SIGTERM)
        assert up.end() == 0


def test_a_signal_before_everything_runs_stops_it_too(tmp_path: Path) -> None:
    with start(tmp_path, "obedient") as up:
        deadline = time.monotonic() + 20
        while not descendants(up.pid):
            assert time.monotonic() < deadline
        up.send(signal.SIGTERM)
        assert up.end() == 0
        assert up.nobody_is_left()


def test_a_process_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    with start(tmp_path, "deaf") as up:
        up.until("ready")
        wait_for_text(up, "deaf-1", "deaf")
        up.send(signal.SIGTERM)
        assert up.end() == 0
        assert up.nobody_is_left()


def test_a_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    with start(tmp_path, "deaf", PATIENCE="100") as up:
        up.until("ready")
        wait_for_text(up, "deaf-1", "deaf")
        web = up.pid_of("web")
        up.send(signal.SIGINT)
        assert gone(web)
        up.send(signal.SIGINT)
        assert up.end() == 130
        assert up.nobody_is_left()


def test_a_process_that_died_is_started_again(tmp_path: Path) -> None:
    with start(tmp_path, "obedient") as up:
        up.until("ready")
        first = up.pid_of("obedient-1")
        os.kill(first, signal.SIGKILL)
        line = up.until("obedient-1 died .*")[0]
        assert f"(killed by SIGKILL) and is started again. Its log: {tmp_path}/logs/obedient-1.log" in line
        wait_for_text(up, "obedient-1", r"\d+\n\d+\n")
        assert up.pid_of("obedient-1") != first


def test_what_a_dead_process_left_behind_is_ended(tmp_path: Path) -> None:
    with start(tmp_path, "parent") as up:
        up.until("ready")
        grandchild = up.pid_of("parent-1")
        os.kill(parent_of(grandchild), signal.SIGKILL)
        up.until("parent-1 died")
        assert gone(grandchild)


def test_the_first_restart_is_at_once_and_the_next_ones_wait_longer_and_longer(tmp_path: Path) -> None:
    with start(tmp_path, "broken") as up:
        for again in (r"again\.", r"again in 0.5 s\.", r"again in 1 s\."):
            up.until(rf"broken-1 died \(exit code 1: RuntimeError: no such table\) and is started {again}")


def test_workers_are_started_again_when_the_broker_is_back(tmp_path: Path) -> None:
    with start(tmp_path, "obedient") as up:
        up.until("ready")
        first = up.pid_of("obedient-1")
        (broker,) = (pid for pid in descendants(up.pid) if "valkey" in Path(f"/proc/{pid}/comm").read_text())
        os.kill(broker, signal.SIGKILL)
        up.until("broker died")
        wait_for_text(up, "obedient-1", r"\d+\n\d+\n")
        assert answers(socket_path(tmp_path))
        assert gone(first)
        up.send(signal.SIGTERM)
        assert up.end() == 0
        assert "obedient-1 died" not in up.printed


def test_a_second_one_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with start(tmp_path) as up:
        up.until("ready")
        with start(tmp_path) as second:
            assert second.end() == 1
            assert f"{tmp_path} is in use by another tunerweb up (process {up.pid})" in second.printed


def test_a_preparation_that_fails_ends_it_with_the_reason(tmp_path: Path) -> None:
    with start(tmp_path, PREPARE="broken") as up:
        assert up.end() == 1
        assert "prepare failed: RuntimeError: no such table." in up.printed
        assert "Traceback" not in up.printed


@pytest.mark.parametrize("name", ["with spaces and 'quotes\" %41 ä", "x" * 120])
def test_any_data_folder_will_do(tmp_path: Path, name: str) -> None:
    with start(tmp_path / name) as up:
        up.until("ready")
        assert answers(socket_path(tmp_path / name))
        up.send(signal.SIGTERM)
        assert up.end() == 0


def test_files_of_the_data_folder_are_private(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with start(data) as up:
        up.until("ready")
        modes = {path: path.stat().st_mode & 0o077 for path in (data, *data.rglob("*"))}
        assert modes[data / "secret_key"] == modes[data / "broker.sock"] == 0
        assert not any(modes.values())


def wait_for_text(up: Running, name: str, pattern: str) -> None:
    deadline = time.monotonic() + 20
    while not re.search(pattern, up.log(name)):
        assert time.monotonic() < deadline, f"{name}: {up.log(name)}"
        time.sleep(0.005)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
