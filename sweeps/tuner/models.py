"""What a model file holds, asked of whichever reader knows its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from devices.targets import find_target
from sweeps.toolchain.convert import SourceKind, describe_source, recognise
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.tuner.inputs import BadInput, existing_file

# A DLC is composed for a target; its graphs and their tensors are the same for each that computes in float16 too.
READING_TARGET = "SM8650"
CONTEXT_KEYS = {
    "opDataSize": "op_data_bytes",
    "constSize": "const_bytes",
    "ioTensorSize": "io_tensor_bytes",
    "ddrTensorSize": "ddr_tensor_bytes",
    "spillFillBufferSize": "spill_fill_bytes",
}


def is_context_binary(path: Path) -> bool:
    return path.is_file() and recognise(path).kind is SourceKind.CONTEXT_BINARY


def graph_names_of(path: Path) -> list[str]:
    description = describe_source(existing_file(path, "model"))
    if description.kind is SourceKind.CONTEXT_BINARY:
        return [graph["info"]["graphName"] for graph in BundledToolchain().read_context(path)["info"]["graphs"]]
    if description.problem:
        raise BadInput(description.problem)
    if description.kind is SourceKind.DLC:
        return [graph["info"]["graphName"] for graph in dlc_graphs(path)]
    return [description.model_name] if description.model_name else []


def dlc_graphs(path: Path) -> list[dict[str, Any]]:
    """Graph infos in the shape of `qnn-context-binary-utility`, without sizes."""
    with BundledToolchain().open(path, find_target(READING_TARGET)) as session:
        return session.graphs
