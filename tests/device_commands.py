"""What the driver of a running server does with devices. Django is set up by who imports this."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from devices import actions as devices
from devices.models import Device, DeviceCheck, Hold
from tests.people import someone

STEP_S = 0.02


def register_simulated() -> int:
    """A simulated device, registered and to be checked; its id."""
    person = someone(f"person {os.getpid()} {time.monotonic_ns()}")
    asked = {"name": "simulated", "platform": "simulated", "transport": "simulated", "identifier": "", "labels": []}
    return int(devices.register({**asked, "soc": None, "python": ""}, person, person.team).pk)


def count_devices() -> int:
    return Device.objects.count()


def check(device: int) -> int:
    row = Device.objects.get(pk=device)
    return int(devices.check(row, row.owner).pk)


def until_check_runs(pk: int) -> None:
    until(lambda: Hold.objects.filter(work__startswith=f"devices.DeviceCheck:{pk}:").exists(), 60.0, "no check ran")


def until_check_ends(pk: int, timeout_s: float = 60.0) -> dict[str, Any]:
    row = DeviceCheck.objects.select_related("device")
    until(lambda: not row.get(pk=pk).is_live, timeout_s, "the check does not end")
    ended = row.get(pk=pk)
    held = Hold.objects.filter(device=ended.device).exists()
    return {"state": str(ended.state), "is_healthy": ended.device.is_healthy, "rescues": ended.rescues, "held": held}


def until(is_so: Callable[[], bool], timeout_s: float, otherwise: str) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(STEP_S)


COMMANDS = (register_simulated, count_devices, check, until_check_runs, until_check_ends)
