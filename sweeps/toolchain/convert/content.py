"""What kind of file something is, by its first bytes and its structure; never by its name. Nothing is loaded."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from sweeps.toolchain.convert.archives import ArchiveProblem, Entry, check_layout, quoted, read_directory

CONTEXT_BINARY_HEAD = bytes.fromhex("0000000200000003")
ZIP_HEADS = (b"PK\3\4", b"PK\5\6")
DLC_MEMBERS = {"model", "model.params", "model.params.bin"}
# Of an ONNX file's outermost fields: number -> wire type (0 a number, 2 bytes with their length in front).
ONNX_FIELDS = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
ONNX_GRAPH = 7
MOST_FIELDS = 100_000
LARGEST_ONNX_BYTES = 2**31 - 1
OTHER_FILES = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"\x89HDF", "an HDF5 file, perhaps a Keras model"),
    (b"GGUF", "a GGUF model"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"\x80\x02", "a Python pickle, perhaps PyTorch weights"),
    (b"{", "a JSON text"),
    (b"<", "a web page or XML text"),
    (b"version https://git-lfs", "a Git LFS pointer; fetch the file it stands for"),
)
WANTED = "Send the DLC or the ONNX model"


class SourceKind(StrEnum):
    DLC = "DLC"
    ONNX = "ONNX model"
    EPCONTEXT_ONNX = "EPContext ONNX model"
    CONTEXT_BINARY = "context binary"
    ELF = "ELF library"
    TFLITE = "LiteRT model"
    ZIP = "zip"
    EMPTY = "empty file"
    DIRECTORY = "folder"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Content:
    """`problem`: one sentence when it cannot be swept. `members`: the files of a zip."""

    kind: SourceKind
    problem: str | None = None
    file_bytes: int | None = None
    members: tuple[Entry, ...] = ()


def recognise(path: Path, name: str | None = None) -> Content:
    """`name` is what people know the file by, when it has another on disk."""
    name = quoted(name or path.name)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            problem = f"{name} is a folder; send the model file, or a zip of the model and its data files."
            return Content(SourceKind.DIRECTORY, problem)
        if not stat.S_ISREG(status.st_mode):
            return Content(SourceKind.UNKNOWN, f"{name} is not a regular file; send the DLC or the ONNX model itself.")
        if status.st_size == 0:
            problem = f"{name} is empty (0 bytes), so its upload or copy did not finish; send it again."
            return Content(SourceKind.EMPTY, problem, 0)
        return _of_file(path, name, status.st_size)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        return Content(SourceKind.UNKNOWN, f"{name} cannot be read ({reason}); check its name and who may read it.")
    except ValueError:
        return Content(SourceKind.UNKNOWN, f"{name} is not a possible file name; give another path.")


def _of_file(path: Path, name: str, file_bytes: int) -> Content:
    with path.open("rb") as file:
        head = file.read(64)
        if head.startswith(ZIP_HEADS):
            return _zip(path, name, file, file_bytes)
        if head[4:8] in (b"TFL3", b"RTLM"):
            problem = f"{name} is a LiteRT (TFLite) model, which this compiler does not read; {_export('ONNX')}."
            return Content(SourceKind.TFLITE, problem, file_bytes)
        if head.startswith(b"\x7fELF"):
            problem = f"{name} is a compiled library (ELF), not a model; {_made_from('it was built from')}."
            return Content(SourceKind.ELF, problem, file_bytes)
        if head.startswith(CONTEXT_BINARY_HEAD):
            problem = f"{name} is a context binary, so it is compiled already; {_made_from('it was compiled from')}."
            return Content(SourceKind.CONTEXT_BINARY, problem, file_bytes)
        return _onnx(file, name, file_bytes) or Content(SourceKind.UNKNOWN, _unknown(name, head), file_bytes)


def _made_from(how: str) -> str:
    return f"send the DLC or the ONNX model {how}"


def _export(form: str) -> str:
    return f"export the original model as {form} and send that"


def _unknown(name: str, head: bytes) -> str:
    for magic, what in OTHER_FILES:
        if head.startswith(magic):
            return f"{name} is {what}, not a model that can be compiled. {WANTED}."
    return f"{name} is neither a DLC nor an ONNX model: its content is of no kind that we know. {WANTED}."


def _zip(path: Path, name: str, file: BinaryIO, file_bytes: int) -> Content:
    try:
        members = read_directory(path)
        check_layout(path, members)
    except ArchiveProblem as problem:
        if _first_member(file) in DLC_MEMBERS or path.suffix.lower() == ".dlc":
            sentence = f"{name} begins like a DLC, but {problem}; copy or upload the DLC again."
            return Content(SourceKind.DLC, sentence, file_bytes)
        return Content(SourceKind.ZIP, f"{name} is a zip, but {problem}; pack or upload it again.", file_bytes)
    names = {member.name for member in members}
    if "model" in names and names & (DLC_MEMBERS - {"model"}):
        return Content(SourceKind.DLC, _dlc_problem(name, names), file_bytes, members)
    return Content(SourceKind.ZIP, _zip_problem(name, path, members), file_bytes, members)


def _first_member(file: BinaryIO) -> str:
    file.seek(26)
    size = int.from_bytes(file.read(2), "little")
    file.seek(30)
    return file.read(min(size, 255)).decode("utf-8", "replace")


def _dlc_problem(name: str, names: set[str]) -> str | None:
    if "model.params" not in names:
        return f'{name} is a DLC without the part "model.params", so its weights are missing; convert the model again.'
    return None


def _zip_problem(name: str, path: Path, members: tuple[Entry, ...]) -> str | None:
    if any(member.name.endswith("/data.pkl") or member.name == "data.pkl" for member in members):
        return f"{name} is a PyTorch file, which this compiler does not read; {_export('ONNX')}."
    if path.suffix.lower() == ".dlc":
        return f"{name} is a zip under the name of a DLC: the parts of a DLC are not in it. {WANTED}."
    models = onnx_members(members)
    if len(models) == 1:
        return None
    if models:
        shown = ", ".join(quoted(member.name) for member in models[:5])
        return f"{name} is a zip with {len(models)} ONNX models ({shown}); pack one model with its data files."
    return f"{name} is a zip without an ONNX model (a file whose name ends in .onnx); pack one with its data files."


def onnx_members(members: tuple[Entry, ...]) -> list[Entry]:
    files = [member for member in members if not member.is_folder and not member.name.startswith("__MACOSX/")]
    return [member for member in files if member.name.lower().endswith(".onnx")]


def _onnx(file: BinaryIO, name: str, file_bytes: int) -> Content | None:
    whole = _walk_fields(file, file_bytes)
    if whole is None:
        return None
    if not whole:
        problem = f"{name} begins like an ONNX model, but it is cut off or damaged; copy or upload it again."
        return Content(SourceKind.ONNX, problem, file_bytes)
    if file_bytes > LARGEST_ONNX_BYTES:
        problem = f"{name} is an ONNX file of more than 2 GB, which no reader takes; save it with external data."
        return Content(SourceKind.ONNX, problem, file_bytes)
    return Content(SourceKind.ONNX, None, file_bytes)


def _walk_fields(file: BinaryIO, file_bytes: int) -> bool | None:
    """True: the outermost fields are those of an ONNX model, to the end. False: up to a point. None: not at all."""
    file.seek(0)
    position, seen = 0, set()
    for _ in range(MOST_FIELDS):
        if position == file_bytes:
            return True if ONNX_GRAPH in seen else None
        tag = _varint(file)
        if tag is None or ONNX_FIELDS.get(tag >> 3) != tag & 7:
            break
        value = _varint(file)
        seen.add(tag >> 3)
        position = file.tell() + (value or 0) * (tag & 7 == 2)
        if value is None or position > file_bytes:
            break
        file.seek(position)
    # The version field comes first in every writer's output, and no other format begins like this.
    return False if 1 in seen and len(seen) > 1 else None


def _varint(file: BinaryIO) -> int | None:
    value = 0
    for shift in range(0, 63, 7):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    return None
