"""A toolchain that compiles nothing: deterministic numbers in no time, for tests of everything above it.

Its name says what it is wherever a result is shown. `ends` makes points end in other ways.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from devices.targets import Target
from sweeps.measurements import CycleEstimate, CycleOrigin, DramTraffic, MemoryFootprint
from sweeps.toolchain.base import (
    Cancelled,
    CompileResult,
    GrantedOptions,
    GraphResult,
    PhaseHeard,
    Point,
    ToolchainIdentity,
)
from tunerweb.work.child import Limits
from tunerweb.work.scratch import scratch_root

GRAPH_NAME = "fake_graph"
Ending = Callable[[Point, Cancelled | None], None]


class FakeToolchain:
    """`ends[p_value]` is called in place of a compile of that P; it raises what the compile is to end with."""

    identity = ToolchainIdentity(name="fake", package_version="0", build_id="fake build")

    def __init__(self, ends: Mapping[int | None, Ending] | None = None) -> None:
        self.ends = dict(ends or {})
        self.compiled: list[Point] = []

    def open(
        self,
        model: Path,
        target: Target,
        *,
        graph_names: tuple[str, ...] | None = None,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
    ) -> FakeSession:
        return FakeSession(self, target)

    def read_context(self, binary: Path) -> dict[str, Any]:
        context: dict[str, Any] = json.loads(binary.read_bytes())
        return context


class FakeSession:
    graph_names = (GRAPH_NAME,)

    def __init__(self, toolchain: FakeToolchain, target: Target) -> None:
        self.toolchain = toolchain
        self.target = target
        self.identity = toolchain.identity

    def __enter__(self) -> Self:
        self._root = scratch_root()
        self.folder = self._root.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._root.__exit__(None, None, None)

    def compile(
        self,
        point: Point,
        *,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
        hear_phase: PhaseHeard | None = None,
    ) -> CompileResult:
        if hear_phase:
            hear_phase("finalize")
        if ending := self.toolchain.ends.get(point.p_value):
            ending(point, cancelled)
        self.toolchain.compiled.append(point)
        return self._result(point)

    def _result(self, point: Point) -> CompileResult:
        settings = json.dumps(point.config.to_json(), sort_keys=True).encode()
        binary = self.folder / f"{hashlib.sha256(settings).hexdigest()}.bin"
        binary.write_bytes(settings)
        return CompileResult(
            identity=self.identity,
            binary=binary,
            sha256=hashlib.sha256(settings).hexdigest(),
            file_bytes=len(settings),
            rom_bytes=100_000 + 1_000 * (point.p_value or 0),
            dsp_arch=int(self.target.dsp_arch.removeprefix("v")),
            soc_model=self.target.soc_model,
            graphs=(_graph(point),),
            wall_us=1_000,
            cpu_us=1_000,
            peak_memory_bytes=2**20,
            native_us=900,
            log="",
        )


def _graph(point: Point) -> GraphResult:
    return GraphResult(
        graph_name=GRAPH_NAME,
        granted=GrantedOptions(p_value=point.p_value),
        footprint=MemoryFootprint(
            op_data_bytes=1_000, const_bytes=2_000, io_tensor_bytes=3_000, ddr_tensor_bytes=0, spill_fill_bytes=0
        ),
        traffic=DramTraffic(read_total_bytes=4_000, write_total_bytes=1_000, spill_bytes=0, fill_bytes=0),
        cycles=CycleEstimate(origin=CycleOrigin.SCHEDULE, cycles=50_000),
    )
