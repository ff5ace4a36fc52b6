"""From what the compile child answered to the typed result of one compile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sweeps.measurements import CycleEstimate, CycleOrigin, DramTraffic, MemoryFootprint
from sweeps.toolchain.base import CompileResult, GrantedOptions, GraphResult, TensorInfo, ToolchainIdentity
from sweeps.toolchain.qnn import abi
from tunerweb.work.child import ChildOutcome

Json = dict[str, Any]


def compile_result(answer: Json, outcome: ChildOutcome, binary: Path, identity: ToolchainIdentity) -> CompileResult:
    context = answer["context"]["info"]
    infos = {graph["info"]["graphName"]: graph["info"] for graph in context["graphs"]}
    traffic: list[Json | None] = list(answer["traffic"])
    traffic += [None] * (len(answer["graphs"]) - len(traffic))
    p_value = answer["p_values"][0] if len(answer["p_values"]) == 1 else None
    return CompileResult(
        identity=identity,
        binary=binary,
        sha256=answer["sha256"],
        file_bytes=answer["file_bytes"],
        rom_bytes=context["contextBlobSize"],
        dsp_arch=(context["contextMetadata"] or {"info": {"dspArch": None}})["info"]["dspArch"],
        soc_model=context["socModel"],
        graphs=tuple(
            graph_result(infos[graph["graph_name"]], graph, graph_traffic, p_value)
            for graph, graph_traffic in zip(answer["graphs"], traffic, strict=True)
        ),
        wall_us=outcome.wall_us,
        cpu_us=outcome.cpu_us,
        peak_memory_bytes=outcome.peak_memory_bytes,
        native_us=sum(answer["steps_us"].values()),
        log=outcome.log,
    )


def graph_result(info: Json, finalized: Json, traffic: Json | None, p_value: int | None) -> GraphResult:
    phases = [event for event in finalized["events"] if event["type"] == abi.EVENT_FINALIZE]
    return GraphResult(
        graph_name=info["graphName"],
        inputs=tensors(info["graphInputs"]),
        outputs=tensors(info["graphOutputs"]),
        granted=granted_options(info, p_value),
        footprint=memory_footprint(info),
        shared_weights_bytes=info.get("graphBlobInfoV2", {}).get("sharedWeightsSize"),
        traffic=DramTraffic(**traffic) if traffic else None,
        cycles=cycle_estimate(finalized),
        finalize_us=phases[0]["value"] if phases else None,
        finalize_phases_us={child["name"]: child["value"] for event in phases for child in event["children"]},
    )


def tensors(infos: list[Json]) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(
            name=tensor["info"]["name"],
            dimensions=tuple(tensor["info"]["dimensions"]),
            data_type=tensor["info"]["dataType"].removeprefix("QNN_DATATYPE_"),
        )
        for tensor in infos
    )


def granted_options(info: Json, p_value: int | None) -> GrantedOptions:
    """0 in the optimization level and the HVX threads means that nothing was asked for: not recorded."""
    blob = info.get("graphBlobInfo", {}).get("info")
    if blob is None:
        return GrantedOptions(p_value=p_value)
    return GrantedOptions(
        optimization_level=blob["optimizationLevel"] or None,
        p_value=p_value,
        vtcm_bytes=blob["vtcmSize"],
        hvx_threads=blob["numHvxThreads"] or None,
        dlbc=bool(blob["htpDlbc"]),
    )


def memory_footprint(info: Json) -> MemoryFootprint | None:
    """None for a binary of an older build, which records no sizes by kind."""
    first, second = info.get("graphBlobInfo"), info.get("graphBlobInfoV2")
    if first is None or second is None:
        return None
    return MemoryFootprint(
        op_data_bytes=second["opDataSize"],
        const_bytes=second["constSize"],
        io_tensor_bytes=second["ioTensorSize"],
        ddr_tensor_bytes=second["ddrTensorSize"],
        spill_fill_bytes=first["info"]["spillFillBufferSize"],
    )


def cycle_estimate(finalized: Json) -> CycleEstimate | None:
    """The compiler's own estimate where it gives one, else the length of its simulated schedule."""
    headings = [event for event in finalized["events"] if event["type"] == abi.EVENT_ESTIMATES]
    values = {child["type"]: child["value"] for event in headings for child in event["children"]}
    if abi.EVENT_CYCLES in values:
        return CycleEstimate(
            origin=CycleOrigin.ESTIMATE,
            cycles=values[abi.EVENT_CYCLES],
            lower_cycles=values.get(abi.EVENT_CYCLES_LOWER),
            upper_cycles=values.get(abi.EVENT_CYCLES_UPPER),
            simulated_us=values.get(abi.EVENT_TIME_US),
        )
    if schedule := finalized["schedule"]:
        clock = schedule["core_mhz"]
        return CycleEstimate(
            origin=CycleOrigin.SCHEDULE,
            cycles=schedule["cycles"],
            simulated_us=round(schedule["cycles"] / clock) if clock else None,
        )
    return None
