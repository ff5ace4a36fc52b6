"""What a file that somebody hands in is, and what it needs before it can be swept."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sweeps.toolchain.base import Cancelled
from sweeps.toolchain.convert.archives import is_plain_location, quoted
from sweeps.toolchain.convert.content import Content, SourceKind, recognise
from sweeps.toolchain.endings import broken_end, telling_a_full_disk
from sweeps.toolchain.errors import LimitReached, ModelRejected
from tunerweb.work.child import Ending, Limits, run_child
from tunerweb.work.scratch import scratch_root

Json = dict[str, Any]
CHILD = "sweeps.toolchain.convert.child:"
SOURCE_FOLDER = "source"
MODEL_FILE = "model.onnx"
# The DSP has 32-bit addresses. What is far larger hangs the compiler, and 2**60 elements crash it (SIGFPE).
MOST_ELEMENTS = 2**32 - 1
INSPECTION = Limits(wall_s=120.0, cpu_s=120.0)


class SourceRejected(ModelRejected):
    """What was handed in is not a model that can be compiled, or not a complete one."""


@dataclass(frozen=True)
class SourceTensor:
    """An input or output. A free dimension is a name; `dims` is None when the model does not tell the shape."""

    name: str
    dims: tuple[int | str, ...] | None
    data_type: str


@dataclass(frozen=True)
class DataFile:
    """A file outside the model that holds weights; it must have at least `needed_bytes`."""

    location: str
    needed_bytes: int


@dataclass(frozen=True)
class SourceDescription:
    """`problem`: one sentence when it cannot be swept as it is. What is not known of this kind of file is empty.

    `precision` is float, quantized, mixed or integer. `unsupported_nodes` are refused on every target, with the
    reason; a target may refuse more. `missing_data_files` are not beside the model, or cannot be used.
    """

    kind: SourceKind
    problem: str | None = None
    file_bytes: int | None = None
    model_name: str | None = None
    inputs: tuple[SourceTensor, ...] = ()
    outputs: tuple[SourceTensor, ...] = ()
    free_dimensions: tuple[str, ...] = ()
    precision: str | None = None
    opset: int | None = None
    op_counts: dict[str, int] = field(default_factory=dict)
    data_files: tuple[DataFile, ...] = ()
    missing_data_files: tuple[str, ...] = ()
    unsupported_nodes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def describe_source(
    path: Path, *, name: str | None = None, limits: Limits | None = None, cancelled: Cancelled | None = None
) -> SourceDescription:
    """Recognise a file by its content; an ONNX model is parsed in a child, the rest is never parsed at all.

    `name` is what people know the file by when it has another on disk. Whatever the file is, the answer is a
    description. Raise `ToolFailed` or `Cancelled` when the child did not answer.
    """
    name = name or path.name
    content = recognise(path, name)
    if content.kind is not SourceKind.ONNX or content.problem:
        return SourceDescription(content.kind, content.problem, content.file_bytes)
    try:
        answer = _inspect(path, limits or INSPECTION, cancelled)
    except LimitReached as error:
        return SourceDescription(content.kind, f"{quoted(name)} cannot be read: {error}", content.file_bytes)
    if "unreadable" in answer:
        problem = f"{quoted(name)} is not a usable ONNX model: {answer['unreadable']}."
        return SourceDescription(content.kind, problem, content.file_bytes)
    return _described(path, name, content, answer["facts"])


def _inspect(path: Path, limits: Limits, cancelled: Cancelled | None) -> Json:
    with telling_a_full_disk("inspection"), scratch_root() as scratch:
        (scratch / SOURCE_FOLDER).mkdir()
        shutil.copyfile(path, scratch / SOURCE_FOLDER / MODEL_FILE)
        outcome = run_child(
            CHILD + "inspect", {}, scratch=scratch, limits=limits, cancelled=cancelled, site_packages=True
        )
    if outcome.ending is not Ending.DONE:
        raise broken_end(outcome, limits, "inspection")
    answer: Json = outcome.value
    return answer


def _described(path: Path, name: str, content: Content, facts: Json) -> SourceDescription:
    inputs, outputs = (_tensors(facts[side]) for side in ("inputs", "outputs"))
    free = dict.fromkeys(dim for tensor in inputs for dim in tensor.dims or () if isinstance(dim, str))
    data_files = tuple(DataFile(entry["location"], entry["bytes"]) for entry in facts["data_files"])
    problems = {item.location: problem for item in data_files if (problem := data_file_problem(path.parent, item))}
    kind = SourceKind.EPCONTEXT_ONNX if facts["ep_context"] else content.kind
    return SourceDescription(
        kind=kind,
        problem=_ep_context_problem(name, facts["ep_context"])
        or _incomplete(name, problems)
        or size_problem((*inputs, *outputs), {}),
        file_bytes=content.file_bytes,
        model_name=facts["model_name"] or None,
        inputs=inputs,
        outputs=outputs,
        free_dimensions=tuple(free),
        precision=facts["precision"],
        opset=facts["opset"],
        op_counts=facts["op_counts"],
        data_files=data_files,
        missing_data_files=tuple(problems),
        unsupported_nodes=tuple(_unsupported(node) for node in facts["unsupported"]),
        notes=_notes(inputs, facts),
    )


def size_problem(tensors: Iterable[SourceTensor], sizes: Mapping[str, int]) -> str | None:
    """Why an input or output cannot be held by any NPU; a free dimension without a number counts as 1."""
    for tensor in tensors:
        dims = [dim if isinstance(dim, int) else sizes.get(dim, 1) for dim in tensor.dims or ()]
        elements = math.prod(dims)
        if elements > MOST_ELEMENTS:
            shape = " x ".join(map(str, dims))
            return f"{quoted(tensor.name)} is {shape} elements large, more than an NPU can address; make it smaller."
    return None


def _tensors(values: list[Json]) -> tuple[SourceTensor, ...]:
    return tuple(
        SourceTensor(value["name"], None if value["dims"] is None else tuple(value["dims"]), value["type"])
        for value in values
    )


def _unsupported(node: Json) -> str:
    return f"{node['label']} ({node['op_type']}) is not supported: {node['reason']}."


def _ep_context_problem(name: str, context: Json | None) -> str | None:
    if context is None:
        return None
    empty = ", ".join(quoted(node) for node in context["empty"])
    broken = f"; besides, its node {empty} has no context in it (ep_cache_context)" if empty else ""
    return (
        f"{quoted(name)} is an ONNX file around a context binary (EPContext), so it is compiled already{broken}; "
        "send the DLC or the ONNX model it was compiled from."
    )


def _incomplete(name: str, problems: dict[str, str]) -> str | None:
    """All data files that are not usable, in one sentence."""
    if not problems:
        return None
    told = "; ".join(problems.values())
    return f"{quoted(name)} keeps weights in other files: {told}. Send the model and its data files together."


def data_file_problem(folder: Path, item: DataFile) -> str | None:
    """Why the data file cannot be taken from `folder`, as a part of a sentence."""
    if problem := location_problem(item.location):
        return problem
    name, path = quoted(item.location), folder / item.location
    if any((folder / part).is_symlink() for part in (item.location, *_parents(item.location))):
        return f"{name} is a link, name the file itself"
    if not path.is_file():
        return f"{name} is missing"
    status = path.stat()
    if status.st_nlink > 1:
        return f"{name} is a (hard) link, name the file itself"
    return length_problem(item, status.st_size)


def location_problem(location: str) -> str | None:
    if not is_plain_location(location):
        return f"{quoted(location)} lies outside the folder of the model and is refused"
    if PurePosixPath(location).parts[0] == MODEL_FILE:
        return f"{quoted(location)} has the name that the model itself gets, save the model with another data file"
    return None


def length_problem(item: DataFile, file_bytes: int) -> str | None:
    if file_bytes < item.needed_bytes:
        return f"{quoted(item.location)} is too short ({file_bytes} bytes, the model reads {item.needed_bytes})"
    return None


def _parents(location: str) -> list[str]:
    parts = location.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def _notes(inputs: tuple[SourceTensor, ...], facts: Json) -> tuple[str, ...]:
    notes = []
    if facts["wide_integers"]:
        wide = ", ".join(quoted(tensor.name) for tensor in inputs if tensor.data_type == "int64")
        notes.append(f"int64 becomes int32 on the device (input {wide}).")
    if facts["precision"] == "float":
        notes.append("A float model: compiled as float16, on targets that have it.")
    if facts["rank_5_tensors"]:
        notes.append(f"{facts['rank_5_tensors']} tensors have more than four dimensions, which can be slow on the NPU.")
    return tuple(notes)
