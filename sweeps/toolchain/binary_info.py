"""What runners need to know of a context binary, out of the info that a toolchain reads from it."""

from __future__ import annotations

from typing import Any

from devices.runners.base import BinaryInfo, RunFailed, TensorInfo
from sweeps.toolchain.base import CompileResult

TYPE_PREFIX = "QNN_DATATYPE_"
SEVERAL_GRAPHS = "Binaries with several graphs cannot be run here yet."


def binary_info(context: dict[str, Any]) -> BinaryInfo:
    """Out of the JSON of `qnn-context-binary-utility`, version 3.

    Raises `RunFailed` for a binary that has not exactly one graph: no runner takes it.
    """
    info = context["info"]
    if len(info["graphs"]) != 1:
        raise RunFailed(SEVERAL_GRAPHS)
    graph = info["graphs"][0]["info"]
    return BinaryInfo(
        graph_name=graph["graphName"],
        inputs=tuple(_tensor(each["info"]) for each in graph["graphInputs"]),
        outputs=tuple(_tensor(each["info"]) for each in graph["graphOutputs"]),
        soc_model=int(info.get("socModel") or 0),
        dsp_arch=int((info.get("contextMetadata") or {}).get("info", {}).get("dspArch") or 0),
        build_id=info.get("buildId", ""),
    )


def info_of_result(result: CompileResult) -> BinaryInfo:
    """Out of what the compile said, so that the binary need not be read again. Raises what `binary_info` raises."""
    if len(result.graphs) != 1:
        raise RunFailed(SEVERAL_GRAPHS)
    [graph] = result.graphs
    return BinaryInfo(
        graph_name=graph.graph_name,
        inputs=tuple(TensorInfo(each.name, each.data_type, each.dimensions) for each in graph.inputs),
        outputs=tuple(TensorInfo(each.name, each.data_type, each.dimensions) for each in graph.outputs),
        soc_model=result.soc_model or 0,
        dsp_arch=result.dsp_arch or 0,
        build_id=result.identity.build_id,
    )


def _tensor(info: dict[str, Any]) -> TensorInfo:
    return TensorInfo(info["name"], info["dataType"].removeprefix(TYPE_PREFIX), tuple(info["dimensions"]))
