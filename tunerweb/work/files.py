"""Write files that are whole or not there: no reader and no crash ever meets half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from pathlib import Path
from typing import IO

MODE = 0o666  # less what the umask takes away
PARTIAL_PREFIX, PARTIAL_SUFFIX = ".tunerweb-", ".partial"
NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


def publish(path: Path, source: bytes | Path) -> None:
    """Put these bytes, or a copy of this file, at `path`; a file that is there is replaced in one step.

    Raises OSError (a full disk, a missing folder) and then leaves everything as it was. A process that dies in the
    middle leaves nothing behind where the file system can hold files without a name, which Linux's usual ones do.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _publish(folder, path, source)
        # The new name survives a power cut too. Some file systems cannot do this, and the file is whole either way.
        with contextlib.suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)


def remove_partials(folder: Path) -> None:
    """Remove what a kill inside `publish` left. Nobody may be publishing in the folder meanwhile."""
    for path in folder.glob(f"{PARTIAL_PREFIX}*{PARTIAL_SUFFIX}"):
        if path.is_file():
            path.unlink()


def _publish(folder: int, path: Path, source: bytes | Path) -> None:
    try:
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, MODE)
    except OSError as error:
        if error.errno not in NO_UNNAMED_FILES:
            raise
        _publish_by_rename(path, source)
        return
    with os.fdopen(descriptor, "wb") as file:
        _write(file, source)
        _give_name(file.fileno(), folder, path)


def _publish_by_rename(path: Path, source: bytes | Path) -> None:
    hidden = _hidden_name(path)
    try:
        with hidden.open("xb") as file:
            _write(file, source)
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def _write(file: IO[bytes], source: bytes | Path) -> None:
    if isinstance(source, bytes):
        file.write(source)
    else:
        with source.open("rb") as original:
            shutil.copyfileobj(original, file, 1024 * 1024)
    file.flush()
    os.fsync(file.fileno())


def _give_name(descriptor: int, folder: int, path: Path) -> None:
    try:
        _link(descriptor, folder, path)
    except FileExistsError:
        # A link never replaces a file, a rename does: the hidden name lives between these two calls only.
        hidden = _hidden_name(path)
        _link(descriptor, folder, hidden)
        try:
            hidden.replace(path)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise


def _link(descriptor: int, folder: int, path: Path) -> None:
    # Only with a folder's descriptor does os.link follow the link in /proc: without one it calls link(2), which fails.
    os.link(f"/proc/self/fd/{descriptor}", path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)


def _hidden_name(path: Path) -> Path:
    return path.with_name(f"{PARTIAL_PREFIX}{secrets.token_hex(8)}{PARTIAL_SUFFIX}")
