"""One holder at a time, and what a check does to its device."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from devices import lifecycle
from devices.checking import Step, StepState
from devices.holding import release_where_over
from devices.lifecycle import Checked
from devices.models import Device, DeviceCheck, Hold, Reach
from devices.queues import all_queues, device_of, queues_with_checks
from tests.devices.registered import registered
from tunerweb.work import leases
from tunerweb.work.leases import Lease, WorkState

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = [Step("reached and let in", StepState.DONE, "It answers.", 1000)]


def checked(**fields: Any) -> Checked:
    return Checked(**{"is_healthy": True, "reason": "", "reach": Reach.ONLINE, "soc_model": 57, "facts": {}, **fields})


def claimed(device: Device) -> tuple[DeviceCheck, Lease]:
    lifecycle.request_check(device, device.owner)
    found = lifecycle.claim_check(device, "device@here")
    assert found is not None
    return found


def expire(row: DeviceCheck) -> None:
    DeviceCheck.objects.filter(pk=row.pk).update(lease_until=0.0)


def test_a_check_that_waits_is_not_asked_for_twice() -> None:
    device = registered()
    assert lifecycle.request_check(device, device.owner) == lifecycle.request_check(device, device.owner)


def test_a_check_takes_the_device() -> None:
    device = registered()
    claimed(device)
    assert Hold.objects.get().device == device


def test_nobody_else_gets_a_device_that_is_held() -> None:
    device = registered()
    claimed(device)
    lifecycle.request_check(device, device.owner)
    assert lifecycle.claim_check(device, "another@here") is None
    assert device.checks.filter(state=WorkState.QUEUED).count() == 1


def test_the_database_itself_allows_one_holder() -> None:
    device = registered()
    claimed(device)
    with pytest.raises(IntegrityError), transaction.atomic():
        Hold.objects.create(device=device, work="devices.DeviceCheck:0:0", holder="a forger")


def test_the_end_of_a_check_frees_the_device() -> None:
    device = registered()
    lifecycle.settle_check(claimed(device)[1], STEPS, checked())
    assert not Hold.objects.exists()


def test_a_check_writes_what_it_found() -> None:
    device = registered()
    lifecycle.settle_check(claimed(device)[1], STEPS, checked(facts={"runtime": "x 1"}))
    device.refresh_from_db()
    assert (device.is_healthy, device.reach, device.soc_model, device.facts) == (True, "online", 57, {"runtime": "x 1"})


def test_a_soc_that_was_chosen_is_not_overwritten() -> None:
    device = registered(soc_model=43, soc_is_chosen=True)
    lifecycle.settle_check(claimed(device)[1], STEPS, checked())
    device.refresh_from_db()
    assert device.soc_model == 43


def test_a_failing_device_keeps_the_time_since_when() -> None:
    device = registered()
    sick = checked(is_healthy=False, reason="It has no room.")
    lifecycle.settle_check(claimed(device)[1], STEPS, sick)
    device.refresh_from_db()
    since = device.unhealthy_since
    lifecycle.settle_check(claimed(device)[1], STEPS, sick)
    device.refresh_from_db()
    assert (device.unhealthy_since, device.health_reason) == (since, "It has no room.")


def test_a_result_that_comes_after_the_lease_changes_nothing() -> None:
    device = registered()
    row, lease = claimed(device)
    expire(row)
    lifecycle.reconcile()
    assert not lifecycle.settle_check(lease, STEPS, checked())
    device.refresh_from_db()
    assert device.is_healthy is None


def test_a_holder_that_died_frees_the_device() -> None:
    device = registered()
    row, _ = claimed(device)
    expire(row)
    lifecycle.reconcile()
    assert not Hold.objects.exists()
    assert lifecycle.claim_check(device, "the next@here") is not None


def test_a_live_holder_keeps_the_device() -> None:
    claimed(registered())
    release_where_over()
    assert Hold.objects.count() == 1


def test_a_check_that_took_three_workers_is_not_tried_again() -> None:
    device = registered()
    row, _ = claimed(device)
    for _ in range(2):
        expire(row)
        lifecycle.reconcile()
        assert lifecycle.claim_check(device, "the next@here") is not None
    expire(row)
    lifecycle.reconcile()
    row.refresh_from_db()
    assert (row.state, "3 workers" in row.reason) == (WorkState.FAILED, True)


def test_a_check_that_is_handed_back_waits_again() -> None:
    device = registered()
    row, lease = claimed(device)
    lifecycle.hand_check_back(lease)
    row.refresh_from_db()
    assert (row.state, Hold.objects.exists()) == (WorkState.QUEUED, False)


def away_since(device: Device, ago: timedelta, **fields: Any) -> None:
    fields = {"is_healthy": False, "reach": Reach.OFFLINE, "checked_at": timezone.now() - ago, **fields}
    Device.objects.filter(pk=device.pk).update(**fields)


def test_a_device_that_was_away_is_tried_again_by_itself() -> None:
    device = registered()
    away_since(device, timedelta(minutes=1))
    lifecycle.reconcile()
    assert queues_with_checks() == [device.queue]


@pytest.mark.parametrize("field", ["reach", "quarantined_at", "checked_at"])
def test_no_other_device_is(field: str) -> None:
    fields = {"reach": Reach.ONLINE, "quarantined_at": timezone.now(), "checked_at": timezone.now()}
    away_since(registered(), timedelta(minutes=1), **{field: fields[field]})
    lifecycle.reconcile()
    assert queues_with_checks() == []


def test_a_host_key_is_pinned_once() -> None:
    device = registered()
    lifecycle.pin_host_key(device, "first")
    lifecycle.pin_host_key(device, "second")
    device.refresh_from_db()
    assert device.host_key == "first"


def test_each_device_has_a_queue() -> None:
    devices = [registered(), registered()]
    assert all_queues() == [device.queue for device in devices]
    assert [device_of(device.queue) for device in devices] == devices


@pytest.mark.parametrize("queue", ["device-0", "device-", "device-x", "compile"])
def test_a_queue_of_no_device_is_nobodys(queue: str) -> None:
    assert device_of(queue) is None


def test_only_healthy_devices_that_nobody_set_aside_are_scheduled() -> None:
    registered(name="new")
    well = registered(name="well", is_healthy=True)
    registered(name="sick", is_healthy=False)
    registered(name="aside", is_healthy=True, quarantined_at=timezone.now())
    assert list(Device.objects.schedulable()) == [well]


def test_the_lease_of_a_check_is_lost_when_somebody_cancels_it() -> None:
    row, lease = claimed(registered())
    DeviceCheck.objects.filter(pk=row.pk).update(cancel_requested_at=timezone.now())
    assert leases.cancel_requested(lease)
