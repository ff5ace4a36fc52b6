"""The contract of a toolchain: `open(model, target)` gives a session, `session.compile(point)` a result.

Everything above knows toolchains by these types alone; the same test suite runs against each implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self

from pydantic import Field, NonNegativeInt

from devices.targets import Target
from sweeps.configs import HtpConfig
from sweeps.measurements import CycleEstimate, DramTraffic, Frozen, MemoryFootprint
from tunerweb.work.child import Limits

Cancelled = Callable[[], bool]
PhaseHeard = Callable[[str], None]


class ToolchainIdentity(Frozen):
    """Results are comparable only inside one identity."""

    name: str
    package_version: str
    build_id: str

    def __str__(self) -> str:
        return f"{self.name} {self.package_version} ({self.build_id})"


class Point(Frozen):
    """One setting of the search space: a complete HTP config, and the P value that was put into it.

    `as_given` marks the user's own config, P untouched; its `p_value` is whatever that config says.
    """

    config: HtpConfig
    p_value: int | None = None
    as_given: bool = False

    @property
    def label(self) -> str:
        return "as given" if self.as_given else f"P={self.p_value}"


class TensorInfo(Frozen):
    name: str
    dimensions: tuple[int, ...]
    data_type: str


class GrantedOptions(Frozen):
    """What the binary says it was built with. None: not recorded in the binary, or left to the compiler."""

    optimization_level: int | None = None
    p_value: int | None = None
    vtcm_bytes: int | None = None
    hvx_threads: int | None = None
    dlbc: bool | None = None


class GraphResult(Frozen):
    """What one compile says about one graph of the binary."""

    graph_name: str
    inputs: tuple[TensorInfo, ...] = ()
    outputs: tuple[TensorInfo, ...] = ()
    granted: GrantedOptions
    footprint: MemoryFootprint | None = None
    shared_weights_bytes: NonNegativeInt | None = None
    traffic: DramTraffic | None = None
    cycles: CycleEstimate | None = None
    finalize_us: NonNegativeInt | None = None
    finalize_phases_us: dict[str, NonNegativeInt] = Field(default_factory=dict)


class CompileResult(Frozen):
    """A compile that delivered a context binary.

    `binary` lies in the session's folder and is gone when the session closes. `rom_bytes` is the binary's own
    contextBlobSize, `file_bytes` the size of the file. `log` is capped.
    """

    identity: ToolchainIdentity
    binary: Path
    sha256: str
    file_bytes: NonNegativeInt
    rom_bytes: NonNegativeInt
    dsp_arch: int | None
    soc_model: int | None
    graphs: tuple[GraphResult, ...]
    wall_us: NonNegativeInt
    cpu_us: NonNegativeInt
    peak_memory_bytes: NonNegativeInt | None
    native_us: NonNegativeInt
    log: str

    @property
    def footprint(self) -> MemoryFootprint | None:
        """Summed over all graphs; None when one of them does not report it."""
        parts = [graph.footprint for graph in self.graphs]
        return MemoryFootprint.sum(part for part in parts if part) if parts and all(parts) else None

    @property
    def traffic(self) -> DramTraffic | None:
        parts = [graph.traffic for graph in self.graphs]
        return DramTraffic.sum(part for part in parts if part) if parts and all(parts) else None

    @property
    def simulated_cycles(self) -> int | None:
        parts = [graph.cycles for graph in self.graphs]
        return sum(part.cycles for part in parts if part) if parts and all(parts) else None

    @property
    def shared_weights_bytes(self) -> int | None:
        """The pool of the context, counted once; None when it is not reported or the graphs disagree about it."""
        pools = {graph.shared_weights_bytes for graph in self.graphs}
        return pools.pop() if len(pools) == 1 else None


class Session(Protocol):
    """One model on one target. A context manager: closing it removes its folder and the binaries in it."""

    @property
    def identity(self) -> ToolchainIdentity: ...

    @property
    def graph_names(self) -> tuple[str, ...]: ...

    def compile(
        self,
        point: Point,
        *,
        limits: Limits = ...,
        cancelled: Cancelled | None = None,
        hear_phase: PhaseHeard | None = None,
    ) -> CompileResult:
        """`hear_phase` is told what the compile does now, where the toolchain knows.

        Raise `ConfigRejected`, `ModelRejected`, `LimitReached`, `ToolFailed` or `Cancelled`.
        """
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...


class Toolchain(Protocol):
    @property
    def identity(self) -> ToolchainIdentity: ...

    def open(
        self,
        model: Path,
        target: Target,
        *,
        graph_names: tuple[str, ...] | None = None,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
    ) -> Session:
        """The limits and the cancel are those of reading the model, which need not be read for known graph names."""
        ...

    def read_context(self, binary: Path) -> dict[str, Any]:
        """The binary's info in the JSON shape of `qnn-context-binary-utility`, version 3."""
        ...
