"""The other builds of the toolchain: each compiles, says what it is, and leaves out what it does not report."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from devices.targets import find_target
from sweeps.toolchain.qnn.compiler import BundledToolchain
from tests.conftest import DATA
from tests.sweeps.toolchain.points import point

pytestmark = pytest.mark.wheel


class Build(NamedTuple):
    """Recorded from each wheel: `small.dlc` on SA8255 (52) at P=16."""

    version: str
    build_id: str
    rom_bytes: int
    op_data_bytes: int
    cycles: int
    reports_traffic: bool


BUILDS = [
    Build("2.3.0", "v2.47.0.260601114230", 651264, 62720, 155041, False),
    Build("2.4.0", "v2.48.40.260702151143", 652320, 62720, 155800, False),
    Build("2.6.0", "v2.50.40.260831140417", 644128, 58112, 256905, True),
    Build("2.7.0", "v2.51.0.260929181845", 647168, 58112, 257257, True),
]


def fetched(version: str, folder: Path) -> BundledToolchain:
    """The wheel's libraries from the package index; a loud skip when it cannot be had."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*command, f"onnxruntime-qnn=={version}"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"THE WHEEL onnxruntime-qnn {version} COULD NOT BE HAD: {done.stderr.strip().splitlines()[-1:]}")
    return BundledToolchain(folder / "onnxruntime_qnn", version)


@pytest.fixture
def wheel_folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "wheel"
    shutil.rmtree(tmp_path / "wheel", ignore_errors=True)


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.version)
def test_a_build_gives_its_recorded_numbers(build: Build, wheel_folder: Path) -> None:
    toolchain = fetched(build.version, wheel_folder)
    assert toolchain.identity.build_id == build.build_id
    with toolchain.open(DATA / "small.dlc", find_target(52)) as session:
        result = session.compile(point(16, session.graph_names))
    assert result.footprint is not None
    assert (result.rom_bytes, result.footprint.op_data_bytes, result.simulated_cycles, bool(result.traffic)) == (
        build.rom_bytes,
        build.op_data_bytes,
        build.cycles,
        build.reports_traffic,
    )


def test_the_build_with_another_device_struct_compiles_for_the_chosen_soc(wheel_folder: Path) -> None:
    toolchain = fetched("2.5.0", wheel_folder)
    assert toolchain.identity.build_id == "v2.49.40.260810104044"
    with toolchain.open(DATA / "small.dlc", find_target(57)) as session:
        result = session.compile(point(0, session.graph_names))
    assert (result.soc_model, result.dsp_arch, result.traffic) == (57, 75, None)
