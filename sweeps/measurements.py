"""What one compile says about a context binary: sizes, traffic, simulated cycles.

An absent value means that the toolchain does not report it; it is never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, NonNegativeInt


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MemoryFootprint(Frozen):
    """Bytes of RAM that a graph needs while it runs, by kind, from the context binary's own info.

    The shared weights are one pool per context, counted apart (`ram_bytes` leaves them out).
    """

    op_data_bytes: NonNegativeInt
    const_bytes: NonNegativeInt
    io_tensor_bytes: NonNegativeInt
    ddr_tensor_bytes: NonNegativeInt
    spill_fill_bytes: NonNegativeInt

    @property
    def ram_bytes(self) -> int:
        """The one definition of RAM: op data + constants + I/O tensors + DDR tensors + spill-fill buffer."""
        return (
            self.op_data_bytes + self.const_bytes + self.io_tensor_bytes + self.ddr_tensor_bytes + self.spill_fill_bytes
        )

    @staticmethod
    def sum(footprints: Iterable[MemoryFootprint]) -> MemoryFootprint:
        parts = list(footprints)
        names = MemoryFootprint.model_fields
        return MemoryFootprint(**{name: sum(getattr(part, name) for part in parts) for name in names})


class DramTraffic(Frozen):
    """Bytes to and from DDR per inference, as the compiler plans them; spill and fill are inside the totals."""

    read_total_bytes: NonNegativeInt
    write_total_bytes: NonNegativeInt
    spill_bytes: NonNegativeInt
    fill_bytes: NonNegativeInt

    @property
    def total_bytes(self) -> int:
        return self.read_total_bytes + self.write_total_bytes

    @staticmethod
    def sum(parts: Iterable[DramTraffic]) -> DramTraffic:
        traffic = list(parts)
        names = DramTraffic.model_fields
        return DramTraffic(**{name: sum(getattr(part, name) for part in traffic) for name in names})


class CycleOrigin(StrEnum):
    ESTIMATE = "compiler estimate"
    SCHEDULE = "simulated schedule"


class CycleEstimate(Frozen):
    """Core cycles of one inference in the compiler's own simulation: never a latency.

    `lower_cycles` and `upper_cycles` come with the compiler's own estimates only. `simulated_us` is the same at the
    simulated core clock, which a P value may change: cycles at different clocks do not compare.
    """

    origin: CycleOrigin
    cycles: NonNegativeInt
    lower_cycles: NonNegativeInt | None = None
    upper_cycles: NonNegativeInt | None = None
    simulated_us: NonNegativeInt | None = None
