"""Every change of state of devices and their checks, each one transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from devices import holding
from devices.checking import Step
from devices.models import Device, DeviceCheck, Reach
from tunerweb.accounts.models import User
from tunerweb.work import hints, leases
from tunerweb.work.leases import MOST_WORKERS_TAKEN, Lease, WorkState

CHECK_AGAIN = timedelta(seconds=30)
WORKERS_DIED = "Checking it took {count} workers with it, so it is not tried again by itself. Look at the server's log."


@dataclass(frozen=True)
class Checked:
    """What a check came to. `reach` is set when the device could not be talked to."""

    is_healthy: bool
    reason: str
    reach: Reach
    soc_model: int | None
    facts: dict[str, Any]


def request_check(device: Device, by: User) -> DeviceCheck:
    """The one that waits already, or a new one."""
    with transaction.atomic():
        waiting: DeviceCheck | None = device.checks.filter(state=WorkState.QUEUED).first()
        transaction.on_commit(lambda: hints.push(device.queue))
        if waiting:
            return waiting
        try:
            with transaction.atomic():
                return DeviceCheck.objects.create(device=device, team=device.team, owner=by)
        except IntegrityError:
            return DeviceCheck.objects.get(device=device, state=WorkState.QUEUED)


def claim_check(device: Device, worker: str) -> tuple[DeviceCheck, Lease] | None:
    row = device.checks.filter(state=WorkState.QUEUED, cancel_requested_at=None).order_by("pk").first()
    if row is None:
        return None
    lease = holding.claim_with_device(row, device, worker, "a check")
    return (row, lease) if lease else None


def record_steps(lease: Lease, steps: list[Step]) -> None:
    lease.held.update(steps=[asdict(step) for step in steps])


def settle_check(lease: Lease, steps: list[Step], checked: Checked) -> bool:
    with transaction.atomic():
        ended = leases.settle(lease, WorkState.DONE, steps=[asdict(step) for step in steps], reason=checked.reason)
        if ended:
            _write(DeviceCheck.objects.get(pk=lease.pk).device, checked)
        holding.release(lease)
        return ended


def fail_check(lease: Lease, reason: str) -> None:
    with transaction.atomic():
        leases.settle(lease, WorkState.FAILED, reason=reason)
        holding.release(lease)


def hand_check_back(lease: Lease) -> None:
    with transaction.atomic():
        leases.put_back(lease)
        holding.release(lease)


def _write(device: Device, checked: Checked) -> None:
    now = timezone.now()
    since = None if checked.is_healthy else (device.unhealthy_since or now)
    chosen = device.soc_is_chosen or checked.soc_model is None
    Device.objects.filter(pk=device.pk).update(
        is_healthy=checked.is_healthy,
        health_reason=checked.reason,
        unhealthy_since=since,
        checked_at=now,
        reach=checked.reach,
        reach_reason="" if checked.reach == Reach.ONLINE else checked.reason,
        soc_model=device.soc_model if chosen else checked.soc_model,
        facts={**device.facts, **checked.facts},
    )


def went_away(device: Device, reach: Reach, reason: str) -> None:
    """In the middle of work. It is looked for again by itself, and work that waits for it goes on then."""
    now = timezone.now()
    Device.objects.filter(pk=device.pk).update(
        is_healthy=False,
        health_reason=reason,
        unhealthy_since=device.unhealthy_since or now,
        reach=reach,
        reach_reason=reason,
        checked_at=now,
    )


def pin_host_key(device: Device, host_key: str) -> None:
    """On first use only: a key that is known is never replaced here."""
    Device.objects.filter(pk=device.pk, host_key="").update(host_key=host_key)


def forget_host_key(device: Device) -> None:
    Device.objects.filter(pk=device.pk).update(host_key="")


def quarantine(device: Device, reason: str) -> None:
    Device.objects.filter(pk=device.pk).update(quarantined_at=timezone.now(), quarantine_reason=reason)


def end_quarantine(device: Device) -> None:
    Device.objects.filter(pk=device.pk).update(quarantined_at=None, quarantine_reason="")


def reconcile() -> None:
    """What others left: checks of dead workers, holds of work that is over, devices that may be back."""
    for row in leases.expired(DeviceCheck).order_by("pk"):
        _rescue(row)
    holding.release_where_over()
    _look_again()


def _rescue(row: DeviceCheck) -> None:
    with transaction.atomic():
        if row.rescues + 1 >= MOST_WORKERS_TAKEN:
            reason = WORKERS_DIED.format(count=row.rescues + 1)
            leases.rescue(row, WorkState.FAILED, reason=reason)
        elif DeviceCheck.objects.filter(device=row.device_id, state=WorkState.QUEUED).exists():
            leases.rescue(row, WorkState.CANCELLED, reason="A newer check took its place.")
        else:
            leases.rescue(row)


def _look_again() -> None:
    """A device that could not be talked to is tried again, so that work that waits for it goes on by itself."""
    away = Device.objects.filter(
        is_healthy=False, reach__in=(Reach.OFFLINE, Reach.UNAUTHORIZED), quarantined_at=None, hold=None
    )
    live = DeviceCheck.objects.filter(state__in=leases.LIVE).values("device")
    for device in away.filter(checked_at__lt=timezone.now() - CHECK_AGAIN).exclude(pk__in=live):
        request_check(device, device.owner)
