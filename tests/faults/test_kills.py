"""Kill the sweep or one of its compile children at a random moment: no process stays, no file is torn."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import DATA
from tests.processes import descendants, gone

pytestmark = pytest.mark.faults

P_VALUES = "0-6,8,13,15-17"
GOLDEN = json.loads((DATA / "golden_sizes.json").read_text())["models"]["small"]["57"]
TUNERWEB = Path(sys.executable).with_name("tunerweb")
PATIENCE_S = 60.0


class RunningSweep:
    def __init__(self, folder: Path) -> None:
        self.out = folder / "out"
        temporary = folder / "tmp"
        temporary.mkdir()
        command = [TUNERWEB, "sweep", DATA / "small.dlc", "--soc", "SM8650", "--p", P_VALUES, "--out", self.out]
        self.printed = folder / "printed.txt"
        with self.printed.open("wb") as printed:
            environment = os.environ | {"TMPDIR": str(temporary)}
            self.process = subprocess.Popen(command, env=environment, stdout=printed, stderr=printed)

    def output(self) -> str:
        """What it printed, once it has ended."""
        self.process.wait(PATIENCE_S)
        return self.printed.read_text()

    def compile_children(self) -> set[int]:
        return descendants(self.process.pid)

    def kill_a_child(self) -> bool:
        """False when the sweep ended before one was seen."""
        while self.process.poll() is None:
            if children := self.compile_children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(sorted(children)), signal.SIGKILL)
                    return True
        return False

    def let_run(self, seconds: float) -> None:
        """Until a random moment, or the end when that comes first."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return


def assert_no_file_is_torn(out: Path) -> None:
    """Each file that has a name is whole: a binary has the bytes of some point, a JSON file parses."""
    known = {row["sha256_prefix"] for row in GOLDEN.values() if row}
    for path in out.iterdir() if out.exists() else ():
        if path.name == "as_given_context_binary.bin":
            assert path.stat().st_size == GOLDEN["0"]["file_bytes"]
        elif path.suffix == ".bin":
            assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] in known
        else:
            json.loads(path.read_text())


def test_killing_the_sweep_leaves_no_process_and_no_torn_file(tmp_path: Path, seed: int) -> None:
    moment = random.Random(seed)
    sweep = RunningSweep(tmp_path)
    sweep.let_run(moment.uniform(0.2, 4.5))
    children = sweep.compile_children()
    sweep.process.kill()
    sweep.process.wait()
    assert all(gone(pid) for pid in children), f"seed {seed}"
    assert_no_file_is_torn(sweep.out)


def test_killing_a_child_fails_one_point_and_not_the_sweep(tmp_path: Path, seed: int) -> None:
    moment = random.Random(1000 + seed)
    random.seed(seed)
    sweep = RunningSweep(tmp_path)
    sweep.let_run(moment.uniform(0.3, 1.0))
    assert sweep.kill_a_child()
    output = sweep.output()
    assert not sweep.compile_children()
    assert_no_file_is_torn(sweep.out)
    if sweep.process.returncode == 1 and not (sweep.out / "size_report.json").exists():
        assert "killed from outside" in output
        return
    assert sweep.process.returncode == 0, output
    report = json.loads((sweep.out / "size_report.json").read_text())
    killed = [p for p, reason in report["per_p_errors"].items() if "killed from outside" in reason]
    compiled = [p for p, size in report["per_p_rom_size_bytes"].items() if size is not None]
    assert len(killed) <= 1
    assert set(compiled) >= {"0", "1", "2", "3", "4", "5", "6"} - set(killed)


def test_ctrl_c_ends_the_sweep_at_once_with_no_process_and_no_file(tmp_path: Path, seed: int) -> None:
    sweep = RunningSweep(tmp_path)
    sweep.let_run(random.Random(2000 + seed).uniform(0.1, 2.5))
    children = sweep.compile_children()
    started = time.monotonic()
    sweep.process.send_signal(signal.SIGINT)
    output = sweep.output()
    assert time.monotonic() - started < 2.0
    assert all(gone(pid) for pid in children)
    assert "Traceback" not in output
    if sweep.process.returncode:
        assert sweep.process.returncode == 130
        assert "tunerweb: Stopped by Ctrl+C." in output
    assert_no_file_is_torn(sweep.out)
    assert list((tmp_path / "tmp").iterdir()) == []
