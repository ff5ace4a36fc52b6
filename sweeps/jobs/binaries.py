"""Context binaries as runners take them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from devices.runners.base import BinaryInfo, RunFailed, RunnerMissing, TensorInfo
from devices.targets import find_target
from sweeps.configs import HtpConfig
from sweeps.jobs.toolchains import toolchain
from sweeps.toolchain.base import Point
from sweeps.toolchain.errors import ToolchainError
from sweeps.toolchain.qnn.probe import PROBE_DLC
from tunerweb.work.artifacts import server_store

TYPE_PREFIX = "QNN_DATATYPE_"


@contextmanager
def tiny_binary(soc_model: int) -> Iterator[tuple[Path, BinaryInfo]]:
    """A graph of one operation, compiled for a SoC. Raises `RunnerMissing` when this server's compiler fails."""
    try:
        with toolchain().open(PROBE_DLC, find_target(soc_model)) as session:
            result = session.compile(Point(config=HtpConfig(), p_value=None, as_given=True))
            yield result.binary, binary_info(toolchain().read_context(result.binary))
    except ToolchainError as error:
        raise RunnerMissing(f"This server could not compile the tiny binary for the check: {error.message}") from None


def info_of(sha256: str) -> BinaryInfo:
    """Of a binary in the store. Raises `ToolchainError`, and `RunFailed` where no runner takes such a binary."""
    context = toolchain().read_context(server_store().path(sha256))
    if len(context["info"]["graphs"]) != 1:
        raise RunFailed("Binaries with several graphs cannot be run here yet.")
    return binary_info(context)


def binary_info(context: dict[str, Any]) -> BinaryInfo:
    """Out of the JSON of `qnn-context-binary-utility`, version 3, of a binary with one graph."""
    info = context["info"]
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
