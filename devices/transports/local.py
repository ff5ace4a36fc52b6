"""This machine as a device: processes of its own, files in a folder of its own."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from devices.transports.base import (
    NOBODY,
    Cancelled,
    CommandResult,
    checked_owner,
    new_mark,
    pull_checked,
    push_checked,
)
from devices.transports.errors import (
    CommandCancelled,
    CommandStuck,
    CommandTimedOut,
    DeviceFull,
    FileMissing,
    FileRefused,
)
from devices.transports.processes import STUCK, Ended, run_process
from devices.transports.shell import MARK, end_marked

# What a device would have of itself; the server's own variables hold secrets.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
END_TIMEOUT_S = 15.0
FULL = (errno.ENOSPC, errno.EDQUOT)


class LocalTransport:
    kind: ClassVar[str] = "local"
    place: ClassVar[str] = "this machine"

    def __init__(self, scratch: Path | None = None, *, owner: str = NOBODY) -> None:
        self.owner = checked_owner(owner)
        self._scratch = scratch or Path(tempfile.gettempdir())

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
        mark = new_mark(self.owner)
        own = {name: os.environ[name] for name in KEPT if name in os.environ}
        try:
            ended = run_process(
                argv,
                environment={**own, **(environment or {}), MARK: mark},
                folder=folder,
                stdin=stdin,
                timeout_s=timeout_s,
                cancelled=cancelled,
            )
        except FileNotFoundError:
            return CommandResult(127, "", f"{argv[0]} or the folder {folder} is not there.", 0)
        except PermissionError:
            return CommandResult(126, "", f"{argv[0]} may not be run.", 0)
        if ended.why:
            # What left the process group.
            ending = run_process(["sh", "-c", end_marked(mark)], environment=own, timeout_s=END_TIMEOUT_S)
            ended = ended if ending.exit_code == 0 else replace(ended, why=STUCK)
        return result_of(ended, argv[0], timeout_s)

    def push(self, local: Path, remote: str) -> None:
        push_checked(self, local, remote, lambda partial: self._copy(local, Path(partial), remote))

    def pull(self, remote: str, local: Path, *, limit_bytes: int) -> None:
        pull_checked(self, remote, local, limit_bytes, lambda partial: self._copy(Path(remote), partial, remote))

    def _copy(self, source: Path, target: Path, remote: str) -> None:
        try:
            shutil.copyfile(source, target)
        except OSError as error:
            if error.errno in FULL:
                raise DeviceFull(f"The disk of {self.place} is full. Free some space, then try again.") from None
            raise FileRefused(f"{remote} cannot be copied on {self.place}: {error.strerror}.") from None

    def free_bytes(self, folder: str) -> int:
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            raise FileMissing(f"There is no folder {folder} on {self.place}.") from None

    def scratch_parent(self) -> str:
        return str(self._scratch)

    def close(self) -> None:
        """Nothing stays open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def result_of(ended: Ended, program: str, timeout_s: float) -> CommandResult:
    """Raises `CommandTimedOut`, `CommandCancelled`, `CommandStuck`."""
    if ended.why == STUCK:
        raise CommandStuck(
            f"{program} could not be ended: it was killed and is still there, perhaps waiting for its hardware. "
            "Restart the device."
        )
    if ended.why == "timeout":
        raise CommandTimedOut(f"{program} took longer than {timeout_s:g} s and was ended.")
    if ended.why == "cancel":
        raise CommandCancelled(f"{program} was ended, because its work was cancelled.")
    return CommandResult(ended.exit_code, ended.stdout, ended.stderr, ended.wall_us)
