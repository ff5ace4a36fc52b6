"""The data folder: private, held by one supervisor at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from tunerweb.secret import secret_key
from tunerweb.supervisor.errors import CannotStart

LOCK_FILE = "up.lock"
LOGS = "logs"


@contextlib.contextmanager
def held(data: Path) -> Iterator[None]:
    """Hold the folder, with its secret and its place for logs made. Raises `CannotStart`."""
    try:
        lock = locked(data)
        (data / LOCK_FILE).write_text(f"{os.getpid()}\n")
        (data / LOGS).mkdir(exist_ok=True)
        secret_key(data)
    except Timeout:
        raise CannotStart(in_use(data)) from None
    except OSError as error:
        raise CannotStart(refusal(data, error)) from None
    try:
        yield
    finally:
        lock.release()


def locked(data: Path) -> FileLock:
    data.mkdir(parents=True, exist_ok=True)
    lock = FileLock(data / LOCK_FILE, mode=0o600, blocking=False)
    lock.acquire()
    return lock


def refusal(data: Path, error: OSError) -> str:
    if error.errno is None:  # the secret's own sentence
        return str(error)
    return f"The data folder {data} cannot be used: {error.strerror}. Choose another one with --data."


def in_use(data: Path) -> str:
    with contextlib.suppress(OSError):
        if pid := (data / LOCK_FILE).read_text().strip():
            who = f"another tunerweb up (process {pid})"
            return f"The data folder {data} is in use by {who}. Stop it first, or choose another folder with --data."
    return f"The data folder {data} is in use by another tunerweb up. Choose another folder with --data."
