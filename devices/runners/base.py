"""What it takes to run a context binary on a device, and what comes back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from devices.targets import TargetError, find_target
from devices.transports.base import Cancelled

# The runtime's own words for its power modes; the first is what is taken when nothing is said.
PERF_PROFILES = (
    "burst",
    "sustained_high_performance",
    "high_performance",
    "balanced",
    "low_balanced",
    "high_power_saver",
    "power_saver",
    "low_power_saver",
    "extreme_power_saver",
    "default",
)
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


class RunKilled(RunFailed):
    """Somebody ended it from outside, which says nothing of the binary."""


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
    """`runs`: inferences that count; None lets the runner choose, so that a block takes about half a second.

    Before them come warm-up inferences that do not count: at least `warmup_runs`, and for `warmup_s` where the runner
    can tell; none when `warmup_runs` is 0. Logging slows a run down, so that two log levels never share a ranking.
    """

    runs: int | None = None
    warmup_runs: int = 3
    warmup_s: float = 0.3
    perf_profile: str = "burst"
    profiling_level: str = "basic"
    log_level: str = "error"
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
    made_for, device = info.dsp_arch or _dsp_arch(info.soc_model), _dsp_arch(soc_model)
    if made_for and device and made_for != device:
        raise BinaryMismatch(
            f"The binary was compiled for {soc_label(info)}, and the device is {_named(soc_model, device)}: it would "
            "refuse to load it. Launch the sweep for the device's SoC."
        )


def soc_label(info: BinaryInfo) -> str:
    """Such as `SM8650 (v75)`; the arch alone for a binary that does not name its SoC."""
    return _named(info.soc_model, info.dsp_arch or _dsp_arch(info.soc_model))


def _version(build_id: str) -> tuple[int, int, int] | None:
    found = BUILD.match(build_id)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _dsp_arch(soc_model: int) -> int:
    """Such as 75; 0 for a SoC that is not known."""
    try:
        return int(find_target(soc_model).dsp_arch.removeprefix("v"))
    except TargetError:
        return 0


def _named(soc_model: int, dsp_arch: int) -> str:
    try:
        name = find_target(soc_model).name
    except TargetError:
        name = f"SoC {soc_model}" if soc_model else "a SoC that it does not name"
    return f"{name} (v{dsp_arch})" if dsp_arch else name
