"""Devices by identifier, without a server: how each is reached, and what runs binaries on it.

| text | device |
|---|---|
| `host` or `local` | this machine |
| `simulated` | a simulated one: its times are made up, by rules that are known |
| `user@host[:port]`, `ssh:user@host[:port]` | behind ssh |
| `serial`, `adb:serial[@host[:port]]` | behind adb; `host` is where the adb server runs |

`serial@host` without `adb:` looks like a user at a host, and is taken for one unless its port is adb's own, 5037.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from devices.checking import Runner
from devices.discovery import identify
from devices.identifiers import ADB_PORT, IdentifierRejected, SshIdentifier, parse_adb, parse_ssh
from devices.runners.net_run import NetRunRunner
from devices.runners.ort import OrtRunner
from devices.runners.sdk import sdk_at
from devices.runners.simulated import SimulatedRunner
from devices.targets import DspArch, TargetError, find_target
from devices.transports.adb import AdbTransport
from devices.transports.addresses import parse_networks
from devices.transports.base import Transport, sweep_leftovers
from devices.transports.errors import HostKeyUnknown, TransportError
from devices.transports.local import LocalTransport
from devices.transports.simulated import SimulatedTransport
from devices.transports.ssh import SshTransport, fetch_host_key
from sweeps.tuner.inputs import BadInput, existing_file, shown

# Who types an identifier here goes where they could go by ssh itself.
ANYWHERE = parse_networks("0.0.0.0/0 ::/0")
SSH, ADB, HOST, SIMULATED = "ssh", "adb", "host", "simulated"
# Our own words, and those of Qualcomm's published tuner.
PLATFORMS = {
    "ssh": SSH,
    "linux": SSH,
    "windows": SSH,
    "wos": SSH,
    "adb": ADB,
    "android": ADB,
    "aarch64-android": ADB,
    "linux-embedded": ADB,
    "host": HOST,
    "local": HOST,
    "x86_64-linux-clang": HOST,
    "simulated": SIMULATED,
}
SDK_ROOT = "QAIRT_SDK_ROOT"
ACCEPT = "accept"
UNPINNED = (
    "No host key of {host} is pinned: the key that answers there now is {fingerprint}. If that is the device's own, "
    'give its line (or a file with it) as host_key, or "accept" to take whatever answers.'
)
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Access:
    """What lets us in, and what runs there. `host_key`: the pinned key's line, or `accept` for the one that answers.

    `python`: the device's own, with onnxruntime-qnn. `sdk`: of the QAIRT SDK that is pushed to adb devices; None takes
    `QAIRT_SDK_ROOT`.
    """

    private_key: Path | None = None
    password_file: Path | None = None
    host_key: str = ""
    python: str = "python3"
    sdk: Path | None = None

    @property
    def names_ssh(self) -> bool:
        return bool(self.private_key or self.password_file or self.host_key)


@dataclass(frozen=True)
class Opened:
    """A device that answers. `soc_model` is what it says of itself; `runner` raises `RunnerMissing`."""

    name: str
    transport: Transport
    soc_model: int | None
    runner: Callable[[DspArch], Runner]


class Reachable(Protocol):
    """Anything that a sweep can be run on."""

    @property
    def name(self) -> str: ...

    def opened(self, work: Path, tell: Tell) -> AbstractContextManager[Opened]:
        """Leaves nothing on the device. `tell` hears of what was trusted. Raises `TransportError`."""
        ...


@dataclass(frozen=True)
class Device:
    """`platform`: android, linux, windows, host or simulated. `soc`: name or number, where the device does not say."""

    platform: str
    identifier: str = ""
    soc: str | int | None = None
    access: Access = Access()
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises `BadInput`."""
        if self.platform not in PLATFORMS:
            raise BadInput(f"{self.platform!r} is no platform of a device: it is one of {', '.join(PLATFORMS)}.")
        try:
            if self.way == SSH:
                parse_ssh(self.identifier)
            elif self.way == ADB:
                parse_adb(self.identifier)
            if self.soc is not None:
                find_target(self.soc)
        except (IdentifierRejected, TargetError) as error:
            raise BadInput(str(error)) from None

    @property
    def way(self) -> str:
        return PLATFORMS[self.platform]

    @property
    def name(self) -> str:
        return {HOST: "this machine", SIMULATED: "the simulated device"}.get(self.way, self.identifier)

    @contextmanager
    def opened(self, work: Path, tell: Tell) -> Iterator[Opened]:
        with self._transport(work, tell) as transport, cleaned(transport):
            soc_model = find_target(self.soc).soc_model if self.soc is not None else _soc_of(transport)
            yield Opened(self.name, transport, soc_model, lambda arch: self._runner(transport, arch))

    def _transport(self, work: Path, tell: Tell) -> Transport:
        if self.way == SSH:
            return _by_ssh(parse_ssh(self.identifier), self.access, tell)
        if self.way == ADB:
            return AdbTransport(parse_adb(self.identifier), networks=ANYWHERE)
        folder = work / "device"
        folder.mkdir()
        return SimulatedTransport(folder, self.seed) if self.way == SIMULATED else LocalTransport(folder)

    def _runner(self, transport: Transport, dsp_arch: DspArch) -> Runner:
        """Raises `RunnerMissing`."""
        if isinstance(transport, SimulatedTransport):
            return SimulatedRunner(transport)
        if self.way == ADB:
            return NetRunRunner(transport, sdk_at(self.access.sdk or sdk_root()), dsp_arch)
        return OrtRunner(transport, sys.executable if self.way == HOST else self.access.python)


