from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from onnx import helper

from devices.targets import find_target
from sweeps.toolchain.convert import (
    DataFile,
    SourceKind,
    SourceTensor,
    describe_source,
)
from sweeps.toolchain.qnn.compiler import BundledToolchain, installed_libraries
from tests.sweeps.toolchain import onnx_models
from tests.sweeps.toolchain.onnx_models import packed
from tests.sweeps.toolchain.points import point

EVIL_NAME = 'it\'s "quoted"\nand new\x1b[31m'


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    folder = tmp_path / "upload"
    folder.mkdir()
    return folder


def test_a_whole_dlc_has_no_problem(small_dlc: Path) -> None:
    description = describe_source(small_dlc)
    assert (description.kind, description.problem) == (SourceKind.DLC, None)


@pytest.mark.parametrize("missing", [1, 100, 292_880])
def test_a_truncated_dlc_is_named_as_cut_off(missing: int, small_dlc: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.dlc"
    half.write_bytes(small_dlc.read_bytes()[:-missing])
    description = describe_source(half)
    assert description.kind is SourceKind.DLC
    assert description.problem
    assert "it is cut off" in description.problem


def test_a_dlc_whose_part_does_not_end_within_the_file_is_damaged(small_dlc: Path, tmp_path: Path) -> None:
    content = bytearray(small_dlc.read_bytes())
    sizes = content.rindex((2272).to_bytes(8, "little") * 2)
    content[sizes : sizes + 16] = (2**40).to_bytes(8, "little") * 2
    path = tmp_path / "damaged.dlc"
    path.write_bytes(content)
    description = describe_source(path)
    assert description.kind is SourceKind.DLC
    assert description.problem
    assert '"model.params" in it does not end within the file' in description.problem


def test_a_zip_renamed_to_dlc_is_named_as_a_zip(tmp_path: Path) -> None:
    path = packed(tmp_path / "model.dlc", {"readme.txt": b"hello"})
    description = describe_source(path)
    assert description.kind is SourceKind.ZIP
    assert description.problem
    assert "a zip under the name of a DLC" in description.problem


def test_a_context_binary_renamed_to_onnx_is_named_as_compiled(small_dlc: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with BundledToolchain().open(small_dlc, find_target(57)) as session:
        path.write_bytes(session.compile(point(0, session.graph_names)).binary.read_bytes())
    description = describe_source(path)
    assert description.kind is SourceKind.CONTEXT_BINARY
    assert description.problem
    assert "compiled already" in description.problem


def test_a_library_is_named_as_one() -> None:
    description = describe_source(installed_libraries() / "libQnnSystem.so")
    assert description.kind is SourceKind.ELF


@pytest.mark.parametrize("head", [b"\x1c\0\0\0TFL3", b"LITERTLM"])
def test_a_litert_container_is_named_as_one(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(head + bytes(100))
    description = describe_source(path)
    assert description.kind is SourceKind.TFLITE
    assert description.problem
    assert "ONNX" in description.problem


def test_an_empty_file_is_named_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.touch()
    description = describe_source(path)
    assert description.kind is SourceKind.EMPTY
    assert description.problem
    assert "0 bytes" in description.problem


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    assert describe_source(tmp_path).kind is SourceKind.DIRECTORY


def test_a_missing_file_is_a_description_too(tmp_path: Path) -> None:
    description = describe_source(tmp_path / "nothing.onnx")
    assert description.problem
    assert "No such file" in description.problem


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.onnx")
    description = describe_source(tmp_path / "model.onnx")
    assert description.problem
    assert "not a regular file" in description.problem


def test_a_large_sparse_file_is_answered_at_once(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with path.open("wb") as file:
        file.truncate(5 * 2**30)
    started = time.monotonic()
    description = describe_source(path)
    assert time.monotonic() - started < 0.5
    assert description.kind is SourceKind.UNKNOWN
    assert description.file_bytes == 5 * 2**30


def test_a_truncated_onnx_is_named_as_cut_off(sample_onnx: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.onnx"
    path.write_bytes(sample_onnx.read_bytes()[:300_000])
    description = describe_source(path)
    assert description.kind is SourceKind.ONNX
    assert description.problem
    assert "cut off" in description.problem


def test_an_onnx_damaged_inside_is_told_by_the_child(sample_onnx: Path, tmp_path: Path) -> None:
    content = bytearray(sample_onnx.read_bytes())
    start = content.index(b"sample_detector")
    content[start - 2 : start + 200] = b"\xff" * 202
    path = tmp_path / "damaged.onnx"
    path.write_bytes(content)
    description = describe_source(path)
    assert description.problem
    assert "does not parse" in description.problem or "cut off" in description.problem


def test_a_compiled_onnx_is_named_as_one(tmp_path: Path) -> None:
    description = describe_source(onnx_models.ep_context(tmp_path / "m.onnx", b"binary"))
    assert description.kind is SourceKind.EPCONTEXT_ONNX
    assert description.problem
    assert "compiled already" in description.problem
    assert "ep_cache_context" not in description.problem


def test_a_compiled_onnx_with_an_empty_node_names_that_node(tmp_path: Path) -> None:
    description = describe_source(onnx_models.ep_context(tmp_path / "m.onnx", b"binary", None))
    assert description.problem
    assert '"context_1" has no context in it' in description.problem


@pytest.mark.parametrize("name", [EVIL_NAME, "n" * 255])
def test_a_sentence_holds_any_name_on_one_short_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"hello")
    problem = describe_source(path).problem
    assert problem
    assert problem.isprintable()
    assert len(problem) < 300


def test_a_name_of_300_characters_is_answered(tmp_path: Path) -> None:
    assert describe_source(tmp_path / ("n" * 300)).problem


def test_a_quantized_model_is_described(sample_onnx: Path) -> None:
    description = describe_source(sample_onnx)
    assert description.problem is None
    assert description.model_name == "sample_detector"
    assert description.inputs == (SourceTensor("image", (1, 3, 320, 320), "float32"),)
    assert description.outputs == (SourceTensor("heatmap", (1, 8, 80, 80), "float32"),)
    assert (description.precision, description.opset) == ("quantized", 17)
    assert description.op_counts["Conv"] == 37


def test_a_float_model_is_described_as_float(tmp_path: Path) -> None:
    assert describe_source(onnx_models.float_cnn(tmp_path / "m.onnx")).precision == "float"


def test_free_dimensions_are_listed_by_name(tmp_path: Path) -> None:
    description = describe_source(onnx_models.free_batch(tmp_path / "m.onnx"))
    assert description.free_dimensions == ("N",)
    assert description.inputs[0].dims == ("N", 3, 32, 32)


def test_what_no_target_takes_is_told_before_a_conversion(tmp_path: Path) -> None:
    description = describe_source(onnx_models.dynamic_quantization(tmp_path / "m.onnx"))
    assert len(description.unsupported_nodes) == 2
    assert description.unsupported_nodes[0].startswith('Node "quantize_1" (DynamicQuantizeLinear) is not supported')


def test_a_computed_scale_is_told_before_a_conversion(tmp_path: Path) -> None:
    (sentence,) = describe_source(onnx_models.computed_scale(tmp_path / "m.onnx")).unsupported_nodes
    assert "the scale must be a constant" in sentence


def test_operations_that_onnx_does_not_know_are_told_before_a_conversion(tmp_path: Path) -> None:
    custom, unknown = describe_source(onnx_models.custom_operations(tmp_path / "m.onnx")).unsupported_nodes
    assert 'custom operation of the domain "our.own"' in custom
    assert "ONNX has no such operation in opset 17" in unknown


def test_a_shape_that_no_npu_can_address_is_a_problem(tmp_path: Path) -> None:
    shape = [onnx_models.floats("x", 2**20, 2**20)], [onnx_models.floats("y", 2**20, 2**20)]
    model = onnx_models.write(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], *shape)
    assert describe_source(model).problem == (
        '"x" is 1048576 x 1048576 elements large, more than an NPU can address; make it smaller.'
    )


def test_a_node_that_produces_nothing_is_described_too(tmp_path: Path) -> None:
    model = onnx_models.write(tmp_path / "m.onnx", [helper.make_node("MatMulInteger", ["x"], [])], [], [])
    assert describe_source(model).unsupported_nodes[0].startswith("A node (MatMulInteger) is not supported")


def test_int64_inputs_are_noted(upload: Path) -> None:
    description = describe_source(onnx_models.token_lookup(upload / "tiny.onnx"))
    assert description.notes[0] == 'int64 becomes int32 on the device (input "input_ids").'


def test_data_files_are_listed_with_the_bytes_they_need(upload: Path) -> None:
    description = describe_source(onnx_models.token_lookup(upload / "tiny.onnx"))
    assert description.problem is None
    assert description.data_files == (DataFile("tiny.onnx.data", 4 * (16 * 8 + 8 * 4)),)


def test_a_missing_data_file_is_named(upload: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    (upload / "tiny.onnx.data").unlink()
    description = describe_source(model)
    assert description.missing_data_files == ("tiny.onnx.data",)
    assert description.problem
    assert '"tiny.onnx.data" is missing' in description.problem
