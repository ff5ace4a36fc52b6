"""Models as they are handed in: recognised, completed, and for ONNX converted to DLC."""

from sweeps.toolchain.convert.content import SourceKind, recognise
from sweeps.toolchain.convert.conversion import (
    Conversion,
    FreeDimensionsMissing,
    NodesUnsupported,
    UnsupportedNode,
    convert_onnx,
)
from sweeps.toolchain.convert.prepare import prepare_source
from sweeps.toolchain.convert.sources import (
    DataFile,
    SourceDescription,
    SourceRejected,
    SourceTensor,
    describe_source,
)

__all__ = [
    "Conversion",
    "DataFile",
    "FreeDimensionsMissing",
    "NodesUnsupported",
    "SourceDescription",
    "SourceKind",
    "SourceRejected",
    "SourceTensor",
    "UnsupportedNode",
    "convert_onnx",
    "describe_source",
    "prepare_source",
    "recognise",
]