@contextmanager
def cleaned(transport: Transport) -> Iterator[None]:
    """Its scratch folders and processes are gone at the end, as far as the device still answers."""
    try:
        yield
    finally:
        with suppress(TransportError):
            sweep_leftovers(transport)


def device_from(value: Any, access: Access, seed: int = 0) -> Device:
    """An identifier, or a `Device`, which keeps what it says of its own access. Raises `BadInput`."""
    if isinstance(value, Device):
        own = value.access if value.access != Access() else access
        return replace(value, access=own, seed=value.seed or seed)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{value!r} is no device: give an identifier such as root@10.0.0.5, or a Device.")
    platform, identifier = _parted(value.strip(), access)
    return Device(platform, identifier, access=access, seed=seed)


def sdk_root() -> Path | None:
    named = os.environ.get(SDK_ROOT)
    return Path(named) if named else None


def _parted(text: str, access: Access) -> tuple[str, str]:
    if text in (HOST, "local", SIMULATED):
        return text, ""
    for way in (SSH, ADB):
        if text.startswith(f"{way}:"):
            return way, text.removeprefix(f"{way}:")
    if "@" in text and (access.names_ssh or not text.endswith(f":{ADB_PORT}")):
        return SSH, text
    return ADB, text


def _soc_of(transport: Transport) -> int | None:
    # The folder of a simulated device is on this machine, whose SoC is not that of the device.
    return None if isinstance(transport, SimulatedTransport) else identify(transport).soc_model


def _by_ssh(identifier: SshIdentifier, access: Access, tell: Tell) -> SshTransport:
    private_key = _secret(access.private_key, "private key")
    password = _secret(access.password_file, "password file")
    host_key = _host_key(identifier, access.host_key, tell)
    try:
        return SshTransport(
            identifier,
            host_key=host_key,
            networks=ANYWHERE,
            private_key=private_key,
            password=password.rstrip("\n") if password is not None else None,
        )
    except ValueError:
        raise BadInput("host_key is no public key: give its line, such as `ssh-ed25519 AAAA...`.") from None


def _host_key(identifier: SshIdentifier, given: str, tell: Tell) -> str:
    """Raises `HostKeyUnknown`, with the fingerprint to compare: nobody is trusted unless somebody said so."""
    if given and given != ACCEPT:
        return given
    line, fingerprint = fetch_host_key(identifier, ANYWHERE)
    if given != ACCEPT:
        raise HostKeyUnknown(UNPINNED.format(host=identifier.host, fingerprint=fingerprint))
    tell(f"The host key of {identifier.host} was accepted without being compared: {fingerprint}.")
    return line


def _secret(path: Path | None, what: str) -> str | None:
    """Raises `BadInput`."""
    if path is None:
        return None
    try:
        return existing_file(path, what).read_text()
    except (OSError, UnicodeDecodeError):
        raise BadInput(f"The {what} {shown(path)} cannot be read.") from None
