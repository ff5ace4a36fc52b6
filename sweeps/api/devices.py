"""Devices: register one, test it, see how it is. Secrets go in and never come out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ninja import Field, Query, Router, Schema, Status

from devices import actions
from devices.forms import LONGEST_SECRET, DeviceForm, DeviceRejected
from devices.models import Device
from devices.rows import device_row
from sweeps.api.refusals import CONFLICTS, INVALID, REFUSED
from sweeps.api.values import Asked, Line, Page, Slice, Text, TokenRequest, found, mine, page_of, team_of

router = Router(tags=["devices"])


class DeviceOut(Schema):
    """`state` is what it does now, `is_healthy` what its last test said. `timing`: measured, emulated or simulated."""

    id: str
    name: str
    platform: str
    transport: str
    identifier: str
    soc_model: int | None
    soc: str
    labels: list[str]
    state: str
    reason: str
    is_healthy: bool | None
    unhealthy_since: datetime | None
    checked_at: datetime | None
    runtime: str
    timing: str
    secrets: list[str]


class StepOut(Schema):
    name: str
    state: str
    sentence: str
    took_us: int


class CheckOut(Schema):
    id: str
    state: str
    reason: str
    steps: list[StepOut]


class NewDevice(Asked):
    """`platform`: android, linux, windows, host or simulated; `transport` where that leaves it open: ssh or adb."""

    name: Line
    platform: Line
    transport: Line = "ssh"
    identifier: Line = ""
    private_key: Text = Field("", max_length=LONGEST_SECRET)
    password: Text = Field("", max_length=LONGEST_SECRET)
    python: Line = ""
    soc: Line = ""
    labels: list[Line] = Field(default_factory=list)


@router.get("/devices", response={200: Page[DeviceOut], **REFUSED}, summary="All devices")
def device_list(request: TokenRequest, asked: Query[Slice]) -> Any:
    rows = mine(request, Device.objects.with_last_check()).prefetch_related("secrets").order_by("name", "pk")
    return page_of(rows, asked, _devices_out)


@router.post("/devices", response={201: DeviceOut, **INVALID}, summary="Register a device, which is tested at once")
def device_add(request: TokenRequest, device: NewDevice) -> Any:
    form = DeviceForm(device.model_dump() | {"labels": ",".join(device.labels)}, team=team_of(request))
    if not form.is_valid():
        raise DeviceRejected(form)
    made = actions.register(form.cleaned_data, request.user, form.team)
    return Status(201, _device_out(_one(request, made.public_id)))


@router.get("/devices/{device_id}", response={200: DeviceOut, **REFUSED}, summary="One device")
def device_read(request: TokenRequest, device_id: str) -> Any:
    return _device_out(_one(request, device_id))


@router.post("/devices/{device_id}/checks", response={201: CheckOut, **REFUSED}, summary="Test the connection")
def device_check(request: TokenRequest, device_id: str) -> Any:
    return Status(201, _check_out(actions.check(_one(request, device_id), request.user)))


@router.get("/devices/{device_id}/checks/{check_id}", response={200: CheckOut, **REFUSED}, summary="One test")
def device_check_read(request: TokenRequest, device_id: str, check_id: str) -> Any:
    return _check_out(found(request, _one(request, device_id).checks.all(), check_id))


@router.delete("/devices/{device_id}", response={204: None, **CONFLICTS}, summary="Remove a device")
def device_delete(request: TokenRequest, device_id: str) -> Any:
    actions.delete(_one(request, device_id))
    return Status(204, None)


def _one(request: TokenRequest, device_id: str) -> Device:
    device: Device = found(request, Device.objects.with_last_check(), device_id)
    return device


def _devices_out(devices: Sequence[Device]) -> list[dict[str, Any]]:
    return [_device_out(device) for device in devices]


def _device_out(device: Device) -> dict[str, Any]:
    row = device_row(device)
    shown = ("name", "platform", "transport", "identifier", "soc_model", "labels", "is_healthy", "unhealthy_since")
    return {
        "id": device.public_id,
        **{name: getattr(device, name) for name in (*shown, "checked_at")},
        "soc": row.soc,
        "state": row.state,
        "reason": row.reason,
        "runtime": device.facts.get("runtime", ""),
        "timing": device.facts.get("timing", ""),
        "secrets": sorted(secret.kind for secret in device.secrets.all()),
    }


def _check_out(check: Any) -> dict[str, Any]:
    return {"id": check.public_id, "state": check.state, "reason": check.reason, "steps": check.steps}
