from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from devices.discovery import STATES, attached_devices, identify, parse_adb_devices, read_noise
from devices.transports.base import CommandResult
from devices.transports.errors import ToolMissing, Unreachable
from devices.transports.local import LocalTransport
from tests.devices.adb_server import AdbServer
from tests.devices.fake_adbd import Behaviour, running_fake_adbd

LISTED = """* daemon not running; starting now at tcp:5037
* daemon started successfully *
List of devices attached
AAAA1111\tdevice usb:1-2 product:foo model:Foo_1 device:foo transport_id:3
BBBB2222\tunauthorized usb:1-3
CCCC3333\toffline
????????????\tno permissions (user not in plugdev group); see [http://developer.android.com/tools/device.html]
10.0.0.9:5555\tdevice
DDDD4444\trecovery
emulator-5554\tdevice

"""
LONG = """List of devices attached
127.0.0.1:25555        device product:kalama model:Fake_Phone device:kalama transport_id:1
127.0.0.1:25556        unauthorized transport_id:2
adb-R5x._adb-tls-connect._tcp device product:sun model:S_25 device:sun transport_id:4
E1  no permissions; see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:5
E2  dancing transport_id:6
"""


def test_every_line_is_one_device() -> None:
    assert [device.serial for device in parse_adb_devices(LISTED)] == [
        "AAAA1111",
        "BBBB2222",
        "CCCC3333",
        "????????????",
        "10.0.0.9:5555",
        "DDDD4444",
        "emulator-5554",
    ]


def test_only_a_phone_that_trusts_this_server_can_be_chosen() -> None:
    usable = [device.serial for device in parse_adb_devices(LISTED) if device.is_usable]
    assert usable == ["AAAA1111", "10.0.0.9:5555"]


def test_each_other_state_has_a_remedy_of_its_own() -> None:
    sentences = [device.sentence for device in parse_adb_devices(LISTED) if not device.is_usable]
    assert all(sentences)
    assert len(set(sentences)) == len(sentences)


def test_no_permissions_is_one_state() -> None:
    assert [device.state for device in parse_adb_devices(LISTED)][3] == "no permissions"
    assert parse_adb_devices(LONG)[3].state == "no permissions"


def test_an_android_emulator_is_marked() -> None:
    assert "no NPU" in parse_adb_devices(LISTED)[-1].sentence


@pytest.mark.parametrize(("number", "is_wireless"), [(0, True), (2, True), (3, False)])
def test_a_phone_over_the_network_is_told_from_one_on_a_cable(number: int, is_wireless: bool) -> None:
    assert parse_adb_devices(LONG)[number].is_wireless is is_wireless


def test_the_model_is_read() -> None:
    assert parse_adb_devices(LONG)[0].model == "Fake Phone"


def test_a_state_that_nobody_knows_is_told() -> None:
    device = parse_adb_devices(LONG)[4]
    assert (device.state, device.is_usable) == ("dancing", False)
    assert "dancing" in device.sentence


@pytest.mark.parametrize("state", STATES)
def test_every_known_state_is_told_from_the_others(state: str) -> None:
    assert parse_adb_devices(f"List of devices attached\nX1\t{state}\n")[0].state == state


@pytest.mark.parametrize("text", ["", "* daemon started successfully *\n", "List of devices attached\n\n"])
def test_nothing_attached_is_an_empty_list(text: str) -> None:
    assert parse_adb_devices(text) == []


def test_the_real_adb_lists_what_is_attached(
    adb_server: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(adb_server.port))
    with (
        running_fake_adbd(tmp_path / "good") as good,
        running_fake_adbd(tmp_path / "closed", Behaviour(is_unauthorized=True)) as closed,
        running_fake_adbd(tmp_path / "away") as away,
    ):
        ours = [adb_server.attach(device) for device in (good, closed, away)]
        away.behaviour.is_silent = True
        away.unplug()
        adb_server.say("-s", ours[2].serial, "wait-for-disconnect")
        found = {device.serial: device.state for device in attached_devices()}
        for identifier in ours:
            adb_server.detach(identifier)
    states = [found[identifier.serial] for identifier in ours]
    # adb says `authorizing` until it has offered its last key.
    assert states in (["device", "unauthorized", "offline"], ["device", "authorizing", "offline"])


def test_a_server_without_adb_says_so() -> None:
    with pytest.raises(ToolMissing, match="not installed"):
        attached_devices("no-such-adb")


def test_an_adb_that_fails_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "adb"
    broken.write_text("#!/bin/sh\necho 'error: protocol fault' >&2\nexit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(Unreachable, match="protocol fault"):
        attached_devices(str(broken))


class Told(LocalTransport):
    """A device that gives one answer."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self._answer = answer

    def run(self, *args: object, **kwargs: object) -> CommandResult:
        return CommandResult(0, self._answer, "", 0)


@pytest.mark.parametrize(
    ("answer", "name", "soc_model", "source"),
    [
        ("model=SM8550\nboard=kalama\n", "SM8550", 43, "ro.soc.model"),
        ("model=\nboard=pineapple\nsoc0_soc_id=557\n", "SM8650", 57, "the kernel's soc_id"),
        ("soc0_soc_id=618\n", "SM8750", 69, "the kernel's soc_id"),
        ("soc0_soc_id=498\n", "QCS6490", 93, "the kernel's soc_id"),
        ("board=sun\n", "SM8750", 69, "ro.board.platform"),
        ("tree=qcom,qcs6490-rb3gen2 qcom,qcm6490\n", "QCM6490", 93, "the device tree"),
        ("machine=aarch64\n", "", None, ""),
    ],
)
def test_the_soc_is_read_from_whatever_tells_it(answer: str, name: str, soc_model: int | None, source: str) -> None:
    found = identify(Told(answer))
    assert (found.soc_name, found.soc_model, found.source) == (name, soc_model, source)


def test_a_kernels_number_is_not_taken_for_qualcomms() -> None:
    # 57 is SM8650 for QNN; the kernel has no such number.
    assert identify(Told("soc0_soc_id=57\n")).soc_model is None


def test_this_machine_is_an_emulator_when_it_is_x86(tmp_path: Path) -> None:
    assert identify(LocalTransport(tmp_path)).is_emulated is (os.uname().machine == "x86_64")


def test_the_hottest_npu_zone_counts() -> None:
    answer = "zone cpu-0 90000\nzone nsphvx-0 41000\nzone nsphmx-1 45500\nzone battery 30000\nzone nspss\nload 0.25\n"
    noise = read_noise(Told(answer))
    assert (noise.npu_millicelsius, noise.load) == (45500, 0.25)


def test_a_restart_shows_in_the_boot_id(tmp_path: Path) -> None:
    assert read_noise(LocalTransport(tmp_path)).boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_what_a_device_does_not_say_is_none() -> None:
    noise = read_noise(Told(""))
    assert (noise.npu_millicelsius, noise.battery_percent, noise.is_powered, noise.load) == (None, None, None, None)
