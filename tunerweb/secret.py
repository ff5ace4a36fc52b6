"""The server's secret: made at the first start, readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

SECRET_FILE = "secret_key"


def secret_key(data: Path) -> str:
    """Read or make the key. Raises PermissionError when others can read it."""
    data.mkdir(parents=True, exist_ok=True)
    path = data / SECRET_FILE
    with contextlib.suppress(FileExistsError):
        _create(data, path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise PermissionError(f"{path} can be read by others: take their rights away (chmod 600) and start again.")
    return path.read_text()


def _create(data: Path, path: Path) -> None:
    """Whole or not there: another process that starts now must never read half a key."""
    hidden = data / f".{SECRET_FILE}.{secrets.token_hex(8)}"
    descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(64))
            file.flush()
            os.fsync(file.fileno())
        os.link(hidden, path)
    finally:
        hidden.unlink()
