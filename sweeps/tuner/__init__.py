"""The documented Python API: same names, arguments, results and file names as Qualcomm's published tuner module."""

from sweeps.tuner.api import (
    CompilationError,
    Criteria,
    DeviceRequired,
    get_context_size_info,
    get_graph_names,
    get_report_details,
    optimize,
    optimizeROMandRAM,
    update_graph_configs,
    validate_backend_type,
)

__all__ = [
    "CompilationError",
    "Criteria",
    "DeviceRequired",
    "get_context_size_info",
    "get_graph_names",
    "get_report_details",
    "optimize",
    "optimizeROMandRAM",
    "update_graph_configs",
    "validate_backend_type",
]
