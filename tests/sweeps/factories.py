"""Trials for tests: small made-up ones, and those that the recorded sizes of a real compiler give."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from devices.targets import Target, find_target
from sweeps.configs import GraphConfig, HtpConfig
from sweeps.measurements import CycleEstimate, CycleOrigin, DramTraffic, MemoryFootprint
from sweeps.ranking import TrialOutcome
from sweeps.toolchain.base import CompileResult, GrantedOptions, GraphResult, Point, ToolchainIdentity
from sweeps.toolchain.errors import ConfigRejected

GOLDEN = Path(__file__).parents[1] / "data" / "golden_sizes.json"
GRAPH = "net"
SM8650 = find_target("SM8650")
CLOCK_MHZ = 1500


def config(graph_name: str = GRAPH, **settings: Any) -> HtpConfig:
    return HtpConfig(graphs=(GraphConfig(graph_names=(graph_name,), **settings),))


def point(p_value: int | None, *, as_given: bool = False, **settings: Any) -> Point:
    """A swept point with O=3 and its P; `as_given` takes the settings alone."""
    if as_given:
        return Point(config=config(**settings), p_value=p_value, as_given=True)
    return Point(config=config(O=3, finalize_config={"P": p_value}, **settings), p_value=p_value)


def estimate(
    cycles: int, *, origin: CycleOrigin = CycleOrigin.ESTIMATE, clock_mhz: float | None = CLOCK_MHZ
) -> CycleEstimate:
    return CycleEstimate(origin=origin, cycles=cycles, simulated_us=int(cycles / clock_mhz) if clock_mhz else None)


def footprint(ram_bytes: int) -> MemoryFootprint:
    return MemoryFootprint(
        op_data_bytes=ram_bytes, const_bytes=0, io_tensor_bytes=0, ddr_tensor_bytes=0, spill_fill_bytes=0
    )


def traffic(dram_bytes: int) -> DramTraffic:
    return DramTraffic(read_total_bytes=dram_bytes, write_total_bytes=0, spill_bytes=0, fill_bytes=0)


def graph(
    *,
    name: str = GRAPH,
    ram: int | None = 2000,
    dram: int | None = None,
    cycles: CycleEstimate | None = None,
    granted: GrantedOptions | None = None,
    shared_weights: int | None = 0,
) -> GraphResult:
    return GraphResult(
        graph_name=name,
        granted=granted or GrantedOptions(),
        footprint=None if ram is None else footprint(ram),
        traffic=None if dram is None else traffic(dram),
        cycles=cycles,
        shared_weights_bytes=shared_weights,
    )


def result(*graphs: GraphResult, rom: int = 1000, target: Target = SM8650, **fields: Any) -> CompileResult:
    given: dict[str, Any] = {
        "identity": ToolchainIdentity(name="made up", package_version="1", build_id="v1"),
        "binary": Path("context.bin"),
        "sha256": f"{rom:064x}",
        "file_bytes": rom + 4096,
        "rom_bytes": rom,
        "dsp_arch": int(target.dsp_arch.removeprefix("v")),
        "soc_model": target.soc_model,
        "graphs": graphs or (graph(),),
        "wall_us": 1_000_000,
        "cpu_us": 900_000,
        "peak_memory_bytes": 300_000_000,
        "native_us": 950_000,
        "log": "",
    }
    return CompileResult(**given | fields)


def trial(p_value: int | None, *graphs: GraphResult, rom: int = 1000, **graph_fields: Any) -> TrialOutcome:
    return TrialOutcome(point(p_value), result(*(graphs or (graph(**graph_fields),)), rom=rom))


def given_trial(*, rom: int = 1000, p_value: int | None = None, **graph_fields: Any) -> TrialOutcome:
    return TrialOutcome(point(p_value, as_given=True), result(graph(**graph_fields), rom=rom))


def failed_trial(p_value: int | None, reason: str = "The compiler said no.", *, as_given: bool = False) -> TrialOutcome:
    return TrialOutcome(point(p_value, as_given=as_given), error=reason, failure=ConfigRejected(reason))


@cache
def golden() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return recorded


def golden_trials(model: str, soc_model: int) -> tuple[TrialOutcome, ...]:
    """Every P of a recorded sweep, with the sizes that the compiler of the recorded build gave."""
    target = find_target(soc_model)
    rows = golden()["models"][model][str(soc_model)]
    numbers = {int(key): row for key, row in rows.items() if key.isdecimal()}
    return tuple(
        _golden_trial(p_value, row, target) if row else failed_trial(p_value)
        for p_value, row in sorted(numbers.items())
    )


def _golden_trial(p_value: int, row: dict[str, Any], target: Target) -> TrialOutcome:
    cycles = None
    if "estimated_cycles" in row:
        cycles = CycleEstimate(
            origin=CycleOrigin.ESTIMATE, cycles=row["estimated_cycles"], simulated_us=row["simulated_us"]
        )
    network = GraphResult(
        graph_name=GRAPH,
        granted=GrantedOptions(optimization_level=3, p_value=p_value, vtcm_bytes=4 * 2**20, dlbc=False),
        footprint=MemoryFootprint(**{name: row[name] for name in MemoryFootprint.model_fields}),
        traffic=DramTraffic(**{name: row[name] for name in DramTraffic.model_fields}),
        cycles=cycles,
        shared_weights_bytes=row["shared_weights_bytes"],
    )
    compiled = result(network, rom=row["rom_bytes"], target=target, file_bytes=row["file_bytes"])
    return TrialOutcome(point(p_value), compiled)
