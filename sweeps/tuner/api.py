"""The functions of `sweeps.tuner`. Models are paths; configs are inner settings as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

from sweeps.measurements import MemoryFootprint
from sweeps.toolchain.errors import ToolchainError
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.toolchain.qnn.results import memory_footprint
from sweeps.tuner.models import CONTEXT_KEYS, graph_names_of, is_context_binary
from sweeps.tuner.size_sweep import Silent, SweepRequest, run_size_sweep

BACKEND_TYPES = ("HTP", "HTP_MCP")
NEEDS_DEVICE = (
    "{name} measures on a device, and this release compiles offline only. "
    "Use optimizeROMandRAM for sizes, DRAM traffic and simulated cycles."
)


class CompilationError(RuntimeError):
    """A model that was to be compiled, or was taken for a compiled one, is none."""


class DeviceRequired(NotImplementedError):
    """The function needs a device that can run a context binary."""


class Criteria(StrEnum):
    BANDWIDTH = "bandwidth"
    LATENCY = "latency"

    @staticmethod
    def is_valid_criteria(text: str) -> bool:
        return text in list(Criteria)


def validate_backend_type(value: Any) -> None:
    """Raise `ValueError` unless the backend is HTP or HTP_MCP; an enum member counts by its name."""
    name = str(getattr(value, "name", value)).upper()
    if name not in BACKEND_TYPES:
        raise ValueError(f"{value!r} is not a backend with P values: only {' and '.join(BACKEND_TYPES)} have them.")


def get_graph_names(model: str | Path) -> list[str]:
    """The graph names of a DLC, an ONNX (its own name, before conversion) or a context binary.

    Raise `CompilationError` when the file is none of these.
    """
    try:
        return graph_names_of(Path(model))
    except (ToolchainError, ValueError) as error:
        raise CompilationError(str(error)) from error


def update_graph_configs(config: Mapping[str, Any], p_value: int, graph_names: Sequence[str]) -> dict[str, Any]:
    """A copy of the config with O=3 and this P on every graph config, one being added per graph when there is none.

    Other keys, also of `finalize_config`, stay as they are.
    """
    updated = deepcopy(dict(config))
    graphs = updated.get("graphs") or [{"graph_names": [name]} for name in graph_names]
    graphs = [graphs] if isinstance(graphs, Mapping) else graphs
    updated["graphs"] = [
        {**graph, "O": 3, "finalize_config": {**(graph.get("finalize_config") or {}), "P": p_value}} for graph in graphs
    ]
    return updated


def get_context_size_info(model: str | Path) -> dict[str, Any]:
    """`{"rom": bytes, "ram": {kind: bytes, ..., "total": bytes}}` of a context binary, summed over its graphs.

    Raise `CompilationError` when the file is no context binary, or one that does not report its sizes.
    """
    path = Path(model)
    if not is_context_binary(path):
        raise CompilationError(f"{path.name} is not a context binary: compile the model first.")
    try:
        info = BundledToolchain().read_context(path)["info"]
    except ToolchainError as error:
        raise CompilationError(str(error)) from error
    parts = [memory_footprint(graph["info"]) for graph in info["graphs"]]
    if not parts or not all(parts):
        raise CompilationError(f"{path.name} does not report its sizes: it comes from an older build.")
    total = MemoryFootprint.sum(part for part in parts if part)
    kinds = {key: getattr(total, name) for key, name in CONTEXT_KEYS.items()}
    return {"rom": info["contextBlobSize"], "ram": {**kinds, "total": total.ram_bytes}}


def get_report_details(profiler: Any, criteria: str) -> NoReturn:
    """Raise `DeviceRequired`: profiles come from devices."""
    raise DeviceRequired(NEEDS_DEVICE.format(name="get_report_details"))


def optimize(model: Any, criteria: str, compile_args: Any, execution_args: Any) -> NoReturn:
    """Raise `DeviceRequired`: latency and bandwidth are measured on a device."""
    raise DeviceRequired(NEEDS_DEVICE.format(name="optimize"))


def optimizeROMandRAM(
    model_path: str | Path,
    config_path: str | Path,
    output_path: str | Path = "size_optimized",
    max_workers: int = 1,
    k: int = 1,
    *,
    free_dimensions: Mapping[str, int] | None = None,
) -> str:
    """Compile the model at every valid P and write the smallest binaries, their configs and `size_report.json`.

    `config_path` is the inner file or the wrapper, and names the SoC. Returns the output folder. Raise `ValueError`
    for input that cannot be swept, `CompilationError` when no point compiled, `ToolchainError` when the toolchain
    itself fails.
    """
    request = SweepRequest(
        models=(Path(model_path),),
        config=Path(config_path),
        free_dimensions=free_dimensions or {},
        workers=max_workers,
        top_k=k,
        out=Path(output_path),
    )
    result = run_size_sweep(request, Silent())
    if not result.delivered:
        first = next(trial.error for trial in result.trials if trial.error)
        raise CompilationError(f"No point of the sweep compiled. The first one: {first}")
    return str(result.out)
