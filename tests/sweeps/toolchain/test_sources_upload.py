"""A model and its data files are put together in a private folder, or refused."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest

from sweeps.toolchain.convert import SourceRejected, describe_source, prepare_source
from tests.sweeps.toolchain import onnx_models
from tests.sweeps.toolchain.onnx_models import packed


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


def rejection(paths: list[Path], work: Path) -> str:
    with pytest.raises(SourceRejected) as caught:
        prepare_source(paths, work)
    assert list(work.iterdir()) == []
    return str(caught.value)


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
    model = onnx_models.relocated(onnx_models.token_lookup(upload / "tiny.onnx"), location, location)
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


@pytest.mark.parametrize("location", ["model.onnx", "./model.onnx", "model.onnx/weights"])
def test_a_data_file_cannot_take_the_place_of_the_model(location: str, upload: Path, work: Path) -> None:
    model = onnx_models.relocated(onnx_models.token_lookup(upload / "tiny.onnx"), location, location)
    assert "has the name that the model itself gets" in rejection([model, upload / "tiny.onnx.data"], work)


def test_a_data_file_cannot_be_the_folder_of_another(upload: Path, work: Path) -> None:
    model = onnx_models.relocated(onnx_models.token_lookup(upload / "tiny.onnx"), "a", "a/b")
    files = {"tiny.onnx": model.read_bytes(), "a": bytes(1000), "a/b": bytes(1000)}
    assert '"a" is also the folder of another data file' in rejection([packed(upload / "all.zip", files)], work)


def test_two_locations_of_one_name_do_not_share_a_file(upload: Path, work: Path) -> None:
    model = onnx_models.relocated(onnx_models.token_lookup(upload / "tiny.onnx"), "a/w.bin", "b/w.bin")
    (upload / "tiny.onnx.data").rename(upload / "w.bin")
    assert '"w.bin" is the name of several' in rejection([model, upload / "w.bin"], work)


def test_one_location_is_not_guessed_among_two_files(upload: Path, work: Path) -> None:
    model = onnx_models.token_lookup(upload / "tiny.onnx", location="w.bin")
    files = {"tiny.onnx": model.read_bytes(), "x/w.bin": bytes(1000), "y/w.bin": bytes(1000)}
    assert '"w.bin" is the name of several' in rejection([packed(upload / "all.zip", files)], work)


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
