"""What is attached to this machine, and what a device is: its SoC, its system, whether it is an emulator."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from functools import cache

from devices.targets import SOCS_FILE, TargetError, find_target
from devices.transports.base import Transport
from devices.transports.errors import ToolMissing, Unreachable
from devices.transports.local import KEPT
from devices.transports.processes import run_process

LIST_TIMEOUT_S = 15.0
HEADER = "List of devices attached"
ADB_KEPT = (*KEPT, "ANDROID_ADB_SERVER_PORT", "ADB_VENDOR_KEYS")
WIRELESS = re.compile(r":\d+$|_adb-tls-connect\._tcp")
# The longest first: `no permissions` has a space in it, and an explanation after it.
STATES = {
    "no permissions": "This server may not open the USB device: install the udev rules for Android and unplug it once.",
    "unauthorized": "It does not trust this server yet. Unlock its screen and allow USB debugging.",
    "authorizing": "It is being asked whether it trusts this server. Look at its screen.",
    "connecting": "It is being connected. Wait a moment.",
    "bootloader": "It is in its boot loader, where nothing can be run. Start Android on it.",
    "recovery": "It is in recovery mode, where nothing can be run. Start Android on it.",
    "sideload": "It waits for an update to be sent. Start Android on it.",
    "detached": "Another program has it. End that program.",
    "offline": "It is attached and does not answer. Unplug it and plug it in again.",
    "rescue": "It is in rescue mode, where nothing can be run. Start Android on it.",
    "device": "",
    "host": "It is the other end of a cable that runs adb itself, and no device to run on.",
}
UNKNOWN_STATE = (
    "adb says that it is in the state {state!r}, which is not known here. Only one in the state `device` can be used."
)
NO_NPU = "It is an Android emulator: it has no NPU."


@dataclass(frozen=True)
class AttachedDevice:
    """One line of `adb devices -l`. `sentence` says why it cannot be used, or what to know of it."""

    serial: str
    state: str
    sentence: str
    model: str = ""

    @property
    def is_usable(self) -> bool:
        return self.state == "device" and not self.is_emulator

    @property
    def is_emulator(self) -> bool:
        return self.serial.startswith("emulator-")

    @property
    def is_wireless(self) -> bool:
        return bool(WIRELESS.search(self.serial))


@dataclass(frozen=True)
class Identity:
    """What a device says of itself. `soc_model` is Qualcomm's number, or None where nothing names a SoC with an HTP."""

    soc_name: str
    soc_model: int | None
    machine: str
    system: str
    source: str
    is_emulated: bool


@dataclass(frozen=True)
class Noise:
    """Readings that tell a disturbed measurement. None where the device does not say.

    `thermal_status` is Android's, from 0 (none) to 6 (shutdown). `boot_id` is another after a restart; "" where it is
    not told.
    """

    npu_millicelsius: int | None = None
    thermal_status: int | None = None
    battery_percent: int | None = None
    is_powered: bool | None = None
    load: float | None = None
    boot_id: str = ""


def attached_devices(adb: str = "adb") -> list[AttachedDevice]:
    """Raises `ToolMissing` or `Unreachable`."""
    program = shutil.which(adb)
    if program is None:
        raise ToolMissing("adb is not installed on this server, so nothing attached by USB can be found.")
    environment = {name: os.environ[name] for name in ADB_KEPT if name in os.environ}
    ended = run_process([program, "devices", "-l"], environment=environment, timeout_s=LIST_TIMEOUT_S)
    if ended.why or ended.exit_code != 0:
        last = ended.stderr.strip().rpartition("\n")[2]
        raise Unreachable(f"The adb server on this machine does not answer ({last or 'no word in time'}).")
    return parse_adb_devices(ended.stdout)


def parse_adb_devices(text: str) -> list[AttachedDevice]:
    """Everything before the header is the adb server starting."""
    _, header, listed = text.partition(HEADER)
    return [_attached(line) for line in listed.splitlines() if line.strip()] if header else []


def _attached(line: str) -> AttachedDevice:
    serial, _, rest = line.strip().partition("\t")
    if not rest:
        serial, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    model = re.search(r"\bmodel:(\S+)", rest)
    state = next((state for state in STATES if re.match(rf"{state}\b", rest)), rest.partition(" ")[0])
    sentence = STATES.get(state, UNKNOWN_STATE.format(state=state))
    device = AttachedDevice(serial, state, sentence, model[1].replace("_", " ") if model else "")
    if state == "device" and device.is_emulator:
        return AttachedDevice(serial, state, NO_NPU, device.model)
    return device


