"""The documented Python API: same names, arguments, results and file names as Qualcomm's published tuner module."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from devices.runners.base import BinaryMismatch, RunFailed, RunnerError, RunnerMissing
from devices.transports.errors import TransportError
from sweeps.profiling.blocks import NotRankable
from sweeps.tuner.api import (
    get_context_size_info,
    get_graph_names,
    get_report_details,
    optimize,
    optimizeROMandRAM,
    update_graph_configs,
)
from sweeps.tuner.criteria import Criteria, validate_backend_type
from sweeps.tuner.errors import CompilationError, DeviceLost, DeviceRequired, EmulatedDevice, ReportUnreadable
from sweeps.tuner.inputs import BadInput

if TYPE_CHECKING:
    from sweeps.reports.measured import MeasuredRow, TuningReport
    from sweeps.tuner.devices import Access, Device
    from sweeps.tuner.optimizing import CompiledModel

# Imported when they are asked for: they bring ssh and numpy along, for which a sweep by size does not wait.
_LATER = {
    "Access": "sweeps.tuner.devices",
    "CompiledModel": "sweeps.tuner.optimizing",
    "Device": "sweeps.tuner.devices",
    "MeasuredRow": "sweeps.reports.measured",
    "TuningReport": "sweeps.reports.measured",
}

__all__ = [
    "Access",
    "BadInput",
    "BinaryMismatch",
    "CompilationError",
    "CompiledModel",
    "Criteria",
    "Device",
    "DeviceLost",
    "DeviceRequired",
    "EmulatedDevice",
    "MeasuredRow",
    "NotRankable",
    "ReportUnreadable",
    "RunFailed",
    "RunnerError",
    "RunnerMissing",
    "TransportError",
    "TuningReport",
    "get_context_size_info",
    "get_graph_names",
    "get_report_details",
    "optimize",
    "optimizeROMandRAM",
    "update_graph_configs",
    "validate_backend_type",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
