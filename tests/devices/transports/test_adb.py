from __future__ import annotations

import threading
from pathlib import Path

import pytest

from devices.discovery import identify, read_noise
from devices.identifiers import AdbIdentifier
from devices.transports import adb
from devices.transports.adb import AdbTransport
from devices.transports.addresses import parse_networks
from devices.transports.base import scratch_folder
from devices.transports.errors import (
    AddressRefused,
    DeviceFull,
    DeviceMissing,
    DeviceOffline,
    Disconnected,
    FileTooLarge,
    HashMismatch,
    ToolMissing,
    Unauthorized,
    Unreachable,
)
from tests.devices.adb_server import AdbServer
from tests.devices.openssh import free_port
from tests.devices.transports.conftest import NETWORKS, Attached
from tests.devices.transports.test_transports import made
from tests.processes import wait_for_file


def test_a_phone_says_what_it_is(attached: Attached) -> None:
    _, transport = attached()
    found = identify(transport)
    assert (found.soc_name, found.soc_model, found.system, found.is_emulated) == ("SM8650", 57, "Android 15", False)


def test_a_phone_says_how_warm_and_how_charged_it_is(attached: Attached) -> None:
    _, transport = attached()
    noise = read_noise(transport)
    assert (noise.thermal_status, noise.battery_percent, noise.is_powered) == (2, 87, True)


def test_an_unauthorized_phone_is_told(attached: Attached) -> None:
    with pytest.raises(Unauthorized, match="allow USB debugging") as caught:
        attached(is_unauthorized=True)
    assert not caught.value.is_transient


def test_a_phone_that_is_not_attached_is_told(adb_server: AdbServer) -> None:
    with pytest.raises(DeviceMissing, match="not attached"):
        AdbTransport(AdbIdentifier("R5CT000000", "127.0.0.1", adb_server.port), networks=NETWORKS)


def test_a_phone_that_went_away_is_told(attached: Attached, adb_server: AdbServer) -> None:
    device, transport = attached()
    device.behaviour.is_silent = True
    device.unplug()
    adb_server.say("-s", transport.identifier.serial, "wait-for-disconnect")
    with pytest.raises((DeviceOffline, DeviceMissing)) as caught:
        transport.run(["true"])
    assert caught.value.is_transient


def test_a_phone_unplugged_in_the_middle_of_a_command_is_told(attached: Attached, tmp_path: Path) -> None:
    device, transport = attached()
    told = tmp_path / "told"
    unplug = threading.Thread(target=lambda: (wait_for_file(told), device.unplug()))
    unplug.start()
    with pytest.raises(Disconnected, match="broke off"):
        transport.run(["sh", "-c", f"touch {told}; exec sleep 2"])
    unplug.join()


def test_the_words_of_a_program_are_not_taken_for_adbs_own(attached: Attached, tmp_path: Path) -> None:
    device, transport = attached()
    told = tmp_path / "told"
    unplug = threading.Thread(target=lambda: (wait_for_file(told), device.unplug()))
    unplug.start()
    with pytest.raises(Disconnected):
        transport.run(["sh", "-c", f"echo unauthorized, No space left >&2; touch {told}; exec sleep 2"])
    unplug.join()


def test_a_phone_that_hangs_is_told(attached: Attached, monkeypatch: pytest.MonkeyPatch) -> None:
    device, transport = attached()
    monkeypatch.setattr(adb, "STATE_TIMEOUT_S", 0.5)
    device.behaviour.hangs_in = "shell"
    with pytest.raises(DeviceOffline, match="stopped answering"):
        transport.run(["true"], timeout_s=0.5)


def test_a_push_that_breaks_off_leaves_nothing_under_the_files_name(attached: Attached, tmp_path: Path) -> None:
    device, transport = attached()
    device.behaviour.drops_push_after = 100_000
    with pytest.raises(Disconnected):
        transport.push(made(tmp_path / "file.bin"), "/data/local/tmp/file.bin")
    assert not (device.folder / "tmp" / "file.bin").exists()


def test_a_push_that_arrives_short_is_repeated_once_and_then_refused(attached: Attached, tmp_path: Path) -> None:
    device, transport = attached(shortens_pushes_by=10)
    with pytest.raises(HashMismatch, match="arrived changed"):
        transport.push(made(tmp_path / "file.bin"), "/data/local/tmp/file.bin")
    assert device.pushes == 2
    assert list((device.folder / "tmp").iterdir()) == []


def test_a_full_phone_is_told(attached: Attached, tmp_path: Path) -> None:
    _, transport = attached(is_full=True)
    with pytest.raises(DeviceFull, match="is full"):
        transport.push(made(tmp_path / "file.bin"), "/data/local/tmp/file.bin")


@pytest.mark.parametrize("told", [0, 10, 2**31])
def test_a_size_that_is_a_lie_changes_nothing(attached: Attached, tmp_path: Path, told: int) -> None:
    _, transport = attached(tells_size=told)
    local = made(tmp_path / "file.bin")
    transport.push(local, "/data/local/tmp/file.bin")
    transport.pull("/data/local/tmp/file.bin", tmp_path / "back", limit_bytes=1_000_000)
    assert (tmp_path / "back").read_bytes() == local.read_bytes()


def test_a_phone_that_sends_something_else_is_refused(attached: Attached, tmp_path: Path) -> None:
    _, transport = attached(sends_bytes=10)
    transport.push(made(tmp_path / "file.bin"), "/data/local/tmp/file.bin")
    with pytest.raises(HashMismatch, match="arrived changed"):
        transport.pull("/data/local/tmp/file.bin", tmp_path / "back", limit_bytes=1_000_000)
    assert not (tmp_path / "back").exists()


def test_a_phone_that_sends_more_than_it_said_is_stopped(attached: Attached, tmp_path: Path) -> None:
    _, transport = attached(sends_bytes=5_000_000)
    transport.push(made(tmp_path / "file.bin"), "/data/local/tmp/file.bin")
    with pytest.raises(FileTooLarge):
        transport.pull("/data/local/tmp/file.bin", tmp_path / "back", limit_bytes=1_000_000)
    assert [path.name for path in tmp_path.glob("back*")] == []


def test_what_was_given_to_an_old_adbd_to_read_is_removed(attached: Attached) -> None:
    device, transport = attached(has_shell_v2=False)
    assert transport.run(["cat"], stdin=b"hello").stdout == "hello"
    assert list((device.folder / "tmp").iterdir()) == []


def test_an_adb_server_that_is_not_there_is_told() -> None:
    with pytest.raises(Unreachable, match="adb server"):
        AdbTransport(AdbIdentifier("R5CT000000", "127.0.0.1", free_port()), networks=NETWORKS)


def test_an_adb_server_is_connected_to_by_ipv6_too() -> None:
    with pytest.raises(Unreachable, match="Connection refused"):
        AdbTransport(AdbIdentifier("R5CT000000", "::1", free_port()), networks=NETWORKS)


def test_an_adb_server_out_of_the_allowed_networks_is_not_connected_to() -> None:
    with pytest.raises(AddressRefused):
        AdbTransport(AdbIdentifier("R5CT000000", "127.0.0.1"), networks=parse_networks("10.0.0.0/8"))


def test_a_server_without_adb_says_so() -> None:
    with pytest.raises(ToolMissing, match="not installed"):
        AdbTransport(AdbIdentifier("R5CT000000"), adb="no-such-adb")


def test_a_scratch_folder_of_a_phone_that_went_away_raises_nothing_more(attached: Attached) -> None:
    device, transport = attached()
    with scratch_folder(transport):
        device.behaviour.is_silent = True
        device.unplug()
