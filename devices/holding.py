"""One holder at a time: whoever works on a device has its one row in `Hold`, and that row lives as long as the work."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import IntegrityError, transaction

from devices.models import Device, Hold
from tunerweb.work.leases import Lease, LeasedWork, WorkState, claim


def claim_with_device(row: LeasedWork, device: Device, worker: str, holder: str) -> Lease | None:
    """Both or nothing: None when the device is held, or somebody else took the row."""
    try:
        with transaction.atomic():
            lease = claim(row, worker)
            if lease is not None:
                Hold.objects.create(device=device, work=_named(lease), holder=holder[:200])
            return lease
    except IntegrityError:
        return None


def release(lease: Lease) -> None:
    """Inside the transaction that ends the work."""
    Hold.objects.filter(work=_named(lease)).delete()


def release_where_over() -> None:
    """Holds of work that has ended, or that somebody else does now."""
    for hold in Hold.objects.all():
        if not _is_running(hold.work):
            Hold.objects.filter(pk=hold.pk, work=hold.work).delete()


def _named(lease: Lease) -> str:
    return f"{lease.model._meta.label}:{lease.pk}:{lease.fence}"


def _is_running(work: str) -> bool:
    label, pk, fence = work.split(":")
    model: Any = apps.get_model(label)
    found: bool = model.objects.filter(pk=pk, fence=fence, state=WorkState.RUNNING).exists()
    return found
