"""A device behind adb: the real client, one process for each command, and what its errors mean."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from devices.identifiers import AdbIdentifier
from devices.transports import shell
from devices.transports.addresses import Network, allowed_address
from devices.transports.base import (
    NOBODY,
    SCRATCH_PREFIX,
    Cancelled,
    CommandResult,
    checked_owner,
    free_bytes_by_df,
    new_mark,
    pull_checked,
    push_checked,
    too_large,
)
from devices.transports.errors import (
    DeviceFull,
    DeviceMissing,
    DeviceOffline,
    Disconnected,
    FileMissing,
    FileRefused,
    ToolMissing,
    TransportError,
    Unauthorized,
    Unreachable,
)
from devices.transports.local import result_of
from devices.transports.processes import STUCK, Ended, run_process

SCRATCH = "/data/local/tmp"
FILE_TIMEOUT_S = 600.0
STATE_TIMEOUT_S = 15.0
# The client's own variables, and no secret of the server.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "ANDROID_ADB_SERVER_PORT", "ADB_VENDOR_KEYS")
CODE = "tunerweb-rc"
RETURN_CODE = re.compile(rf"{CODE} (\d+)\r?\n?\Z")
# The first that fits: what the client says, which failure that is, and what to do.
EXPLAINED: tuple[tuple[re.Pattern[str], type[TransportError], str], ...] = (
    (
        re.compile("unauthorized|still authorizing"),
        Unauthorized,
        "{serial} does not trust this server yet. Unlock its screen and allow USB debugging.",
    ),
    (
        re.compile("device offline|still connecting"),
        DeviceOffline,
        "{serial} is attached and does not answer. Unplug it and plug it in again.",
    ),
    (
        re.compile("device '.*' not found|no devices"),
        DeviceMissing,
        "{serial} is not attached. Check its cable, and that USB debugging is on.",
    ),
    (
        re.compile("insufficient permissions|no permissions"),
        Unauthorized,
        "This server may not open the USB device {serial}: install the udev rules for Android and unplug it once.",
    ),
    (
        re.compile("No space left"),
        DeviceFull,
        "The storage of {serial} is full. Free some space on it, then try again.",
    ),
    (re.compile("No such file|does not exist"), FileMissing, "There is no such file or folder: {last}."),
    (re.compile("Permission denied|Read-only"), FileRefused, "{serial} does not let that file be copied: {last}."),
    (
        re.compile("cannot connect to daemon|failed to connect|failed to start"),
        Unreachable,
        "The adb server of {serial} does not answer: {last}.",
    ),
)


class AdbTransport:
    kind: ClassVar[str] = "adb"

    def __init__(
        self,
        identifier: AdbIdentifier,
        *,
        networks: Sequence[Network] = (),
        adb: str = "adb",
        owner: str = NOBODY,
    ) -> None:
        """Raises what keeps the device from being used: it is asked for its state."""
        self.owner = checked_owner(owner)
        self.identifier = identifier
        self._adb = [*_client(identifier, networks, adb), "-s", identifier.serial]
        self._require_state()
        self._has_shell_v2 = "shell_v2" in self._client(["features"], STATE_TIMEOUT_S).stdout.split()

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
        line = shell.command_line(argv, folder, environment, timeout_s, mark)
        with self._fed(stdin) as source:
            # An old adbd tells no exit code: the line says it itself.
            ended = self._client(["shell", f"{line} {source}; echo {CODE} $?"], timeout_s, cancelled, stdin)
        stdout = ended.stdout if self._has_shell_v2 else ended.stdout.replace("\r\n", "\n")
        if ended.why and not self._is_ended(mark):
            ended = replace(ended, why=STUCK)
        told = RETURN_CODE.search(stdout)
        if not told and not ended.why:
            raise self._explained(ended.stderr if self._has_shell_v2 else stdout)
        code, stdout = (int(told[1]), stdout[: told.start()]) if told else (0, stdout)
        return result_of(Ended(code, stdout, ended.stderr, ended.wall_us, ended.why), argv[0], timeout_s)

    def push(self, local: Path, remote: str) -> None:
        push_checked(self, local, remote, lambda partial: self._file(["push", str(local), partial], partial))

    def pull(self, remote: str, local: Path, *, limit_bytes: int) -> None:
        def fetch(partial: Path) -> None:
            def is_too_large() -> bool:
                """The size that a device tells and what it sends are two things."""
                return partial.exists() and partial.stat().st_size > limit_bytes

            self._file(["pull", remote, str(partial)], remote, is_too_large)
            if is_too_large():
                raise too_large(remote, limit_bytes)

        pull_checked(self, remote, local, limit_bytes, fetch)

    def free_bytes(self, folder: str) -> int:
        return free_bytes_by_df(self, folder)

    def scratch_parent(self) -> str:
        return SCRATCH

    def close(self) -> None:
        """Each command had a connection of its own."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @contextmanager
    def _fed(self, stdin: bytes) -> Iterator[str]:
        """The shell's words for where a command reads from. An old adbd cannot say that input is over."""
        if self._has_shell_v2 or not stdin:
            yield "" if stdin else "</dev/null"
            return
        remote = f"{SCRATCH}/{SCRATCH_PREFIX}{self.owner}.{secrets.token_hex(6)}"
        with tempfile.NamedTemporaryFile() as file:
            file.write(stdin)
            file.flush()
            self._file(["push", file.name, remote], remote)
        try:
            yield f"<{remote}"
        finally:
            self._client(["shell", f"rm -f {remote}"], STATE_TIMEOUT_S)

    def _file(self, arguments: list[str], remote: str, is_enough: Cancelled | None = None) -> None:
        ended = self._client(arguments, FILE_TIMEOUT_S, is_enough)
        if ended.why == "timeout":
            raise Disconnected(f"{self.identifier} stopped answering while {remote} was copied. It is tried again.")
        if ended.exit_code != 0 and not ended.why:
            raise self._explained(ended.stderr or ended.stdout)

    def _is_ended(self, mark: str) -> bool:
        line = shlex.join(["sh", "-c", shell.end_marked(mark)])
        ended = self._client(["shell", f"{line}; echo {CODE} $?"], STATE_TIMEOUT_S)
        told = RETURN_CODE.search(ended.stdout)
        if not told:
            raise DeviceOffline(
                f"{self.identifier.serial} stopped answering: whether its command still runs is not known. Unplug it "
                "and plug it in again."
            )
        return told[1] == "0"

    def _require_state(self) -> None:
        ended = self._client(["get-state"], STATE_TIMEOUT_S)
        if ended.why:
            raise DeviceOffline(f"{self.identifier.serial} does not answer. Unplug it and plug it in again.")
        if ended.exit_code != 0 or ended.stdout.strip() != "device":
            raise self._explained(ended.stderr or f"error: device {ended.stdout.strip()}")

    def _client(
        self, arguments: list[str], timeout_s: float, cancelled: Cancelled | None = None, stdin: bytes = b""
    ) -> Ended:
        return run_process(
            [*self._adb, *arguments],
            environment={name: os.environ[name] for name in KEPT if name in os.environ},
            stdin=stdin,
            timeout_s=timeout_s,
            cancelled=cancelled,
        )

    def _explained(self, output: str) -> TransportError:
        """Only of what the client itself says: a program's own words are not about the connection."""
        said = "\n".join(line for line in output.splitlines() if line.startswith(("adb: ", "error: ", "* ")))
        serial, last = self.identifier.serial, said.rpartition("\n")[2][:200]
        for pattern, error, sentence in EXPLAINED:
            if pattern.search(said):
                return error(sentence.format(serial=serial, last=last))
        return Disconnected(f"The connection to {serial} broke off ({last or 'without a word'}). It is tried again.")


def _client(identifier: AdbIdentifier, networks: Sequence[Network], adb: str) -> list[str]:
    program = shutil.which(adb)
    if program is None:
        raise ToolMissing("adb is not installed on this server. Install it (apt-get install adb), then try again.")
    if not identifier.host:
        return [program]
    address = allowed_address(identifier.host, identifier.port, networks)
    return [program, "-H", f"[{address}]" if ":" in address else address, "-P", str(identifier.port)]
