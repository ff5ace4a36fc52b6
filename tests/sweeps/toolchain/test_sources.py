from __future__ import annotations

import io
import os
import stat
import time
import zipfile
from pathlib import Path

import onnx
import pytest

from devices.targets import find_target
from sweeps.toolchain.convert import (
    DataFile,
    SourceKind,
    SourceRejected,
    SourceTensor,
    describe_source,
    prepare_source,
)
from sweeps.toolchain.qnn.compiler import BundledToolchain, installed_libraries
from tests.sweeps.toolchain import onnx_models
from tests.sweeps.toolchain.points import point

EVIL_NAME = 'it\'s "quoted"\nand new\x1b[31m'


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    folder = tmp_path / "upload"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def rejection(paths: list[Path], work: Path) -> str:
    with pytest.raises(SourceRejected) as caught:
        prepare_source(paths, work)
    assert list(work.iterdir()) == []
    return str(caught.value)


# --- what it is ---


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


# --- what is in an ONNX model ---


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


# --- putting it together ---


def test_a_model_and_its_data_become_private_regular_files(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    prepared = prepare_source([upload / "tiny.onnx.data", model], work)
    data = prepared.parent / "tiny.onnx.data"
    assert data.read_bytes() == (upload / "tiny.onnx.data").read_bytes()
    assert describe_source(prepared).problem is None
    assert stat.S_IMODE(prepared.parent.stat().st_mode) == 0o700
    assert data.stat().st_nlink == 1


def test_a_data_file_beside_the_model_is_found(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    assert (prepare_source([model], work).parent / "tiny.onnx.data").is_file()


def test_a_data_file_beside_the_model_is_not_taken_where_others_store_theirs(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    with pytest.raises(SourceRejected, match=r'"tiny\.onnx\.data" is missing'):
        prepare_source([model], work, search_beside=False)


@pytest.mark.parametrize("folder", ["", "export/"])
def test_a_zip_of_model_and_data_is_unpacked(folder: str, upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx", location="weights/tiny.data")
    files = {
        f"{folder}tiny.onnx": model.read_bytes(),
        f"{folder}weights/tiny.data": (upload / "tiny.data").read_bytes(),
    }
    prepared = prepare_source([packed(upload / "all.zip", files)], work)
    assert (prepared.parent / "weights" / "tiny.data").is_file()
    assert describe_source(prepared).problem is None


def test_a_dlc_is_taken_where_it_is(small_dlc: Path, work: Path) -> None:
    assert prepare_source([small_dlc], work) == small_dlc
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("location", ["/etc/passwd", "../tiny.data", "a/../../tiny.data", "C:\\tiny.data", "a\\b", ""])
def test_a_location_outside_is_refused_by_name(location: str, upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx", location="placeholder")
    proto = onnx.load(model, load_external_data=False)
    for tensor in proto.graph.initializer:
        tensor.external_data[0].value = location
    model.write_bytes(proto.SerializeToString())
    assert "lies outside the folder of the model and is refused" in rejection([model], work)


def test_a_data_file_that_is_a_link_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    (upload / "tiny.onnx.data").rename(work.parent / "elsewhere")
    (upload / "tiny.onnx.data").symlink_to(work.parent / "elsewhere")
    assert '"tiny.onnx.data" is a link' in rejection([model], work)


def test_a_data_file_that_is_a_hard_link_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    os.link(upload / "tiny.onnx.data", work.parent / "elsewhere")
    assert '"tiny.onnx.data" is a (hard) link' in rejection([model], work)


def test_a_data_file_below_a_linked_folder_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx", location="weights/tiny.data")
    (work.parent / "elsewhere").mkdir()
    (upload / "tiny.data").rename(work.parent / "elsewhere" / "tiny.data")
    (upload / "weights").symlink_to(work.parent / "elsewhere")
    assert '"weights/tiny.data" is a link' in rejection([model], work)


def test_a_data_file_that_is_too_short_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx")
    (upload / "tiny.onnx.data").write_bytes(bytes(100))
    assert '"tiny.onnx.data" is too short (100 bytes, the model reads 640)' in rejection([model], work)


def test_two_models_are_refused_by_name(upload: Path, work: Path) -> None:
    models = [onnx_models.float_cnn(upload / "a.onnx"), onnx_models.float_cnn(upload / "b.onnx")]
    assert '2 ONNX models were given ("a.onnx", "b.onnx")' in rejection(models, work)


def test_a_zip_without_a_model_is_refused(upload: Path, work: Path) -> None:
    assert "a zip without an ONNX model" in rejection([packed(upload / "all.zip", {"a.txt": b"a"})], work)


@pytest.mark.parametrize("name", ["../m.data", "/m.data", "a\\m.data", "C:m.data"])
def test_a_zip_with_a_name_that_leads_outside_is_refused(name: str, upload: Path, work: Path) -> None:
    model = onnx_models.float_cnn(upload / "m.onnx").read_bytes()
    assert "leads outside" in rejection([packed(upload / "all.zip", {"m.onnx": model, name: b"x"})], work)


def test_a_zip_with_a_link_is_refused(upload: Path, work: Path) -> None:
    path = packed(upload / "all.zip", {"m.onnx": onnx_models.float_cnn(upload / "m.onnx").read_bytes()})
    link = zipfile.ZipInfo("m.data")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    assert '"m.data", which is a link' in rejection([path], work)


def test_a_zip_bomb_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.float_cnn(upload / "m.onnx").read_bytes()
    path = packed(upload / "all.zip", {"m.onnx": model, "m.data": bytes(50_000_000)})
    assert '"m.data" in it would unpack to more than 200 times its size' in rejection([path], work)


def test_a_zip_whose_files_share_bytes_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.float_cnn(upload / "m.onnx").read_bytes()
    content = bytearray(packed(upload / "all.zip", {"m.onnx": model, "m.data": b"x" * 2000}).read_bytes())
    second = content.rindex(b"PK\1\2")
    content[second + 42 : second + 46] = bytes(4)
    path = upload / "overlap.zip"
    path.write_bytes(content)
    assert "shares its bytes with another file" in rejection([path], work)


def test_a_zip_that_understates_a_size_is_refused(upload: Path, work: Path) -> None:
    model = onnx_models.float_cnn(upload / "m.onnx").read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m.onnx", model)
        archive.writestr("m.data", b"x" * 5000)
    content = bytearray(buffer.getvalue())
    second = content.rindex(b"PK\1\2")
    content[second + 24 : second + 28] = (10).to_bytes(4, "little")
    path = upload / "lies.zip"
    path.write_bytes(content)
    assert rejection([path], work)


def test_a_truncated_zip_is_named_as_cut_off(upload: Path, work: Path) -> None:
    path = packed(upload / "all.zip", {"m.onnx": onnx_models.float_cnn(upload / "m.onnx").read_bytes()})
    path.write_bytes(path.read_bytes()[:-30])
    assert "it is cut off" in rejection([path], work)


def test_no_file_at_all_is_refused(work: Path) -> None:
    assert rejection([], work).startswith("No model was given.")
