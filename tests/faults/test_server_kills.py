"""Kill each kind of the server's processes at random moments of a sweep: nothing is lost, nothing stays stuck."""

from __future__ import annotations

import os
import random
import re
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator

import pytest

from tests.faults.conftest import RECOVERY
from tests.faults.sweeping import RunningSweep
from tests.postgres import fresh_database
from tests.processes import PATIENCE_S, STEP_S
from tests.server import LEASE_S, Process, Server

pytestmark = pytest.mark.faults
Note = Callable[[str, object], None]
KILLED = ["worker", "horse", "child", "valkey", "reconciler and worker"]
TOO_LATE = r"came too late: somebody else has it now"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server") / "data", fresh_database(database_url)) as running:
        yield running
        assert running.is_at_rest()
        assert running.ask("leftovers") == []


def sweep_of(server: Server, kind: str, seed: int) -> RunningSweep:
    return RunningSweep(server, random.Random(f"{kind} {seed}"))


@pytest.mark.parametrize("kind", KILLED)
def test_a_kill_loses_nothing(server: Server, kind: str, seed: int, record_property: Note) -> None:
    sweep = sweep_of(server, kind, seed)
    sweep.goes_on_for_a_while()
    rows, since = sweep.kill(*kind.split(" and "))
    seconds = sweep.recovery_s(rows, since)
    record_property(RECOVERY, (kind, seconds))
    assert 0 <= seconds <= server.recovery_s
    assert sweep.ends_well()
    assert server.is_at_rest()


def test_a_kill_of_the_web_server_touches_no_sweep(server: Server, seed: int, record_property: Note) -> None:
    sweep = sweep_of(server, "web", seed)
    sweep.goes_on_for_a_while()
    _, since = sweep.kill("web")
    with urllib.request.urlopen(f"{server.url}/healthz", timeout=PATIENCE_S) as answer:
        assert answer.status == 200
    seconds = time.monotonic() - since
    record_property(RECOVERY, ("web", seconds))
    assert seconds <= server.recovery_s
    assert sweep.ends_well()
    assert sweep.counted_attempts() == len(sweep.trials())


def test_a_kill_of_all_at_once_loses_nothing(server: Server, seed: int, record_property: Note) -> None:
    sweep = sweep_of(server, "all", seed)
    sweep.goes_on_for_a_while()
    rows = sweep.running()
    server.restart(signal.SIGKILL)
    seconds = sweep.recovery_s(rows, server.started_at)
    record_property(RECOVERY, ("all, from the next start", seconds))
    assert 0 <= seconds <= server.recovery_s
    assert sweep.ends_well()


def test_a_stop_and_a_start_count_no_attempt(server: Server) -> None:
    sweep = sweep_of(server, "restart", 0)
    sweep.goes_on_for_a_while()
    server.restart(signal.SIGTERM)
    assert sweep.ends_well()
    assert sweep.counted_attempts() == len(sweep.trials())


def test_a_worker_that_is_told_to_stop_hands_its_work_back(server: Server, seed: int) -> None:
    sweep = sweep_of(server, "stop", seed)
    sweep.goes_on_for_a_while()
    os.kill(sweep.victim("worker").pid, signal.SIGTERM)
    assert sweep.ends_well()
    assert sweep.counted_attempts() == len(sweep.trials())
    assert server.is_at_rest()


def test_a_broker_that_forgets_everything_loses_nothing(server: Server, seed: int) -> None:
    sweep = sweep_of(server, "flush", seed)
    sweep.goes_on_for_a_while()
    server.ask("flush_broker")
    assert sweep.ends_well()


def test_a_result_that_comes_after_its_lease_counts_for_nothing(server: Server, seed: int) -> None:
    sweep = sweep_of(server, "pause", seed)
    too_late = late_results(server)
    horse, rows = paused_horse(sweep)
    try:
        assert 0 <= sweep.recovery_s(rows, time.monotonic()) <= server.recovery_s
    finally:
        os.kill(horse.pid, signal.SIGCONT)
    deadline = time.monotonic() + PATIENCE_S
    while late_results(server) == too_late:
        assert time.monotonic() < deadline, "no late result was discarded"
        time.sleep(STEP_S)
    assert sweep.ends_well()
    assert server.is_at_rest()


def paused_horse(sweep: RunningSweep) -> tuple[Process, list[list[int]]]:
    """Stopped in the middle of its work, with the rows that it holds."""
    while True:
        horse = sweep.victim("horse")
        os.kill(horse.pid, signal.SIGSTOP)
        if rows := sweep.server.ask("held_by", worker=horse.member):
            return horse, rows
        os.kill(horse.pid, signal.SIGCONT)


def late_results(server: Server) -> int:
    return sum(len(re.findall(TOO_LATE, server.log(f"compile-{number}"))) for number in (1, 2))


def test_the_same_sweep_sent_fifty_times_at_once_compiles_once(server: Server) -> None:
    model = server.ask("seed", file="small.dlc")
    sweeps = server.ask("launch_at_once", model=model, count=50, p_values="0-2")
    assert len(set(sweeps)) == 50
    assert all(server.ask("until_finished", sweep=sweep) for sweep in sweeps)
    assert [server.ask("faults_of", sweep=sweep) for sweep in sweeps] == [[]] * 50
    trials = [trial for sweep in sweeps for trial in server.ask("trials", sweep=sweep)]
    rows = {trial["compilation"]: trial["attempts"] - trial["rescues"] for trial in trials}
    assert list(rows.values()) == [1] * 4


def test_a_lease_is_as_long_as_these_tests_think(server: Server) -> None:
    assert server.ask("lease_s") == LEASE_S
