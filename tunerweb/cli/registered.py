"""Which device a text names: one of the data folder's, or, where there is none of that name, an identifier."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devices.checking import Runner
from devices.discovery import identify
from devices.runners.net_run import NetRunRunner
from devices.runners.sdk import sdk_at
from devices.targets import DspArch
from devices.transports.adb import AdbTransport
from devices.transports.base import Transport, checked_owner
from devices.transports.errors import TransportError
from devices.transports.simulated import SimulatedTransport
from sweeps.tuner.devices import Access, Opened, Reachable, Tell, cleaned, device_from, sdk_root
from sweeps.tuner.inputs import BadInput
from tunerweb.cli.device import owner_of
from tunerweb.cli.environment import read_environment

if TYPE_CHECKING:
    from devices.models import Device

DATABASE = "tunerweb.sqlite3"
IN_USE = "{name} is in use: {holder} works on it. Wait until it is free, or cancel that work."
NO_DEVICE = "There is no device {name!r} in {data}. `tunerweb device list` shows those that there are."


@dataclass(frozen=True)
class Registered:
    """A device of the data folder, with the access that is kept there."""

    row: Device

    @property
    def name(self) -> str:
        return str(self.row.name)

    @contextmanager
    def opened(self, work: Path, tell: Tell) -> Iterator[Opened]:
        from devices.connecting import connect

        self._refuse_while_held()
        with connect(self.row) as transport:
            # The server's workers end and remove what bears the device's own name.
            transport.owner = checked_owner("")
            with cleaned(transport):
                yield Opened(self.name, transport, self._soc_model(transport), lambda arch: self._run(transport, arch))

    def _refuse_while_held(self) -> None:
        from devices.models import Hold

        if held := Hold.objects.filter(device=self.row).first():
            raise TransportError(IN_USE.format(name=self.name, holder=held.holder))

    def _soc_model(self, transport: Transport) -> int | None:
        known: int | None = self.row.soc_model
        if known is not None or isinstance(transport, SimulatedTransport):
            return known
        return identify(transport).soc_model

    def _run(self, transport: Transport, dsp_arch: DspArch) -> Runner:
        from devices.connecting import runner_of

        if isinstance(transport, AdbTransport):
            return NetRunRunner(transport, sdk_at(sdk_root()), dsp_arch)
        return runner_of(self.row, transport)


def device_named(text: str, access: Access, *, data: Path | None, user: str | None, seed: int = 0) -> Reachable:
    """Raises `BadInput`. Without a data folder, or with an empty one, no server is asked for."""
    if data is None and user is None and not _has_database():
        return device_from(text, access, seed)
    try:
        owner = owner_of(data, user)
    except BadInput:
        if data is None and user is None:
            # A folder that lies there, such as the demo's, and nobody asked for: it has no device of anybody.
            return device_from(text, access, seed)
        raise
    from devices.models import Device

    found = Device.objects.of(owner).filter(name=text).first()
    if found is not None:
        return Registered(found)
    if data is not None and "@" not in text and text not in ("host", "local", "simulated"):
        # Whoever names the folder means a device in it, not a serial number.
        raise BadInput(NO_DEVICE.format(name=text, data=data))
    return device_from(text, access, seed)


def _has_database() -> bool:
    return "DATABASE_URL" in os.environ or (read_environment().data / DATABASE).is_file()
