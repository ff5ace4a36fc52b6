"""Checks of devices as their workers do them, with the real compiler and the real runners."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from devices import lifecycle
from devices.models import Device, DeviceCheck, Hold, Platform, Reach, SecretKind, TransportKind
from devices.secrets import write_secret
from sweeps.jobs import devices as jobs
from tests.devices.registered import registered
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db(transaction=True)
# Nobody can read it but asyncssh: it lets nobody in anywhere.
HOST: dict[str, Any] = {"platform": Platform.HOST, "transport": TransportKind.LOCAL}


def after_check(device: Device) -> tuple[Device, DeviceCheck]:
    lifecycle.request_check(device, device.owner)
    claimed = lifecycle.claim_check(device, "device@here")
    assert claimed
    jobs.do_check(*claimed)
    device.refresh_from_db()
    claimed[0].refresh_from_db()
    return device, claimed[0]


def states(check: DeviceCheck) -> list[str]:
    return [step["state"] for step in check.steps]


def test_this_host_passes_its_check() -> None:
    device, check = after_check(registered(**HOST))
    assert (states(check), device.is_healthy, device.reach) == (["done"] * 5, True, Reach.ONLINE)


def test_the_times_of_this_host_are_emulated() -> None:
    device, _ = after_check(registered(**HOST))
    assert (device.facts["timing"], device.facts["is_emulated"]) == ("emulated", True)


def test_a_simulated_device_passes_and_says_what_it_is() -> None:
    device, check = after_check(registered())
    assert (states(check), device.facts["timing"]) == (["done"] * 5, "simulated")
    assert "made up" in check.steps[1]["sentence"]


def test_the_device_is_free_after_its_check() -> None:
    after_check(registered())
    assert not Hold.objects.exists()


def test_a_board_where_nobody_answers_is_offline_and_the_rest_is_not_tried() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    board = registered(platform=Platform.LINUX, transport=TransportKind.SSH, identifier=f"root@127.0.0.1:{port}")
    write_secret(board, SecretKind.PASSWORD, "x")
    device, check = after_check(board)
    assert states(check) == ["failed", "skipped", "skipped", "skipped", "skipped"]
    assert (device.is_healthy, device.reach) == (False, Reach.OFFLINE)
    assert "refuses connections" in device.health_reason


def test_an_address_out_of_the_allowed_networks_is_refused() -> None:
    board = registered(platform=Platform.LINUX, transport=TransportKind.SSH, identifier="root@8.8.8.8")
    device, _ = after_check(board)
    assert "not in the networks that this server may connect to" in device.health_reason


def test_an_error_of_ours_frees_the_device_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "connect", lambda _device: 1 / 0)
    _, check = after_check(registered())
    assert (check.state, Hold.objects.exists()) == (WorkState.FAILED, False)
    assert "ZeroDivisionError" in check.reason
