"""The server's secrets: made at their first use, readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

SECRET_FILE = "secret_key"


def secret_key(data: Path) -> str:
    """Read or make the key that signs. Raises PermissionError when others can read it."""
    return kept_secret(data, SECRET_FILE, lambda: secrets.token_urlsafe(64))


def kept_secret(data: Path, name: str, make: Callable[[], str]) -> str:
    """Read or make. Raises PermissionError when others can read it."""
    data.mkdir(parents=True, exist_ok=True)
    path = data / name
    if not path.exists():
        with contextlib.suppress(FileExistsError):
            _create(path, make())
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise PermissionError(f"{path} can be read by others: take their rights away (chmod 600) and start again.")
    return path.read_text()


def _create(path: Path, text: str) -> None:
    """Whole or not there: another process that starts now must never read half a key."""
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(hidden, path)
    finally:
        hidden.unlink()