ASK = r"""
echo "machine=$(uname -m)"
echo "system=$(uname -sr)"
if command -v getprop >/dev/null 2>&1; then
  echo "model=$(getprop ro.soc.model)"
  echo "board=$(getprop ro.board.platform)"
  echo "system=Android $(getprop ro.build.version.release)"
fi
for name in soc_id machine; do
  [ -r /sys/devices/soc0/$name ] && echo "soc0_$name=$(cat /sys/devices/soc0/$name)"
done
[ -r /proc/device-tree/compatible ] && echo "tree=$(tr '\0' ' ' </proc/device-tree/compatible)"
true
"""
# Code names of boards, where nothing else tells the SoC.
BOARDS = {"lahaina": "SM8350", "taro": "SM8450", "kalama": "SM8550", "pineapple": "SM8650", "sun": "SM8750"}
EMULATING_MACHINES = ("x86_64", "amd64", "AMD64")


def identify(transport: Transport) -> Identity:
    said = dict(line.split("=", 1) for line in transport.run(["sh", "-c", ASK]).stdout.splitlines() if "=" in line)
    name, source = _soc_named(said)
    machine = said.get("machine", "")
    return Identity(
        soc_name=name,
        soc_model=_soc_model(name),
        machine=machine,
        system=said.get("system", ""),
        source=source,
        is_emulated=machine in EMULATING_MACHINES,
    )


def _soc_named(said: dict[str, str]) -> tuple[str, str]:
    """The first that tells: three number spaces must not be mixed, so numbers are only looked up in their own."""
    if said.get("model"):
        return said["model"], "ro.soc.model"
    if name := _kernel_names().get(said.get("soc0_soc_id", "")):
        return name, "the kernel's soc_id"
    if said.get("soc0_machine"):
        return said["soc0_machine"], "/sys/devices/soc0"
    if name := BOARDS.get(said.get("board", "")):
        return name, "ro.board.platform"
    for part in said.get("tree", "").split():
        name = part.rpartition(",")[2].upper()
        if part.startswith("qcom,") and _soc_model(name) is not None:
            return name, "the device tree"
    return "", ""


@cache
def _kernel_names() -> dict[str, str]:
    rows = json.loads(SOCS_FILE.read_text(encoding="utf-8"))
    return {number: name for row in rows for number, name in row.get("kernel_soc_ids", {}).items()}


def _soc_model(name: str) -> int | None:
    try:
        return find_target(name).soc_model if name else None
    except TargetError:
        return None


NOISE = r"""
for zone in /sys/class/thermal/thermal_zone*; do
  [ -r "$zone/type" ] && echo "zone $(cat "$zone/type") $(cat "$zone/temp" 2>/dev/null)"
done
[ -r /proc/sys/kernel/random/boot_id ] && echo "boot $(cat /proc/sys/kernel/random/boot_id)"
[ -r /proc/loadavg ] && echo "load $(cut -d' ' -f1 /proc/loadavg)"
if command -v dumpsys >/dev/null 2>&1; then
  dumpsys battery 2>/dev/null | grep -E 'level|powered' | sed 's/^ */battery /'
  dumpsys thermalservice 2>/dev/null | sed -n 's/^ *Thermal Status: */thermal /p'
fi
true
"""
NPU_ZONE = re.compile(r"^(nsp|cdsp|npu)", re.IGNORECASE)


def read_noise(transport: Transport) -> Noise:
    """The hottest of the NPU's zones; zones are told by type, since their numbers differ from device to device."""
    lines = [line.split() for line in transport.run(["sh", "-c", NOISE]).stdout.splitlines()]
    zones = [int(line[2]) for line in lines if len(line) == 3 and line[0] == "zone" and _is_npu(line)]
    told = {line[0]: line[1] for line in lines if len(line) == 2}
    battery = {line[1].rstrip(":"): line[-1] for line in lines if line[:1] == ["battery"] and len(line) > 2}
    return Noise(
        npu_millicelsius=max(zones, default=None),
        thermal_status=_number(told.get("thermal", "")),
        battery_percent=_number(battery.get("level", "")),
        is_powered="true" in battery.values() if battery else None,
        load=float(told["load"]) if "load" in told else None,
        boot_id=told.get("boot", ""),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _is_npu(line: list[str]) -> bool:
    return bool(NPU_ZONE.match(line[1])) and line[2].lstrip("-").isdecimal()
