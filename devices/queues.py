"""Each device has a queue and a worker of its own."""

from __future__ import annotations

from devices.models import Device, DeviceCheck
from tunerweb.work.leases import WorkState

PREFIX = "device-"


def queue_of(pk: int) -> str:
    return f"{PREFIX}{pk}"


def device_of(queue: str) -> Device | None:
    number = queue.removeprefix(PREFIX)
    return Device.objects.filter(pk=number).first() if number.isdecimal() else None


def all_queues() -> list[str]:
    """What `tunerweb up` keeps a worker for."""
    return [queue_of(pk) for pk in Device.objects.order_by("pk").values_list("pk", flat=True)]


def queues_with_checks() -> list[str]:
    waiting = DeviceCheck.objects.filter(state=WorkState.QUEUED, device__hold=None).values_list("device_id", flat=True)
    return [queue_of(pk) for pk in sorted(set(waiting))]
