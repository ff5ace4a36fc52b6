"""Scratch folders that cannot be left behind for good: one root per process, held by a lock that dies with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "tunerweb-scratch-"
NEW = ".new-"
# Longer than the moment between the making of a root and its lock.
UNNAMED_S = 60.0


@contextlib.contextmanager
def scratch_root(parent: Path | None = None) -> Iterator[Path]:
    """A private folder (mode 0700) that is removed at the end; roots whose process was killed go first."""
    base = parent or Path(tempfile.gettempdir())
    remove_abandoned(base)
    # Locked before it gets the name that others look for: they must never find it unheld.
    unnamed = Path(tempfile.mkdtemp(prefix=NEW + PREFIX, dir=base))
    descriptor = os.open(unnamed, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    root = unnamed.rename(base / unnamed.name.removeprefix(NEW))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned(base: Path) -> None:
    """Remove the roots that nobody holds any more. Another user's are left alone."""
    for root in base.glob(PREFIX + "*"):
        _remove_if_unheld(root)
    for root in base.glob(NEW + PREFIX + "*"):
        with contextlib.suppress(OSError):
            if time.time() - root.stat().st_mtime > UNNAMED_S:
                _remove_if_unheld(root)


def _remove_if_unheld(root: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(descriptor).st_uid == os.getuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
        finally:
            os.close(descriptor)
