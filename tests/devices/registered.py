"""Devices in the test database."""

from __future__ import annotations

from typing import Any

from devices.models import Device, Platform, TransportKind
from tests.people import someone
from tunerweb.accounts.models import User


def registered(owner: User | None = None, name: str = "board", **fields: Any) -> Device:
    owner = owner or someone()
    kept: Device = Device.objects.create(
        **{
            "team": owner.team,
            "owner": owner,
            "name": name,
            "platform": Platform.SIMULATED,
            "transport": TransportKind.SIMULATED,
            **fields,
        }
    )
    return kept
