"""What it takes to run a context binary on a device, and what comes back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from devices.targets import TargetError, find_target
from devices.transports.base import Cancelled

BUILD = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


class Timing(StrEnum):
    """Where times come from. The three never share a column, and only measured ones are ranked."""

    MEASURED = "measured"
    EMULATED = "emulated"
    SIMULATED = "simulated"


class RunnerError(Exception):
    """`message`: what happened, why, what to do next."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.log = log


class RunnerMissing(RunnerError):
    """The device has nothing that could run a context binary."""


class BinaryMismatch(RunnerError):
    """The binary was made for another device, or for a newer runtime. Nothing was sent."""


class RunFailed(RunnerError):
    """It ran, and did not end well."""


@dataclass(frozen=True)
class TensorInfo:
    """`data_type` in QNN's words without their prefix, such as `UFIXED_POINT_8`; `shape` in elements."""

    name: str
    data_type: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class BinaryInfo:
    """Of a context binary with one graph."""

    graph_name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    soc_model: int
    dsp_arch: int
    build_id: str


@dataclass(frozen=True)
class Runtime:
    """What runs binaries on the device. `build_id` is QNN's, such as `v2.51.0.260929181845`."""

    name: str
    version: str
    build_id: str
    timing: Timing


@dataclass(frozen=True)
class RunSettings:
    """`runs`: inferences that count, after `warmup_runs` that do not."""

    runs: int = 20
    warmup_runs: int = 3
    perf_profile: str = "burst"
    profiling_level: str = "basic"
    timeout_s: float = 300.0
    seed: int = 0


@dataclass(frozen=True)
class Block:
    """Of one process on the device. `samples_us` are those of `event`, one per inference, warm-up left out."""

    samples_us: tuple[float, ...]
    event: str
    timing: Timing
    other_us: dict[str, tuple[float, ...]] = field(default_factory=dict)
    counters: dict[str, tuple[int, ...]] = field(default_factory=dict)
    load_us: float | None = None
    wall_us: int = 0
    log: str = ""


@dataclass(frozen=True)
class Job:
    """`inputs` and `outputs` are .npz files on this machine; without inputs there are seeded random ones."""

    binary: Path
    info: BinaryInfo
    settings: RunSettings
    inputs: Path | None = None
    outputs: Path | None = None
    cancelled: Cancelled | None = None


def check_binary(info: BinaryInfo, soc_model: int | None, runtime: Runtime) -> None:
    """Raise `BinaryMismatch`. An emulator takes binaries of every SoC; a runtime takes no binary newer than itself."""
    there, needed = _version(runtime.build_id), _version(info.build_id)
    if there and needed and needed > there:
        raise BinaryMismatch(
            f"The binary was made by QNN {info.build_id}, and the device has {runtime.build_id}: an older runtime "
            "cannot load it. Update the device's runtime, or compile with an older toolchain."
        )
    if runtime.timing is not Timing.MEASURED or soc_model is None or info.soc_model == soc_model:
        return
    made_for, device = _target(info.soc_model), _target(soc_model)
    if made_for.partition(" ")[2] != device.partition(" ")[2]:
        raise BinaryMismatch(
            f"The binary was compiled for {made_for}, and the device is {device}: it would refuse to load it. Launch "
            "the sweep for the device's SoC."
        )


def _version(build_id: str) -> tuple[int, int, int] | None:
    found = BUILD.match(build_id)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _target(soc_model: int) -> str:
    try:
        target = find_target(soc_model)
    except TargetError:
        return f"SoC {soc_model}"
    return f"{target.name} ({target.dsp_arch})"
