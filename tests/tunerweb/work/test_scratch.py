from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tunerweb.work.scratch import NEW, PREFIX, scratch_root


def test_a_scratch_folder_is_gone_at_the_end(tmp_path: Path) -> None:
    with scratch_root(tmp_path) as root:
        (root / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_a_scratch_folder_is_private(tmp_path: Path) -> None:
    with scratch_root(tmp_path) as root:
        assert root.stat().st_mode & 0o777 == 0o700


def test_the_folder_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    with scratch_root(tmp_path) as first, scratch_root(tmp_path):
        assert first.exists()


def test_the_folder_of_a_killed_process_goes_when_the_next_one_starts(tmp_path: Path) -> None:
    code = (
        "import os, signal; from pathlib import Path; from tunerweb.work.scratch import scratch_root\n"
        f"with scratch_root(Path({str(tmp_path)!r})): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert [path.name.startswith(PREFIX) for path in tmp_path.iterdir()] == [True]
    with scratch_root(tmp_path) as root:
        assert list(tmp_path.iterdir()) == [root]


def test_a_root_whose_process_died_before_it_had_a_name_goes_too(tmp_path: Path) -> None:
    old, young = (tmp_path / f"{NEW}{PREFIX}{name}" for name in ("old", "young"))
    for root in (old, young):
        root.mkdir()
    an_hour_ago = time.time() - 3600
    os.utime(old, (an_hour_ago, an_hour_ago))
    with scratch_root(tmp_path):
        assert (old.exists(), young.exists()) == (False, True)
