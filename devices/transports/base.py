"""The contract of all transports: run a command on a device, bring files there and back."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, Self

from devices.transports import shell
from devices.transports.errors import (
    DeviceFull,
    DeviceMissing,
    DeviceOffline,
    Disconnected,
    FileMissing,
    FileRefused,
    FileTooLarge,
    HashMismatch,
    TransportError,
    Unreachable,
)

SCRATCH_PREFIX = "tunerweb-"
NOBODY = ""
OWNER = re.compile(r"[A-Za-z0-9_-]{1,64}")
HASH_TIMEOUT_S = 300.0
ASK_FILE = 'test -f "$1" && wc -c <"$1" && sha256sum "$1"'
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class CommandResult:
    """A nonzero `exit_code` is a result. Output is capped, its middle left out. Times are microseconds."""

    exit_code: int
    stdout: str
    stderr: str
    wall_us: int


class Transport(Protocol):
    """Everything blocks; used from one thread at a time. Paths on the device are texts with slashes.

    `owner` is for whom the device is reached: only what bears its name is swept, since others may use the machine too.
    """

    kind: ClassVar[str]
    owner: str

    def run(
        self,
        argv: Sequence[str],
        *,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 60.0,
        cancelled: Cancelled | None = None,
    ) -> CommandResult:
        """Raises `CommandTimedOut` or `CommandCancelled` once the process and all that it started are gone there.

        `CommandStuck` where it cannot be killed.
        """
        ...

    def push(self, local: Path, remote: str) -> None:
        """Whole or not at all; nothing is sent when the same content is there. Raises `HashMismatch`, `DeviceFull`."""
        ...

    def pull(self, remote: str, local: Path, *, limit_bytes: int) -> None:
        """Raises `FileMissing`, `FileTooLarge`."""
        ...

    def free_bytes(self, folder: str) -> int: ...

    def scratch_parent(self) -> str:
        """A folder on the device for scratch folders."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


@contextmanager
def scratch_folder(transport: Transport) -> Iterator[str]:
    """A fresh folder on the device that is gone at the end. Raises `FileRefused` where it cannot be made."""
    folder = f"{transport.scratch_parent()}/{SCRATCH_PREFIX}{transport.owner}.{secrets.token_hex(6)}"
    made = transport.run(["mkdir", "-p", folder])
    if made.exit_code != 0:
        raise _not_written(folder, made.stderr)
    try:
        yield folder
    finally:
        # A device that went away keeps it; whoever holds the device next sweeps it.
        with suppress(Unreachable, DeviceOffline, DeviceMissing, Disconnected):
            transport.run(["rm", "-rf", folder])


def sweep_leftovers(transport: Transport) -> None:
    """End commands and remove scratch folders of holders that died. Only for who holds the device."""
    transport.run(["sh", "-c", shell.end_marked(f"{transport.owner}.")])
    name = f"{SCRATCH_PREFIX}{transport.owner}.*"
    transport.run(
        ["find", transport.scratch_parent(), "-maxdepth", "1", "-name", name, "-exec", "rm", "-rf", "{}", "+"]
    )


def new_mark(owner: str) -> str:
    """What all processes of one command carry in their environment, so that they can be found and ended."""
    return f"{owner}.{secrets.token_hex(8)}"


def checked_owner(owner: str) -> str:
    """It becomes a part of file names and patterns. Raises ValueError. Nobody's things are swept by nobody else."""
    owner = owner or secrets.token_hex(8)
    if not OWNER.fullmatch(owner):
        raise ValueError(f"{owner!r} is no name of an owner: letters, digits, _ and - only.")
    return owner


def push_checked(transport: Transport, local: Path, remote: str, send: Callable[[str], None]) -> None:
    """Send under another name, compare hashes, rename. A copy that arrived otherwise is sent once more."""
    wanted = sha256_of_file(local)
    if remote_sha256(transport, remote) == wanted:
        return
    for _ in range(2):
        partial = f"{remote}.{secrets.token_hex(4)}.partial"
        try:
            send(partial)
            if remote_sha256(transport, partial) == wanted:
                _rename(transport, partial, remote)
                return
        finally:
            with suppress(TransportError):
                transport.run(["rm", "-f", partial])
    raise HashMismatch(
        f"{local.name} arrived changed on the device, twice. Check its cable and its storage, then try again."
    )


def _rename(transport: Transport, partial: str, remote: str) -> None:
    moved = transport.run(["mv", "-f", partial, remote])
    if moved.exit_code != 0:
        raise _not_written(remote, moved.stderr)


def pull_checked(
    transport: Transport, remote: str, local: Path, limit_bytes: int, fetch: Callable[[Path], None]
) -> None:
    """Fetch under another name, compare hashes, rename: `local` is whole or untouched. Tried twice."""
    asked = transport.run(["sh", "-c", ASK_FILE, "sh", remote])
    if asked.exit_code != 0:
        raise FileMissing(f"{remote} is not on the device, or it is no file.")
    size, _, rest = asked.stdout.strip().partition("\n")
    if int(size) > limit_bytes:
        raise too_large(remote, limit_bytes)
    wanted = _hash_in(rest)
    partial = local.with_name(f"{local.name}.{secrets.token_hex(4)}.partial")
    try:
        for _ in range(2):
            fetch(partial)
            if sha256_of_file(partial) == wanted:
                partial.replace(local)
                return
    finally:
        partial.unlink(missing_ok=True)
    raise HashMismatch(f"{remote} arrived changed from the device, twice. Check its cable, then try again.")


def free_bytes_by_df(transport: Transport, folder: str) -> int:
    free = shell.free_bytes_in(transport.run(["df", "-Pk", folder]).stdout)
    if free is None:
        raise FileMissing(f"There is no folder {folder} on the device.")
    return free


def too_large(remote: str, limit_bytes: int) -> FileTooLarge:
    return FileTooLarge(f"{remote} has more than {limit_bytes:,} bytes, so it is not fetched.")


def remote_sha256(transport: Transport, remote: str) -> str:
    """ "" where there is no such file."""
    found = transport.run(["sha256sum", remote], timeout_s=HASH_TIMEOUT_S)
    return _hash_in(found.stdout) if found.exit_code == 0 else ""


def _hash_in(line: str) -> str:
    """A name with odd letters makes sha256sum begin its line with a backslash."""
    return line.strip().partition(" ")[0].lstrip("\\")


def _not_written(remote: str, said: str) -> TransportError:
    if "No space left" in said:
        return DeviceFull("The device's storage is full. Free some space on it, then try again.")
    last = said.strip().rpartition("\n")[2][:200]
    return FileRefused(f"{remote} cannot be written on the device ({last}). Check the rights of its folder.")


def sha256_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
