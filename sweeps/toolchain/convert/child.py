"""What runs in the children of a conversion: read an ONNX model, or turn it into a DLC for one target.

Both work in a folder of their own in which the model has a fixed name: the execution provider makes the graph's name
from the path it is given, and the graph's name is part of what the compiler writes.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto, NodeProto

from sweeps.toolchain.convert import onnx_facts
from sweeps.toolchain.convert.provider_log import RefusedNode, build_of, refused_nodes

Json = dict[str, Any]
SOURCE_FOLDER = "source"
MODEL_FILE = "model.onnx"
DUMP_FOLDER = "dump"
PROVIDER = "QNNExecutionProvider"
PROVIDER_LOG = "provider.log"
VERBOSE = 0
STATUS = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")


def inspect(_job: Json) -> Json:
    """The facts of the model in the source folder, or why it cannot be read."""
    try:
        return {"facts": onnx_facts.describe(onnx_facts.load(Path(SOURCE_FOLDER, MODEL_FILE)))}
    except DecodeError:
        return {"unreadable": "it is damaged or cut off: its protobuf structure does not parse"}
    except onnx_facts.UnusableModel as problem:
        return {"unreadable": str(problem)}


def convert(job: Json) -> Json:
    """`job`: soc_model, free_dimensions. The answer names the DLC, relative to the working directory, or the refusal.

    No DLC (an empty name) means that nothing is left of the model to compile.
    """
    if job["free_dimensions"]:
        _fix_dimensions(job["free_dimensions"])
    try:
        with _output_to(PROVIDER_LOG):
            _run_provider(job["soc_model"])
    except _provider_errors() as error:
        return {"refused": _refusal(STATUS.sub("", str(error)))}
    finally:
        _print_errors()
    return {"dlc": _only_dlc(), "identity": identity()}


def identity() -> str:
    """The converter's build: its packages and the QNN build that its log names."""
    packages = [f"{name} {importlib.metadata.version(name)}" for name in ("onnxruntime", "onnxruntime-qnn")]
    with _provider_log() as lines:
        build = build_of(lines)
    return ", ".join(packages) + (f" ({build})" if build else "")


def _fix_dimensions(sizes: dict[str, int]) -> None:
    path = Path(SOURCE_FOLDER, MODEL_FILE)
    model = onnx_facts.load(path)
    onnx_facts.set_dimensions(model, sizes)
    path.write_bytes(model.SerializeToString())


def _run_provider(soc_model: int) -> None:
    import onnxruntime

    libraries = _libraries()
    onnxruntime.set_default_logger_severity(VERBOSE)
    onnxruntime.register_execution_provider_library(PROVIDER, str(libraries / "libonnxruntime_providers_qnn.so"))
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == PROVIDER]
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = VERBOSE
    session_options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    provider_options = {
        "backend_path": str(libraries / "libQnnHtp.so"),
        "dump_qnn_ir_dlc": "1",
        "dump_qnn_ir_dlc_dir": str(Path("..", DUMP_FOLDER)),
        "qnn_ir_backend_path": str(libraries / "libQnnIr.so"),
        "soc_model": str(soc_model),
        # With it on, the model's outer quantization would be left to the CPU.
        "offload_graph_io_quantization": "0",
    }
    session_options.add_provider_for_devices(devices[:1], provider_options)
    with contextlib.chdir(SOURCE_FOLDER):
        onnxruntime.InferenceSession(MODEL_FILE, session_options)


def _libraries() -> Path:
    spec = importlib.util.find_spec("onnxruntime_qnn")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("The package onnxruntime-qnn is not installed; run `make setup`.")
    return Path(next(iter(spec.submodule_search_locations)))


def _provider_errors() -> tuple[type[Exception], ...]:
    """What a session raises about the model. Everything else is a bug, or a broken installation."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return (
        state.Fail,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.InvalidArgument,
        state.NotImplemented,
        state.EPFail,
    )


def _refusal(message: str) -> Json:
    with _provider_log() as lines:
        nodes = refused_nodes(lines)
    model = onnx_facts.load(Path(SOURCE_FOLDER, MODEL_FILE))
    known = {node.name: node for node in onnx_facts.all_nodes(model) if node.name}
    # The provider inserts nodes of its own; what is said of them follows from the model's.
    own = [node for node in nodes if not node.name or node.name in known] or nodes
    told = [_told(model, known, node) for node in own]
    labels = {node["label"] for node in told}
    told += [node for node in onnx_facts.unsupported(model) if node["label"] not in labels]
    return {"nodes": told, "message": message}


def _told(model: ModelProto, known: dict[str, NodeProto], node: RefusedNode) -> Json:
    source = known.get(node.name)
    if source is None and 0 <= node.index < len(model.graph.node):
        candidate = model.graph.node[node.index]
        source = candidate if candidate.op_type == node.op_type else None
    return {"label": onnx_facts.node_label(source), "op_type": node.op_type, "reason": node.reason}


def _only_dlc() -> str:
    files = sorted(Path(DUMP_FOLDER).glob("*.dlc")) if Path(DUMP_FOLDER).is_dir() else []
    if len(files) > 1:
        raise RuntimeError(f"The execution provider split the model into {len(files)} graphs without saying why.")
    return str(files[0]) if files else ""


@contextlib.contextmanager
def _output_to(path: str) -> Iterator[None]:
    """Native code writes to the descriptors; both are given back at the end."""
    kept = os.dup(1), os.dup(2)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        for descriptor, original in zip((1, 2), kept, strict=True):
            os.dup2(original, descriptor)
            os.close(original)


@contextlib.contextmanager
def _provider_log() -> Iterator[Iterator[str]]:
    with open(PROVIDER_LOG, errors="replace") as file:
        yield iter(file)


def _print_errors() -> None:
    """The verbose log is too long to keep; its errors go to the child's own."""
    with _provider_log() as lines:
        for line in lines:
            if "[E:onnxruntime" in line or "<E>" in line:
                print(line, end="")
