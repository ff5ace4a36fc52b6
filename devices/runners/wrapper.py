"""The ONNX file around a context binary that ONNX Runtime's QNN provider takes: one node that names the file."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

from devices.runners.base import BinaryInfo, RunFailed, TensorInfo

DOMAIN = "com.microsoft"
ONNX_TYPES = {
    "FLOAT_32": TensorProto.FLOAT,
    "FLOAT_16": TensorProto.FLOAT16,
    "UFIXED_POINT_8": TensorProto.UINT8,
    "SFIXED_POINT_8": TensorProto.INT8,
    "UFIXED_POINT_16": TensorProto.UINT16,
    "SFIXED_POINT_16": TensorProto.INT16,
    "INT_8": TensorProto.INT8,
    "INT_16": TensorProto.INT16,
    "INT_32": TensorProto.INT32,
    "INT_64": TensorProto.INT64,
    "UINT_8": TensorProto.UINT8,
    "UINT_16": TensorProto.UINT16,
    "UINT_32": TensorProto.UINT32,
    "BOOL_8": TensorProto.BOOL,
}


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
    element = ONNX_TYPES.get(tensor.data_type)
    if element is None:
        raise RunFailed(f"{tensor.name} has the type {tensor.data_type}, which this runner cannot hand over.")
    return helper.make_tensor_value_info(tensor.name, element, tensor.shape)
