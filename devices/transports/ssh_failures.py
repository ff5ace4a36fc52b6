"""What the failures of an ssh connection mean for the person who waits for it."""

from __future__ import annotations

import asyncio

import asyncssh

from devices.identifiers import SshIdentifier
from devices.transports.errors import (
    Disconnected,
    FileMissing,
    FileRefused,
    HostKeyChanged,
    ToolMissing,
    TransportError,
    Unauthorized,
    Unreachable,
)

CONNECT_S = 10.0


def connect_error(error: BaseException, identifier: SshIdentifier) -> TransportError:
    place = f"{identifier.host} port {identifier.port}"
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return HostKeyChanged(
            f"The host key of {identifier.host} is not the one that was pinned when it was first used. Either the "
            "machine was set up anew, or another one answers in its place. Nothing was sent to it. If you know why, "
            "forget the pinned key and test again."
        )
    if isinstance(error, asyncssh.PermissionDenied):
        return Unauthorized(
            f"{identifier.host} does not let {identifier.user} in with this key or password. Put the public key into "
            "the device's ~/.ssh/authorized_keys, or enter another."
        )
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return Unreachable(f"Nothing answers at {place} within {CONNECT_S:g} s. Is the device on, and in this network?")
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(f"{place} refuses connections. Is an ssh server running there?")
    return Unreachable(f"There is no connection to {place}: {str(error)[:200] or type(error).__name__}.")


def file_error(error: asyncssh.SFTPError, remote: str) -> TransportError:
    if isinstance(error, asyncssh.SFTPNoSuchFile | asyncssh.SFTPNoSuchPath):
        return FileMissing(f"{remote} is not there, or its folder is not.")
    if isinstance(error, asyncssh.SFTPPermissionDenied):
        return FileRefused(f"The device does not let {remote} be read or written. Check the rights of its folder.")
    if isinstance(error, asyncssh.SFTPConnectionLost | asyncssh.SFTPNoConnection):
        return Disconnected(f"The connection broke off while {remote} was copied. It is tried again.")
    return FileRefused(f"{remote} cannot be copied ({error.reason}). Check its name and the file system that it is on.")


def no_sftp(error: asyncssh.ChannelOpenError, name: str) -> TransportError:
    return ToolMissing(f"{name} offers no SFTP, so no file can be copied ({error.reason}). Switch it on in its sshd.")
