"""The ONNX file around a context binary that ONNX Runtime's QNN provider takes: one node that names the file."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx
from onnx import helper

from devices.runners.base import BinaryInfo, TensorInfo
from devices.runners.tensors import numpy_type

DOMAIN = "com.microsoft"


def write_wrapper(info: BinaryInfo, binary_name: str, path: Path) -> None:
    """Beside the binary on the device. Raises `RunFailed` for a tensor of a type that ONNX has no word for."""
    node = helper.make_node(
        "EPContext",
        [tensor.name for tensor in info.inputs],
        [tensor.name for tensor in info.outputs],
        name=info.graph_name,
        domain=DOMAIN,
        main_context=1,
        embed_mode=0,
        ep_cache_context=binary_name,
        source="QNNExecutionProvider",
        partition_name=info.graph_name,
    )
    inputs, outputs = ([_value(tensor) for tensor in tensors] for tensors in (info.inputs, info.outputs))
    graph = helper.make_graph([node], info.graph_name, inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def _value(tensor: TensorInfo) -> onnx.ValueInfoProto:
    element = helper.np_dtype_to_tensor_dtype(numpy.dtype(numpy_type(tensor)))
    return helper.make_tensor_value_info(tensor.name, element, tensor.shape)
