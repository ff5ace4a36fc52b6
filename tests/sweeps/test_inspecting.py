"""What real files turn out to be, as the page of an inspection shows it."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from devices.targets import find_target
from sweeps.inspecting import describe
from sweeps.toolchain.errors import Cancelled
from sweeps.toolchain.qnn.compiler import BundledToolchain
from tests.sweeps.toolchain import onnx_models
from tests.sweeps.toolchain.onnx_models import packed
from tests.sweeps.toolchain.points import point
from tests.sweeps.toolchain.test_bundled import damaged
from tunerweb.work.child import Limits

LIMITS = Limits(wall_s=120.0, cpu_s=120.0)


def described(*paths: Path) -> dict[str, Any]:
    return describe([(path.name, path) for path in paths], LIMITS)


def test_a_dlc_has_its_graphs_and_tensors(sample_dlc: Path) -> None:
    found = described(sample_dlc)
    assert (found["format"], found["problem"], found["size_bytes"]) == ("dlc", None, sample_dlc.stat().st_size)
    assert found["sha256"] == hashlib.sha256(sample_dlc.read_bytes()).hexdigest()
    assert found["graphs"][0]["inputs"] == [{"name": "image", "dims": [1, 3, 320, 320], "data_type": "float_32"}]


def test_an_onnx_has_its_facts(sample_onnx: Path) -> None:
    found = described(sample_onnx)
    assert (found["format"], found["kind_label"], found["problem"]) == ("onnx", "ONNX model", None)
    assert (found["precision"], found["opset"], found["op_counts"]["Conv"]) == ("quantized", 17, 37)
    assert found["graphs"][0]["name"] == "sample_detector"
    assert found["graphs"][0]["outputs"] == [{"name": "heatmap", "dims": [1, 8, 80, 80], "data_type": "float32"}]


def test_a_free_dimension_is_a_name(tmp_path: Path) -> None:
    found = described(onnx_models.free_batch(tmp_path / "free.onnx"))
    assert found["free_dimensions"] == ["N"]
    assert found["graphs"][0]["inputs"][0]["dims"] == ["N", 3, 32, 32]


def test_a_model_and_its_data_files_are_one(tmp_path: Path) -> None:
    model = onnx_models.token_lookup(tmp_path / "tiny.onnx")
    found = described(tmp_path / "tiny.onnx.data", model)
    assert (found["problem"], found["model_file"]) == (None, "tiny.onnx")
    assert [item["location"] for item in found["data_files"]] == ["tiny.onnx.data"]
    assert found["size_bytes"] == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_a_zip_of_a_model_is_the_same_model(tmp_path: Path) -> None:
    model, data = onnx_models.token_lookup(tmp_path / "tiny.onnx"), tmp_path / "tiny.onnx.data"
    archive = packed(tmp_path / "all.zip", {path.name: path.read_bytes() for path in (model, data)})
    assert described(archive)["sha256"] == described(model, data)["sha256"]


def test_what_is_known_of_a_model_without_its_data_files_is_shown(tmp_path: Path) -> None:
    model = onnx_models.token_lookup(tmp_path / "tiny.onnx")
    found = described(model)
    assert found["problem"].startswith('"tiny.onnx" keeps weights in other files: "tiny.onnx.data" is missing.')
    assert (found["format"], found["op_counts"]) == ("onnx", {"Gather": 1, "MatMul": 1})


def test_nodes_that_no_target_has_are_named(tmp_path: Path) -> None:
    found = described(onnx_models.dynamic_quantization(tmp_path / "odd.onnx"))
    assert found["problem"] is None
    assert found["unsupported_nodes"][0].startswith('Node "quantize_1" (DynamicQuantizeLinear) is not supported')


def test_a_context_binary_is_told_apart(tmp_path: Path, small_dlc: Path) -> None:
    binary = tmp_path / "context.bin"
    with BundledToolchain().open(small_dlc, find_target("SM8650")) as session:
        binary.write_bytes(session.compile(point(0, session.graph_names)).binary.read_bytes())
        names = list(session.graph_names)
    found = described(binary)
    assert (found["format"], found["kind_label"]) == ("context_binary", "context binary")
    assert "is a context binary, so it is compiled already" in found["problem"]
    assert [graph["name"] for graph in found["graphs"]] == names
    assert found["notes"][0].startswith("It was compiled for SM8650 by QNN v2.51.")


def test_a_damaged_context_binary_is_one_all_the_same(tmp_path: Path) -> None:
    binary = tmp_path / "context.bin"
    binary.write_bytes(bytes.fromhex("0000000200000003") + b"\0" * 1000)
    found = described(binary)
    assert "is a context binary" in found["problem"]
    assert found["notes"][0].startswith("It cannot be read")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty (0 bytes)"),
        (b"GGUF" + b"\0" * 100, "is a GGUF model"),
        (b"\x00\x00\x00\x00TFL3" + b"\0" * 100, "is a LiteRT (TFLite) model"),
        (b"\x7fELF" + b"\0" * 100, "is a compiled library (ELF)"),
        (b'{"graphs": []}', "is a JSON text"),
        (b"what is this", "is neither a DLC nor an ONNX model"),
    ],
)
def test_a_wrong_kind_of_file_is_named(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "file.dlc").write_bytes(content)
    found = described(tmp_path / "file.dlc")
    assert what in found["problem"]
    assert found["format"] not in ("dlc", "onnx")


def test_a_dlc_that_is_cut_off_is_told(tmp_path: Path, small_dlc: Path) -> None:
    (tmp_path / "cut.dlc").write_bytes(small_dlc.read_bytes()[:-100_000])
    assert "begins like a DLC" in described(tmp_path / "cut.dlc")["problem"]


@pytest.mark.parametrize("damage", ["a zeroed model", "zeroed model.params"])
def test_a_dlc_that_the_compiler_cannot_read_is_told(tmp_path: Path, damage: str) -> None:
    found = described(damaged(damage, tmp_path))
    assert (found["format"], found["graphs"]) == ("dlc", [])
    assert found["problem"]


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.onnx", b"\0" * 300_000_000)
    assert "would unpack to more than" in described(tmp_path / "bomb.zip")["problem"]


def test_two_models_at_once_are_refused(tmp_path: Path, sample_onnx: Path) -> None:
    (tmp_path / "again.onnx").write_bytes(sample_onnx.read_bytes())
    assert described(sample_onnx, tmp_path / "again.onnx")["problem"].startswith("2 ONNX models were given")


def test_a_long_list_of_unsupported_nodes_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sweeps.inspecting.MOST_LISTED", 1)
    found = described(onnx_models.dynamic_quantization(tmp_path / "odd.onnx"))
    assert found["unsupported_nodes"][1:] == ["… and 1 more."]


def test_an_inspection_can_be_cancelled(sample_onnx: Path) -> None:
    with pytest.raises(Cancelled):
        describe([(sample_onnx.name, sample_onnx)], LIMITS, lambda: True)


def test_a_model_whose_header_lies_is_told(tmp_path: Path) -> None:
    (tmp_path / "lies.onnx").write_bytes(b"\x08\x09" + b"\x3a" + struct.pack("<B", 0x7F) + b"x")
    assert "cut off or damaged" in described(tmp_path / "lies.onnx")["problem"]
