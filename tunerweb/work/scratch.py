"""Scratch folders that cannot be left behind for good: one root per process, held by a lock that dies with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "tunerweb-scratch-"


@contextlib.contextmanager
def scratch_root(parent: Path | None = None) -> Iterator[Path]:
    """A private folder (mode 0700) that is removed at the end; roots whose process was killed go first."""
    base = parent or Path(tempfile.gettempdir())
    remove_abandoned(base)
    # Locked before it gets the name that others look for: they must never find it unheld.
    unnamed = Path(tempfile.mkdtemp(prefix=f".new-{PREFIX}", dir=base))
    descriptor = os.open(unnamed, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    root = unnamed.rename(base / unnamed.name.removeprefix(".new-"))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned(base: Path) -> None:
    """Remove the roots that nobody holds any more. Another user's are left alone."""
    for root in base.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(descriptor)
