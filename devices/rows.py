"""A device as pages show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from devices.models import Device, Hold, Reach, TransportKind
from devices.targets import TargetError, find_target
from tunerweb.work.leases import WorkState

# State words of the page, with the icon of each.
ICONS = {
    "checking": "running",
    "quarantined": "paused",
    "held": "running",
    "offline": "failed",
    "unauthorized": "rejected",
    "failing": "failed",
    "idle": "done",
    "new": "queued",
}


@dataclass(frozen=True)
class DeviceRow:
    device: Device
    state: str
    reason: str
    soc: str
    is_simulated: bool
    is_emulated: bool

    @property
    def icon(self) -> str:
        return ICONS[self.state]


def device_rows(devices: Iterable[Device]) -> list[DeviceRow]:
    return [device_row(device) for device in devices]


def device_row(device: Device) -> DeviceRow:
    state, reason = _state(device)
    return DeviceRow(
        device=device,
        state=state,
        reason=reason,
        soc=_soc(device),
        is_simulated=device.transport == TransportKind.SIMULATED,
        is_emulated=bool(device.facts.get("is_emulated")),
    )


def _state(device: Device) -> tuple[str, str]:
    hold: Hold | None = getattr(device, "hold", None)
    checking = getattr(device, "last_check_state", None) in (WorkState.QUEUED, WorkState.RUNNING)
    if device.quarantined_at:
        return "quarantined", device.quarantine_reason
    if hold and not hold.work.startswith("devices.DeviceCheck:"):
        return "held", hold.holder
    if checking:
        return "checking", ""
    if device.reach in (Reach.OFFLINE, Reach.UNAUTHORIZED):
        return str(device.reach), device.reach_reason
    if device.is_healthy is None:
        return "new", ""
    return ("idle", "") if device.is_healthy else ("failing", device.health_reason)


def _soc(device: Device) -> str:
    if device.soc_model is None:
        return ""
    try:
        target: Any = find_target(device.soc_model)
    except TargetError:
        return str(device.soc_model)
    return f"{target.name} ({target.dsp_arch})"
