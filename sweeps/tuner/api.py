"""The functions of `sweeps.tuner`. Models are paths; configs are inner settings as JSON values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweeps.measurements import MemoryFootprint
from sweeps.toolchain.errors import ToolchainError
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.toolchain.qnn.results import memory_footprint
from sweeps.tuner.errors import CompilationError
from sweeps.tuner.models import CONTEXT_KEYS, graph_names_of, is_context_binary
from sweeps.tuner.size_sweep import Silent, SweepRequest, run_size_sweep

if TYPE_CHECKING:
    from sweeps.profiling.plan import Pause
    from sweeps.reports.measured import TuningReport
    from sweeps.tuner.measuring import MeasureProgress
    from sweeps.tuner.optimizing import CompiledModel


class Speaking(Silent):
    """A script hears of one thing only: which host key was taken without being compared."""

    def trusting(self, text: str) -> None:
        print(text, file=sys.stderr)

    def measuring(self, progress: MeasureProgress) -> None: ...
    def pausing(self, pause: Pause) -> None: ...


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


def get_report_details(profiler: Any, criteria: str) -> tuple[float | int, dict[str, Any]]:
    """`(time_us, report)` by latency, `(total_dram, report)` in bytes by bandwidth, of a QHAS summary.

    `profiler` is a path, a text or a mapping of QHAS JSON, or an object that holds one. Raise `BadInput` for another
    criterion, `ReportUnreadable` for another profile or one without the value.
    """
    from sweeps.tuner.report_details import report_details

    return report_details(profiler, criteria)


def optimize(
    model: Any,
    criteria: str,
    compile_args: Mapping[str, Any] | None = None,
    execution_args: Mapping[str, Any] | None = None,
) -> tuple[CompiledModel, TuningReport]:
    """Compile the config as given and every valid P, run each on the device, and return the best with its report.

    `compile_args`: `config` (a path or the settings; inner or wrapper), `soc`, `max_workers`, `free_dimensions`,
    `p_values`, `backend`, `output_path` (default `latency_optimized` or `bandwidth_optimized`). `execution_args`:
    `device` (an identifier or a `Device`), `perf_profile`, `profiling_level`, `rounds`, `runs`, `seed`, `inputs`, and
    for access `private_key`, `password_file`, `host_key` (a line, a file, or "accept"), `python`, `sdk`.

    Latency is in microseconds, from interleaved rounds; DRAM traffic in bytes, exact. Raise `ValueError` for bad
    arguments (`BadInput`, `DeviceRequired`), `EmulatedDevice` for latency where times mean nothing, before anything is
    compiled, and `NotRankable` where they are too noisy; `CompilationError` when no point compiled; `TransportError`
    for a device that cannot be reached, `DeviceLost` for one that went away; `RunnerError` where nothing runs there.
    """
    # Imported where it is needed: what is compiled only does not wait for ssh and numpy.
    from sweeps.tuner.arguments import tune_request
    from sweeps.tuner.optimizing import run_optimization

    return run_optimization(tune_request(model, criteria, compile_args, execution_args), Speaking())


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
