from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.processes import gone, wait_for_file
from tunerweb.work.child import ChildOutcome, Ending, Limits, run_child
from tunerweb.work.inside import DISK_FULL

JOBS = "tests.tunerweb.work.child_jobs:"


def run(entry: str, scratch: Path, **job: object) -> ChildOutcome:
    return run_child(JOBS + entry, job, scratch=scratch, limits=Limits(wall_s=60))


def test_a_result_comes_back_as_a_value(tmp_path: Path) -> None:
    outcome = run("add", tmp_path, left=2, right=3)
    assert (outcome.ending, outcome.value, outcome.exit_code) == (Ending.DONE, 5, 0)


def test_what_the_job_prints_is_the_log_and_not_the_result(tmp_path: Path) -> None:
    outcome = run("print_much", tmp_path, lines=2)
    assert (outcome.value, outcome.log) == ("printed", "line 000000000\nline 000000001\n")


def test_a_long_log_keeps_its_first_and_last_lines(tmp_path: Path) -> None:
    outcome = run("print_much", tmp_path, lines=40_000)
    lines = outcome.log.splitlines()
    assert (lines[0], lines[-1]) == ("line 000000000", "line 000039999")
    assert len(outcome.log) < 300_000


def test_control_characters_in_the_log_become_visible_text(tmp_path: Path) -> None:
    assert run("print_control_characters", tmp_path).log == "red: \\x1b[31m bell: \\x07 text\n"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL])
def test_a_death_by_its_own_signal_is_a_crash(tmp_path: Path, number: int) -> None:
    outcome = run("die_of", tmp_path, signal=number)
    assert (outcome.ending, outcome.signal, outcome.exit_code) == (Ending.CRASHED, number, None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_death_by_an_outside_signal_is_a_kill(tmp_path: Path, number: int) -> None:
    outcome = run("die_of", tmp_path, signal=number)
    assert (outcome.ending, outcome.signal) == (Ending.KILLED, number)


def test_an_exception_is_a_failure_with_its_reason_in_the_log(tmp_path: Path) -> None:
    outcome = run("fail", tmp_path)
    assert outcome.ending is Ending.FAILED
    assert "the job found a reason to stop" in outcome.log_tail[-1]


def test_a_full_disk_is_told_by_the_exit_code_since_the_log_may_be_lost(tmp_path: Path) -> None:
    outcome = run("fill_the_disk", tmp_path)
    assert (outcome.ending, outcome.exit_code) == (Ending.FAILED, DISK_FULL)


def test_a_hang_ends_at_the_wall_limit(tmp_path: Path) -> None:
    outcome = run_child(JOBS + "hang", {}, scratch=tmp_path, limits=Limits(wall_s=0.3))
    assert (outcome.ending, outcome.signal) == (Ending.WALL_LIMIT, signal.SIGKILL)


def test_a_busy_loop_ends_at_the_cpu_limit(tmp_path: Path) -> None:
    outcome = run_child(JOBS + "spin", {}, scratch=tmp_path, limits=Limits(wall_s=60, cpu_s=1))
    assert outcome.ending is Ending.CPU_LIMIT


def test_growth_ends_at_the_memory_limit_and_the_peak_is_known(tmp_path: Path) -> None:
    limit = 100 * 2**20
    outcome = run_child(JOBS + "grow", {}, scratch=tmp_path, limits=Limits(wall_s=60, memory_bytes=limit))
    assert outcome.ending is Ending.MEMORY_LIMIT
    assert outcome.peak_memory_bytes is not None
    assert outcome.peak_memory_bytes > limit


def test_peak_memory_is_the_childs_own_and_not_its_parents(tmp_path: Path) -> None:
    ballast = bytearray(b"\1" * (300 * 2**20))
    outcome = run("add", tmp_path, left=1, right=1)
    assert len(ballast) == 300 * 2**20
    assert outcome.peak_memory_bytes is not None
    assert outcome.peak_memory_bytes < 100 * 2**20


def test_a_cancelled_job_ends_at_once(tmp_path: Path) -> None:
    flag = threading.Event()
    announce = tmp_path / "started"
    waiting = threading.Thread(target=lambda: (wait_for_file(announce), flag.set()))
    waiting.start()
    outcome = run_child(JOBS + "hang", {"announce": str(announce)}, scratch=tmp_path, cancelled=flag.is_set)
    waiting.join()
    assert outcome.ending is Ending.CANCELLED
    assert gone(int(announce.read_text()))


def test_what_a_job_leaves_running_goes_with_it(tmp_path: Path) -> None:
    announce = tmp_path / "pids"
    run("start_a_grandchild", tmp_path, announce=str(announce))
    assert all(gone(int(pid)) for pid in announce.read_text().split())


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    announce = tmp_path / "started"
    code = (
        "from pathlib import Path; from tunerweb.work.child import run_child; "
        f"run_child({JOBS + 'hang'!r}, {{'announce': {str(announce)!r}}}, scratch=Path({str(tmp_path)!r}))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    wait_for_file(announce)
    parent.kill()
    parent.wait()
    assert gone(int(announce.read_text()))


def test_a_compile_child_imports_the_standard_library_only(tmp_path: Path) -> None:
    names = {name.partition(".")[0] for name in run("modules", tmp_path).value}
    assert names - set(sys.stdlib_module_names) <= {"tunerweb", "tests", "__main__"}


def test_the_environment_of_the_parent_stays_with_the_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hidden")
    assert "A_SECRET" not in run("environment", tmp_path).value


def test_no_child_is_left_as_a_zombie(tmp_path: Path) -> None:
    """Servers of other tests may be children of this process too: they live."""
    run("die_of", tmp_path, signal=signal.SIGSEGV)
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    states = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] for child in children]
    assert "Z" not in states


def test_the_wall_time_is_that_of_the_child(tmp_path: Path) -> None:
    started = time.monotonic()
    outcome = run("add", tmp_path, left=1, right=1)
    assert 0 < outcome.wall_us <= (time.monotonic() - started) * 1e6
