"""The rows: what people bring (sources, configs), the work it needs, the sweeps that want the work."""

from sweeps.models.configs import CompileConfig, ConfigVersion
from sweeps.models.measuring import DeviceOutputs, DeviceSession, MeasurementBlock, Verdict, Verification
from sweeps.models.sources import Inspection, SourceFile, SourceModel, Upload, UploadState
from sweeps.models.sweeps import Sweep, Trial, TrialKind, TrialState
from sweeps.models.tags import Tag
from sweeps.models.work import Compilation, Conversion, Toolchain

__all__ = [
    "Compilation",
    "CompileConfig",
    "ConfigVersion",
    "Conversion",
    "DeviceOutputs",
    "DeviceSession",
    "Inspection",
    "MeasurementBlock",
    "SourceFile",
    "SourceModel",
    "Sweep",
    "Tag",
    "Toolchain",
    "Trial",
    "TrialKind",
    "TrialState",
    "Upload",
    "UploadState",
    "Verdict",
    "Verification",
]
