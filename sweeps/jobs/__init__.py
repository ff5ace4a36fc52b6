"""What hints call: claim work until there is none, do it, settle it. Only here the server runs toolchains."""

from sweeps.jobs.devices import work_on_a_device
from sweeps.jobs.loops import work_on_compiles, work_on_inspections
from sweeps.jobs.toolchains import register_toolchain

__all__ = ["register_toolchain", "work_on_a_device", "work_on_compiles", "work_on_inspections"]
