"""What runners need to know of a context binary, out of the info that a toolchain reads from it."""

from __future__ import annotations

from typing import Any

from devices.runners.base import BinaryInfo, RunFailed, TensorInfo

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


def _tensor(info: dict[str, Any]) -> TensorInfo:
    return TensorInfo(info["name"], info["dataType"].removeprefix(TYPE_PREFIX), tuple(info["dimensions"]))
