from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tunerweb.work.files import publish, remove_partials

SMALL_DISK = """
import resource, signal, sys
from pathlib import Path
from tunerweb.work.files import publish
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    publish(Path(sys.argv[1]), b"x" * 100_000)
except OSError as error:
    print(type(error).__name__, error.errno)
"""

BY_RENAME = """
import os
# Opening a folder for writing fails with one of the errors of a file system whose files need a name.
os.O_TMPFILE = os.O_DIRECTORY
"""

KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from tunerweb.work.files import publish
def die(descriptor):
    os.kill(os.getpid(), signal.SIGKILL)
os.fsync = die
publish(Path(sys.argv[1]), b"x" * 100_000)
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def without_unnamed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def open_like_an_old_file_system(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real_open(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", open_like_an_old_file_system)


def test_publishes_bytes(tmp_path: Path) -> None:
    publish(tmp_path / "a.bin", b"abc")
    assert (tmp_path / "a.bin").read_bytes() == b"abc"


def test_publishes_a_copy_of_a_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x" * 3_000_000)
    publish(tmp_path / "copy", source)
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()
    assert not (tmp_path / "copy").samefile(source)


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    publish(tmp_path / "published", b"")
    assert (tmp_path / "published").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_replaces_a_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    publish(tmp_path / "a.bin", b"old")
    publish(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_takes_the_longest_name_that_the_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    publish(path, b"old")
    publish(path, b"new")
    assert path.read_bytes() == b"new"


def test_names_the_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        publish(tmp_path / "missing" / "a.bin", b"")
    assert str(caught.value.filename) == str(tmp_path / "missing")


def test_takes_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    publish(Path("a.bin"), b"abc")
    assert (tmp_path / "a.bin").read_bytes() == b"abc"


def test_a_missing_source_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        publish(tmp_path / "a.bin", tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "a.bin").mkdir()
    with pytest.raises(IsADirectoryError):
        publish(tmp_path / "a.bin", b"abc")
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_a_full_disk_raises_and_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")
    done = run(SMALL_DISK, str(tmp_path / "a.bin"))
    assert done.stdout.split() == ["OSError", str(errno.EFBIG)], done.stderr
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_kill_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    done = run(KILLED_IN_THE_MIDDLE, str(tmp_path / "a.bin"))
    assert done.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_unnamed_files")
def test_publishes_by_rename_where_files_need_a_name(tmp_path: Path) -> None:
    publish(tmp_path / "a.bin", b"old")
    publish(tmp_path / "a.bin", b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"new"]


@pytest.mark.usefixtures("without_unnamed_files")
def test_a_failed_rename_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.bin").mkdir()
    with pytest.raises(IsADirectoryError):
        publish(tmp_path / "a.bin", b"abc")
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_what_a_kill_left_where_files_need_a_name_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a.partial").touch()
    done = run(BY_RENAME + KILLED_IN_THE_MIDDLE, str(tmp_path / "a.bin"))
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    remove_partials(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.partial"]


def test_a_read_only_folder_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **named: Any) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError):
        publish(tmp_path / "a.bin", b"abc")
