"""What people ask for."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from devices import lifecycle
from devices.models import Device, DeviceCheck, SecretKind
from devices.secrets import write_secret
from tunerweb.accounts.models import Team, User

BUSY = "{holder} has the device now, since {since:%H:%M}. Cancel it, or wait until it is done."


class NotNow(Exception):
    """What was asked for cannot be done at the moment. The message is one sentence for the person who asked."""


def register(asked: dict[str, Any], by: User, team: Team) -> Device:
    """The device, its secrets and its first check, or nothing."""
    with transaction.atomic():
        device: Device = Device.objects.create(
            team=team,
            owner=by,
            name=asked["name"],
            platform=asked["platform"],
            transport=asked["transport"],
            identifier=asked["identifier"],
            soc_model=asked["soc"],
            soc_is_chosen=asked["soc"] is not None,
            labels=asked["labels"],
            python=asked["python"] or "python3",
        )
        write_secrets(device, asked)
        lifecycle.request_check(device, by)
    return device


def write_secrets(device: Device, asked: dict[str, Any]) -> None:
    for kind in SecretKind:
        if text := asked.get(kind.value):
            write_secret(device, kind, text)


def check(device: Device, by: User) -> DeviceCheck:
    return lifecycle.request_check(device, by)


def delete(device: Device) -> None:
    """Not while somebody has it. Raises `NotNow`."""
    with transaction.atomic():
        hold = getattr(device, "hold", None)
        if hold is not None:
            raise NotNow(BUSY.format(holder=hold.holder.capitalize(), since=hold.since))
        device.delete()
