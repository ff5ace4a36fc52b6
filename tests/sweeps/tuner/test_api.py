"""The documented Python API, with the real compiler where it compiles."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from sweeps.tuner import (
    CompilationError,
    Criteria,
    DeviceRequired,
    get_context_size_info,
    get_graph_names,
    optimize,
    optimizeROMandRAM,
    update_graph_configs,
    validate_backend_type,
)
from tests.conftest import DATA

SMALL_GRAPH = "QNNExecutionProvider_QNNExecutionProvider_10469089937017825619_1_0"


@pytest.fixture(scope="module")
def optimized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`small` on SM8650 from the wrapper file, the settings beside it, the best two exported."""
    folder = tmp_path_factory.mktemp("optimized")
    (folder / "htp.json").write_text(json.dumps({"devices": [{"soc_model": 57, "dsp_arch": "v75"}]}))
    extensions = {"shared_library_path": "libQnnHtpNetRunExtensions.so", "config_file_path": "htp.json"}
    (folder / "wrapper.json").write_text(json.dumps({"backend_extensions": extensions}))
    returned = optimizeROMandRAM(
        DATA / "small.dlc", folder / "wrapper.json", output_path=folder / "out", max_workers=2, k=2
    )
    assert returned == str(folder / "out")
    return Path(returned)


def test_criteria_are_strings() -> None:
    assert (Criteria.BANDWIDTH, Criteria.LATENCY) == ("bandwidth", "latency")


@pytest.mark.parametrize(("text", "valid"), [("bandwidth", True), ("latency", True), ("LATENCY", False), ("", False)])
def test_criteria_are_checked(text: str, valid: bool) -> None:
    assert Criteria.is_valid_criteria(text) is valid


class Backend(Enum):
    HTP = 6
    GPU = 4


@pytest.mark.parametrize("value", ["HTP", "HTP_MCP", "htp", Backend.HTP])
def test_backends_with_p_values_are_valid(value: Any) -> None:
    validate_backend_type(value)


@pytest.mark.parametrize("value", ["CPU", "GPU", "", None, 6, Backend.GPU])
def test_other_backends_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="only HTP and HTP_MCP"):
        validate_backend_type(value)


def test_graph_names_of_a_dlc() -> None:
    assert get_graph_names(DATA / "small.dlc") == [SMALL_GRAPH]


def test_graph_names_of_an_onnx_are_its_own() -> None:
    assert get_graph_names(DATA / "small.fp32.onnx") == ["small"]


def test_graph_names_of_a_context_binary(optimized: Path) -> None:
    assert get_graph_names(optimized / "rom_optimized_context_binary.bin") == [SMALL_GRAPH]


def test_graph_names_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CompilationError):
        get_graph_names(tmp_path / "text")


def test_a_p_is_set_on_every_graph_config_and_the_rest_stays() -> None:
    config = {"graphs": [{"graph_names": ["a"], "vtcm_mb": 4, "finalize_config": {"x": 1}}, {"graph_names": ["b"]}]}
    assert update_graph_configs(config, 6, ["a", "b"])["graphs"] == [
        {"graph_names": ["a"], "vtcm_mb": 4, "O": 3, "finalize_config": {"x": 1, "P": 6}},
        {"graph_names": ["b"], "O": 3, "finalize_config": {"P": 6}},
    ]


def test_graph_configs_are_added_when_there_are_none() -> None:
    assert update_graph_configs({}, 2, ["a", "b"])["graphs"] == [
        {"graph_names": ["a"], "O": 3, "finalize_config": {"P": 2}},
        {"graph_names": ["b"], "O": 3, "finalize_config": {"P": 2}},
    ]


def test_the_config_that_was_handed_in_is_left_alone() -> None:
    config: dict[str, Any] = {"graphs": [{"graph_names": ["a"]}]}
    update_graph_configs(config, 2, ["a"])
    assert config == {"graphs": [{"graph_names": ["a"]}]}


def test_sizes_of_a_context_binary(optimized: Path) -> None:
    """Golden numbers of build v2.51.0.260929181845."""
    assert get_context_size_info(optimized / "rom_optimized_context_binary.bin") == {
        "rom": 647168,
        "ram": {
            "opDataSize": 57600,
            "constSize": 589824,
            "ioTensorSize": 614400,
            "ddrTensorSize": 0,
            "spillFillBufferSize": 0,
            "total": 1261824,
        },
    }


def test_sizes_of_a_model_that_is_not_compiled() -> None:
    with pytest.raises(CompilationError, match="not a context binary"):
        get_context_size_info(DATA / "small.dlc")


def test_the_report_has_the_published_keys(optimized: Path) -> None:
    report = json.loads((optimized / "size_report.json").read_text())
    published = {
        *("baseline_rom_size_bytes", "baseline_ram_size_bytes", "baseline_ram_breakdown_bytes", "best_rom", "best_ram"),
        *("top_k_rom", "top_k_ram", "per_p_rom_size_bytes", "per_p_ram_size_bytes", "per_p_ram_breakdown_bytes"),
        "per_p_errors",
    }
    assert published <= set(report)


def test_the_baseline_wins_a_tie(optimized: Path) -> None:
    report = json.loads((optimized / "size_report.json").read_text())
    assert report["best_rom"] == {"p_value": 0, "rom_size_bytes": 647168, "improvement_percent": 0.0}
    assert [entry["p_value"] for entry in report["top_k_rom"]] == [0, 1]


def test_k_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="k is 0"):
        optimizeROMandRAM(DATA / "small.dlc", tmp_path / "none.json", k=0)


def test_a_config_without_a_soc_is_refused(tmp_path: Path) -> None:
    (tmp_path / "htp.json").write_text('{"graphs": []}')
    with pytest.raises(ValueError, match="names a SoC"):
        optimizeROMandRAM(DATA / "small.dlc", tmp_path / "htp.json", tmp_path / "out")


def test_what_needs_a_device_says_so() -> None:
    with pytest.raises(DeviceRequired, match='names no "device"'):
        optimize(DATA / "small.dlc", "latency", {}, {})
