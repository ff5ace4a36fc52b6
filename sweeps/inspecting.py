"""What uploaded files are, as JSON that pages show. Whatever parses a model runs in a child."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from devices.targets import all_socs, find_target
from sweeps.toolchain.base import Cancelled
from sweeps.toolchain.convert import (
    SourceDescription,
    SourceKind,
    SourceRejected,
    SourceTensor,
    describe_source,
    prepare_source,
    recognise,
)
from sweeps.toolchain.convert.hashing import sha256_of_source
from sweeps.toolchain.errors import ModelRejected, ToolchainError
from sweeps.toolchain.qnn.compiler import BundledToolchain
from tunerweb.work.child import Limits
from tunerweb.work.scratch import scratch_root
from tunerweb.work.store import sha256_of

Json = dict[str, Any]
FORMATS = {SourceKind.DLC: "dlc", SourceKind.ONNX: "onnx"}
# A DLC is composed for a target, and its graphs and tensors are the same for each: one of every DSP arch, then.
READING_TARGETS = ("SM8650", "SM8750", "SM8850", "SM8550", "SM8450", "SM8350")
MOST_LISTED = 100
DATA_TYPE_PREFIX = "QNN_DATATYPE_"


def describe(files: Sequence[tuple[str, Path]], limits: Limits, cancelled: Cancelled | None = None) -> Json:
    """Whatever the files are, the answer is a description; its `problem` says why they cannot be swept.

    Raise `ToolchainError` when a child did not answer.
    """
    paths = [path for _, path in files]
    contents = [recognise(path, name) for name, path in files]
    with scratch_root() as work:
        if [content.kind for content in contents] == [SourceKind.CONTEXT_BINARY]:
            return _of_context_binary(*files[0], SourceDescription(contents[0].kind, contents[0].problem))
        main = _main_of([content.kind for content in contents])
        try:
            model = prepare_source(paths, work, search_beside=False)
        except SourceRejected as error:
            return _of_refused(*files[main], error.message, limits, cancelled)
        if contents[main].kind is SourceKind.DLC:
            return _of_dlc(*files[main], limits, cancelled)
        return _of_onnx(files[main][0], model, limits, cancelled)


def _main_of(kinds: Sequence[SourceKind]) -> int:
    """Which of the files is the model; the others hold its weights."""
    wanted = (SourceKind.ONNX, SourceKind.DLC, SourceKind.EPCONTEXT_ONNX, SourceKind.ZIP)
    return next((kinds.index(kind) for kind in wanted if kind in kinds), 0)


def _of_onnx(name: str, model: Path, limits: Limits, cancelled: Cancelled | None) -> Json:
    described = describe_source(model, name=name, limits=limits, cancelled=cancelled)
    size_bytes = sum(path.stat().st_size for path in model.parent.rglob("*") if path.is_file())
    return _json(name, described, size_bytes, sha256_of_source(model))


def _of_refused(name: str, path: Path, sentence: str, limits: Limits, cancelled: Cancelled | None) -> Json:
    """What can be said of the model all the same, such as when only its data files are missing."""
    described = describe_source(path, name=name, limits=limits, cancelled=cancelled)
    return _json(name, described, path.stat().st_size, sha256_of(path)) | {"problem": sentence}


def _of_dlc(name: str, path: Path, limits: Limits, cancelled: Cancelled | None) -> Json:
    facts = _json(name, SourceDescription(SourceKind.DLC), path.stat().st_size, sha256_of(path))
    try:
        graphs = _dlc_graphs(path, limits, cancelled)
    except ModelRejected as error:
        return facts | {"problem": error.message}
    problem = None if graphs else f"{name} has no graph in it, so there is nothing to compile; convert the model again."
    return facts | {"graphs": graphs, "precision": _precision_of(graphs), "problem": problem}


def _dlc_graphs(path: Path, limits: Limits, cancelled: Cancelled | None) -> list[Json]:
    refusal: ModelRejected | None = None
    for name in READING_TARGETS:
        try:
            with BundledToolchain().open(path, find_target(name), limits=limits, cancelled=cancelled) as session:
                return [_qnn_graph(graph["info"]) for graph in session.graphs]
        except ModelRejected as error:
            refusal = refusal or error
    raise refusal or AssertionError("there is no target to read a DLC for")


def _of_context_binary(name: str, path: Path, described: SourceDescription) -> Json:
    facts = _json(name, described, path.stat().st_size, sha256_of(path))
    try:
        info = BundledToolchain().read_context(path)["info"]
    except ToolchainError as error:
        return facts | {"notes": [f"It cannot be read: {error.message}"]}
    names = {soc.soc_model: soc.name for soc in all_socs()}
    soc = names.get(info["socModel"], f"SoC {info['socModel']}")
    return facts | {
        "graphs": [_qnn_graph(graph["info"]) for graph in info["graphs"]],
        "notes": [f"It was compiled for {soc} by QNN {info['buildId']}."],
    }


def _qnn_graph(info: Json) -> Json:
    return {
        "name": info["graphName"],
        "inputs": [_qnn_tensor(tensor["info"]) for tensor in info["graphInputs"]],
        "outputs": [_qnn_tensor(tensor["info"]) for tensor in info["graphOutputs"]],
    }


def _qnn_tensor(info: Json) -> Json:
    data_type = str(info["dataType"]).removeprefix(DATA_TYPE_PREFIX).lower()
    return {"name": info["name"], "dims": list(info["dimensions"]), "data_type": data_type}


def _precision_of(graphs: list[Json]) -> str | None:
    """A DLC with quantized inputs or outputs is quantized; one with floats may be quantized inside, so nobody knows."""
    types = [tensor["data_type"] for graph in graphs for tensor in (*graph["inputs"], *graph["outputs"])]
    return "quantized" if any("fixed_point" in data_type for data_type in types) else None


def _json(name: str, described: SourceDescription, size_bytes: int, sha256: str) -> Json:
    graph = {
        "name": described.model_name or "",
        "inputs": [_tensor(tensor) for tensor in described.inputs],
        "outputs": [_tensor(tensor) for tensor in described.outputs],
    }
    return {
        "format": FORMATS.get(described.kind, described.kind.name.lower()),
        "kind_label": described.kind.value,
        "model_file": name,
        "problem": described.problem,
        "size_bytes": size_bytes,
        "sha256": sha256,
        "graphs": [graph] if described.inputs or described.outputs else [],
        "free_dimensions": list(described.free_dimensions),
        "precision": described.precision,
        "opset": described.opset,
        "op_counts": described.op_counts,
        "notes": list(described.notes),
        "unsupported_nodes": _capped(described.unsupported_nodes),
        "data_files": [{"location": item.location, "needed_bytes": item.needed_bytes} for item in described.data_files],
    }


def _tensor(tensor: SourceTensor) -> Json:
    return {
        "name": tensor.name,
        "dims": None if tensor.dims is None else list(tensor.dims),
        "data_type": tensor.data_type,
    }


def _capped(sentences: Iterable[str]) -> list[str]:
    listed = list(sentences)
    left_out = len(listed) - MOST_LISTED
    return [*listed[:MOST_LISTED], f"… and {left_out} more."] if left_out > 0 else listed
