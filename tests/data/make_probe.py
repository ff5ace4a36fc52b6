"""Write the ONNX model that `sweeps/toolchain/qnn/probe.dlc` was converted from: one quantized convolution.

python tests/data/make_probe.py probe.onnx
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper, save

SHAPE = [1, 8, 8, 8]


def quantized(name: str, source: str, result: str) -> list[NodeProto]:
    quantize = helper.make_node("QuantizeLinear", [source, "scale", "zero"], [f"{name}_q"], name=f"{name}_quantize")
    dequantize = helper.make_node(
        "DequantizeLinear", [f"{name}_q", "scale", "zero"], [result], name=f"{name}_dequantize"
    )
    return [quantize, dequantize]


def probe_model() -> ModelProto:
    weights = (np.arange(8 * 8).reshape(8, 8, 1, 1) % 13 - 6).astype(np.int8)
    constants = [
        numpy_helper.from_array(np.float32(0.05), "scale"),
        numpy_helper.from_array(np.uint8(128), "zero"),
        numpy_helper.from_array(weights, "weights_q"),
        numpy_helper.from_array(np.float32(0.02), "weights_scale"),
        numpy_helper.from_array(np.int8(0), "weights_zero"),
    ]
    nodes = [
        *quantized("input", "x", "x_dq"),
        helper.make_node("DequantizeLinear", ["weights_q", "weights_scale", "weights_zero"], ["w"], name="weights"),
        helper.make_node("Conv", ["x_dq", "w"], ["c"], name="conv"),
        *quantized("output", "c", "y"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE)]
    graph = helper.make_graph(nodes, "probe", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    return model


if __name__ == "__main__":
    save(probe_model(), Path(sys.argv[1]))
