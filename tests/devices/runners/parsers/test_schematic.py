from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.schematic import PlannedTraffic, parse_schematic
from tests.conftest import DATA

TEXT = (DATA / "profiles" / "schematic.txt").read_text()
COMPILE_WITH_OPTRACE = """
import os, sys
sys.path.insert(0, sys.argv[2])
import onnxruntime
from devices.runners.on_device import found, library, provider_devices
options = onnxruntime.SessionOptions()
settings = {"backend_path": found(library("QnnHtp")), "soc_model": "57", "offload_graph_io_quantization": "0"}
settings |= {"profiling_level": "optrace", "profiling_file_path": "profile.csv"}
options.add_provider_for_devices(provider_devices(onnxruntime)[:1], settings)
session = onnxruntime.InferenceSession(sys.argv[1], sess_options=options)
del session
os._exit(0)
"""


def test_bytes_are_summed_over_the_operations() -> None:
    assert parse_schematic(TEXT) == PlannedTraffic(
        dram_read_bytes=604160, dram_write_bytes=32, vtcm_read_bytes=2048, vtcm_write_bytes=604160, operations=3
    )


def test_dram_traffic_is_both_ways() -> None:
    assert parse_schematic(TEXT).dram_bytes == 604192


def test_a_real_schematic_is_read(tmp_path: Path) -> None:
    """Measured on build v2.51.0.260929181845: input 602,112 + weights 589,824 bytes read, 1,024 written."""
    argv = [sys.executable, "-c", COMPILE_WITH_OPTRACE, str(DATA / "small.qdq.onnx"), str(Path.cwd())]
    subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    (schematic,) = tmp_path.glob("*_schematic.bin")
    traffic = parse_schematic(schematic.read_text(errors="replace"))
    assert (traffic.dram_read_bytes, traffic.dram_write_bytes) == (1191936, 1024)


def test_a_schematic_without_the_table_is_not_available() -> None:
    with pytest.raises(NotAProfile, match="no table of bytes"):
        parse_schematic(TEXT.replace("bandwidth_information", "bandwidth"))


@pytest.mark.parametrize("change", [("dram_read", "ddr_read"), ("{", "(")])
def test_a_table_of_another_shape_is_not_available(change: tuple[str, str]) -> None:
    with pytest.raises(NotAProfile, match="not known here"):
        parse_schematic(TEXT.replace(*change))


def test_a_table_that_is_cut_off_is_not_available() -> None:
    with pytest.raises(NotAProfile, match="no table of bytes"):
        parse_schematic(TEXT[: TEXT.index("0x0000490600000003")])
