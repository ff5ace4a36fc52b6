"""What a compile does to itself: it hangs, crashes, eats memory. The server ends it, says why, and goes on."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Iterator

import pytest

from tests.faults.sweeping import RunningSweep
from tests.postgres import fresh_database
from tests.server import Server

pytestmark = pytest.mark.faults
CANCEL_S = 2.0
SMALL_LIMIT_BYTES = 32 * 2**20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server") / "data", fresh_database(database_url)) as running:
        yield running
        assert running.is_at_rest()
        assert running.ask("leftovers") == []


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[Server]:
    """Every compile of it waits for ever just before the compiler's longest call."""
    environment = {"TUNERWEB_FAULT": "finalize:hang", **fresh_database(database_url)}
    with Server(tmp_path_factory.mktemp("hanging") / "data", environment) as running:
        yield running
        assert running.is_at_rest()
        assert running.ask("leftovers") == []


def sweep_of(server: Server, file: str = "small.dlc", **fields: object) -> RunningSweep:
    return RunningSweep(server, random.Random(0), file, **fields)


def cancel_s(sweep: RunningSweep) -> float:
    """Until no row of it is live and no process of it runs."""
    since = time.monotonic()
    sweep.server.ask("cancel", sweep=sweep.pk)
    assert sweep.server.ask("until_settled", sweep=sweep.pk)
    while sweep.server.of("child"):
        assert time.monotonic() - since < 10 * CANCEL_S
    return time.monotonic() - since


def test_a_cancel_is_heard_while_native_code_hangs(hanging: Server) -> None:
    sweep = sweep_of(hanging)
    assert len(sweep.running("compose")) > 0
    assert cancel_s(sweep) <= CANCEL_S * hanging.slowness
    assert {trial["state"] for trial in sweep.trials()} == {"cancelled"}
    assert hanging.is_at_rest()


def test_a_cancel_is_heard_inside_the_compiler(server: Server) -> None:
    sweep = sweep_of(server, "sample_detector.dlc")
    sweep.running("finalize")
    assert cancel_s(sweep) <= CANCEL_S * server.slowness
    assert {trial["state"] for trial in sweep.trials()} <= {"cancelled", "done"}
    assert server.is_at_rest()


def test_a_compile_past_its_time_limit_is_told_so(hanging: Server) -> None:
    sweep = sweep_of(hanging, p_values="0", timeout_s=1)
    assert sweep.is_finished()
    assert {(trial["state"], trial["attempts"] - trial["rescues"], trial["crashes"]) for trial in sweep.trials()} == {
        ("failed", 1, 0)
    }
    for trial in sweep.trials():
        assert re.fullmatch(
            r"The compile was stopped after its time limit of 1 s\. Raise the time limit .* if it needs longer\.",
            trial["reason"],
        )


def test_a_worker_told_to_stop_hands_back_what_hangs_in_native_code(hanging: Server) -> None:
    sweep = sweep_of(hanging, p_values="0", parallel_compiles=1)
    [(row, fence)] = sweep.running("compose")
    [holder] = [each for each in hanging.of("worker") if hanging.ask("held_by", worker=each.member)]
    os.kill(holder.pid, signal.SIGTERM)
    assert 0 <= sweep.recovery_s([[row, fence]], time.monotonic()) <= hanging.recovery_s
    trials = sweep.trials()
    assert sorted(trial["attempts"] - trial["rescues"] for trial in trials) == [0, 1]
    assert [trial["crashes"] for trial in trials] == [0, 0]
    cancel_s(sweep)


def test_a_compile_past_its_memory_limit_is_told_so(server: Server) -> None:
    sweep = sweep_of(server, p_values="0", memory_bytes=SMALL_LIMIT_BYTES)
    assert sweep.is_finished()
    for trial in sweep.trials():
        assert (trial["state"], trial["crashes"]) == ("failed", 0)
        assert re.fullmatch(
            r"The compile was stopped at its memory limit: it had reached 0\.\d GiB\. "
            r"Raise the memory limit .* or run fewer at once\.",
            trial["reason"],
        )


def test_a_model_that_crashes_the_compiler_fails_after_three_tries_with_the_log(server: Server) -> None:
    workers = {each.pid for each in server.of("worker")}
    sweep = sweep_of(server, "crashing.dlc", p_values="0")
    assert sweep.is_finished()
    for trial in sweep.trials():
        assert (trial["state"], trial["crashes"], trial["attempts"] - trial["rescues"]) == ("failed", 3, 3)
        assert "crashed during this compile (SIGFPE). It crashed 3 times" in trial["reason"]
        assert trial["log"]
    assert {each.pid for each in server.of("worker")} == workers


def test_a_crash_spoils_no_other_sweep(server: Server) -> None:
    crashing = sweep_of(server, "crashing.dlc", p_values="0")
    good = sweep_of(server, p_values="0")
    assert good.ends_well()
    assert crashing.is_finished()
