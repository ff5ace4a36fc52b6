"""How a device can fail to be reached or to do what it was told. Each message is for the person who waits for it."""

from __future__ import annotations

from typing import ClassVar


class TransportError(Exception):
    """`message`: what happened, why, what to do next. `is_transient`: it may be gone in a moment."""

    is_transient: ClassVar[bool] = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unreachable(TransportError):
    """Nobody answers there."""

    is_transient = True


class DeviceOffline(TransportError):
    """It is attached, and does not answer."""

    is_transient = True


class DeviceMissing(TransportError):
    """It is not attached."""

    is_transient = True


class Disconnected(TransportError):
    """It was there, and went away in the middle."""

    is_transient = True


class Unauthorized(TransportError):
    """It answers, and lets nobody in."""


class HostKeyChanged(TransportError):
    """Another machine answers under this address, or the machine was set up anew."""


class HostKeyUnknown(TransportError):
    """No key is pinned yet: `fetch_host_key` gives the one that answers."""


class AddressRefused(TransportError):
    """The server's own rule says no."""


class ToolMissing(TransportError):
    """This server lacks a program."""


class CommandTimedOut(TransportError):
    """The command is gone from the device when this is raised."""


class CommandCancelled(TransportError):
    """The command is gone from the device when this is raised."""


class CommandStuck(TransportError):
    """It was killed and is still there, as what waits in the kernel for its hardware is."""


class HashMismatch(TransportError):
    """What arrived is not what was sent, twice."""


class DeviceFull(TransportError):
    pass


class FileMissing(TransportError):
    pass


class FileRefused(TransportError):
    """The device does not let it be read or written."""


class FileTooLarge(TransportError):
    pass
