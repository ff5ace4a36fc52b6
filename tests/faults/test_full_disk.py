"""The data folder on a small disk that fills up in the middle of a sweep."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.sweeping import RunningSweep
from tests.postgres import fresh_database
from tests.server import Server

pytestmark = pytest.mark.faults
DISK_BYTES = 200 * 2**20
CHUNK = b"\1" * 2**20


UNMOUNT_S = 10.0


def unmount(place: Path) -> None:
    """A process that was ended is gone for whoever ended it a moment before its files are closed."""
    deadline = time.monotonic() + UNMOUNT_S
    while subprocess.run(["umount", place], check=False).returncode != 0:
        assert time.monotonic() < deadline, f"somebody keeps {place} open"
        time.sleep(0.1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", place]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("NOT TESTED: a full disk. Mounting a small one needs root.")
    try:
        yield place
    finally:
        unmount(place)


def fill(disk: Path) -> Path:
    """To the last byte."""
    path = disk / "ballast"
    with path.open("ab", buffering=0) as file:
        for piece in (CHUNK, CHUNK[:4096], CHUNK[:1]):
            with contextlib.suppress(OSError):
                while file.write(piece):
                    pass
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        (disk / "more").write_bytes(CHUNK)
    return path


def test_a_sweep_survives_a_full_disk(small_disk: Path, database_url: str) -> None:
    with Server(small_disk / "data", fresh_database(database_url)) as server:
        sweep = RunningSweep(server, random.Random(0), p_values="0-4")
        sweep.running()
        ballast = fill(small_disk)
        try:
            sweep.is_finished(timeout_s=5)
        finally:
            ballast.unlink()
            (small_disk / "more").unlink(missing_ok=True)
        assert sweep.is_finished()
        for trial in sweep.trials():
            assert trial["state"] in ("done", "failed")
            assert trial["crashes"] == 0
            assert trial["state"] == "done" or "disk" in trial["reason"], trial
        sweep.retry()
        assert sweep.ends_well()
        assert server.is_at_rest()
        assert server.ask("leftovers") == []
