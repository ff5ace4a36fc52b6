"""A device behind ssh. Its host key is pinned: another key is another machine until somebody says otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import time
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Self, TypeVar, cast

import asyncssh
from asyncssh.public_key import get_default_public_key_algs

from devices.identifiers import SshIdentifier
from devices.transports import shell
from devices.transports.addresses import Network, allowed_address
from devices.transports.base import (
    NOBODY,
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
    DeviceOffline,
    Disconnected,
    FileRefused,
    HostKeyUnknown,
    Unauthorized,
    Unreachable,
)
from devices.transports.local import result_of
from devices.transports.loop_thread import LoopThread
from devices.transports.output import PIECE_BYTES, CappedOutput
from devices.transports.processes import STUCK, Ended
from devices.transports.ssh_failures import CONNECT_S, connect_error, file_error, no_sftp

FILE_TIMEOUT_S = 600.0
# Beyond a command's own limit: to start it, to end it there, to read on.
END_S = 20.0
KEEPALIVE_S = 5
STEP_S = 0.1
ENCRYPTED = re.compile("passphrase|encrypt", re.IGNORECASE)
READ_ON_S = 2.0
FETCH_BYTES = 256 * 1024
Result = TypeVar("Result")
GONE = (asyncssh.ConnectionLost, asyncssh.DisconnectError, asyncssh.ChannelOpenError, BrokenPipeError, ConnectionError)


class SshTransport:
    """One connection, opened at once; everything on it runs in an event loop of its own thread.

    `host_key` is the pinned key's line, as `fetch_host_key` gives it. Secrets stay in this process: they are never in a
    command line, an environment or a message.
    """

    kind: ClassVar[str] = "ssh"

    def __init__(
        self,
        identifier: SshIdentifier,
        *,
        host_key: str,
        networks: Sequence[Network],
        private_key: str | None = None,
        password: str | None = None,
        owner: str = NOBODY,
    ) -> None:
        self.owner = checked_owner(owner)
        self._name = str(identifier)
        if not host_key:
            raise HostKeyUnknown(f"No host key of {identifier.host} is known yet. Test the connection to pin its key.")
        address = allowed_address(identifier.host, identifier.port, networks)
        self._loop = LoopThread()
        try:
            keys = [_private_key(private_key)] if private_key else []
            options = _options(identifier, host_key, keys, password)
            self._connection = self._loop.wait(_connected(address, identifier, options))
        except BaseException:
            self._loop.close()
            raise

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
        ended = self._waited(self._run(line, mark, stdin, timeout_s, cancelled), timeout_s + END_S)
        return result_of(ended, argv[0], timeout_s)

    def push(self, local: Path, remote: str) -> None:
        push_checked(self, local, remote, lambda partial: self._send(local, partial))

    def pull(self, remote: str, local: Path, *, limit_bytes: int) -> None:
        def fetch(partial: Path) -> None:
            self._waited(self._get(remote, partial, limit_bytes), FILE_TIMEOUT_S)

        pull_checked(self, remote, local, limit_bytes, fetch)

    def free_bytes(self, folder: str) -> int:
        return free_bytes_by_df(self, folder)

    def scratch_parent(self) -> str:
        return "/tmp"

    def close(self) -> None:
        self._loop.wait(_closed(self._connection))
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _waited(self, what: Coroutine[Any, Any, Result], limit_s: float) -> Result:
        try:
            return self._loop.wait(asyncio.wait_for(what, limit_s))
        except TimeoutError:
            raise DeviceOffline(f"{self._name} stopped answering in the middle. It is tried again.") from None
        except GONE:
            raise Disconnected(f"The connection to {self._name} broke off. It is tried again.") from None

    def _send(self, local: Path, remote: str) -> None:
        try:
            self._waited(self._put(local, remote), FILE_TIMEOUT_S)
        except FileRefused:
            # SFTP has no word of its own for a full disk.
            if self.free_bytes(str(PurePosixPath(remote).parent)) < local.stat().st_size:
                raise DeviceFull(
                    f"The storage of {self._name} is full. Free some space on it, then try again."
                ) from None
            raise

    async def _run(self, line: str, mark: str, stdin: bytes, timeout_s: float, cancelled: Cancelled | None) -> Ended:
        started = time.monotonic()
        process = await self._connection.create_process(line, encoding=None)
        out, err = CappedOutput(), CappedOutput()
        readers = asyncio.gather(_read(process.stdout, out), _read(process.stderr, err))
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            process.stdin.write(stdin)
            process.stdin.write_eof()
        why = await _over(process, started + timeout_s, cancelled)
        if why:
            ending = await self._connection.run(shlex.join(["sh", "-c", shell.end_marked(mark)]))
            why = why if ending.exit_status == 0 else STUCK
            process.close()
        with contextlib.suppress(TimeoutError):
            # Somebody who left the command's session may still hold its output.
            await asyncio.wait_for(readers, READ_ON_S)
        if process.exit_status is None and not why:
            raise asyncssh.ConnectionLost("the command ended without a status")
        wall_us = round((time.monotonic() - started) * 1e6)
        code = (
            process.exit_status if process.exit_status not in (None, -1) else shell.code_of_signal(process.exit_signal)
        )
        return Ended(code, out.text(), err.text(), wall_us, why)

    async def _put(self, local: Path, remote: str) -> None:
        try:
            async with self._connection.start_sftp_client() as client:
                await client.put(str(local), remote)
        except asyncssh.ChannelOpenError as error:
            raise no_sftp(error, self._name) from None
        except asyncssh.SFTPError as error:
            raise file_error(error, remote) from None

    async def _get(self, remote: str, partial: Path, limit_bytes: int) -> None:
        """Never more than the limit, whatever size the device told."""
        try:
            async with self._connection.start_sftp_client() as client, client.open(remote, "rb") as source:
                with partial.open("wb") as file:
                    while piece := cast(bytes, await source.read(FETCH_BYTES)):
                        if file.tell() + len(piece) > limit_bytes:
                            raise too_large(remote, limit_bytes)
                        file.write(piece)
        except asyncssh.ChannelOpenError as error:
            raise no_sftp(error, self._name) from None
        except asyncssh.SFTPError as error:
            raise file_error(error, remote) from None


def fetch_host_key(identifier: SshIdentifier, networks: Sequence[Network]) -> tuple[str, str]:
    """The key that answers there now, as a line to pin, and its fingerprint for people. Nobody is signed in."""
    address = allowed_address(identifier.host, identifier.port, networks)
    loop = LoopThread()
    try:
        asked = asyncssh.get_server_host_key(address, identifier.port)
        key = loop.wait(asyncio.wait_for(asked, CONNECT_S))
    except (OSError, asyncssh.Error, TimeoutError) as error:
        raise connect_error(error, identifier) from None
    finally:
        loop.close()
    if key is None:
        raise Unreachable(f"What answers at {identifier.host} port {identifier.port} shows no host key. Is it ssh?")
    return key.export_public_key("openssh").decode().strip(), key.get_fingerprint()


async def _connected(
    address: str, identifier: SshIdentifier, options: asyncssh.SSHClientConnectionOptions
) -> asyncssh.SSHClientConnection:
    try:
        connecting = asyncssh.connect(address, identifier.port, options=options)
        return await asyncio.wait_for(connecting, CONNECT_S)
    except (OSError, asyncssh.Error, TimeoutError) as error:
        raise connect_error(error, identifier) from None


def _options(
    identifier: SshIdentifier, host_key: str, keys: list[asyncssh.SSHKey], password: str | None
) -> asyncssh.SSHClientConnectionOptions:
    """Nothing of the server's own ssh: no agent, no configuration, no known hosts."""
    pinned = asyncssh.import_public_key(host_key)
    # Its own kind first; the others too, so that a machine that lost this kind shows another key instead of hanging up.
    kinds = sorted(get_default_public_key_algs(), key=lambda kind: kind not in pinned.sig_algorithms)
    return asyncssh.SSHClientConnectionOptions(
        username=identifier.user,
        known_hosts=([pinned], [], []),
        server_host_key_algs=[kind.decode() for kind in kinds],
        client_keys=keys or None,
        password=password,
        agent_path=None,
        config=None,
        keepalive_interval=KEEPALIVE_S,
        keepalive_count_max=3,
    )


def _private_key(text: str) -> asyncssh.SSHKey:
    try:
        return asyncssh.import_private_key(text)
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError) as error:
        if ENCRYPTED.search(str(error)):
            raise Unauthorized(
                "The private key has a passphrase. Give a key without one, made for this server."
            ) from None
        raise Unauthorized("The private key cannot be read. Paste a whole file in OpenSSH or PEM format.") from None


async def _read(stream: Any, output: CappedOutput) -> None:
    while piece := await stream.read(PIECE_BYTES):
        output.add(piece)


async def _over(process: Any, deadline: float, cancelled: Cancelled | None) -> str:
    """ "" when the process ended by itself, else "timeout" or "cancel"."""
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait_closed(), STEP_S)
            return ""
        if cancelled and cancelled():
            return "cancel"
        if time.monotonic() >= deadline:
            return "timeout"


async def _closed(connection: asyncssh.SSHClientConnection) -> None:
    connection.abort()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(connection.wait_closed(), READ_ON_S)
