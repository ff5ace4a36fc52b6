"""Small ONNX models of our own, each with one property that a converter may stumble over."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

RANDOM = np.random.default_rng(7)


def floats(name: str, *shape: int | str | None) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def constant(name: str, array: Any) -> TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def weights(name: str, *shape: int) -> TensorProto:
    return constant(name, RANDOM.normal(size=shape).astype(np.float32))


def write(
    path: Path,
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    constants: Sequence[TensorProto] = (),
) -> Path:
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=9), path)
    return path


def free_batch(path: Path, batch: str | None = "N") -> Path:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    shapes = [floats("x", batch, 3, 32, 32)], [floats("y", batch, 4, 30, 30)]
    return write(path, nodes, *shapes, [weights("w", 4, 3, 3, 3)])


def float_cnn(path: Path) -> Path:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("Reshape", ["r", "shape"], ["f"], name="reshape"),
        helper.make_node("Gemm", ["f", "fc"], ["y"], name="gemm"),
    ]
    constants = [weights("w", 4, 3, 3, 3), constant("shape", np.array([1, 144])), weights("fc", 144, 5)]
    return write(path, nodes, [floats("x", 1, 3, 8, 8)], [floats("y", 1, 5)], constants)


def relocated(path: Path, *locations: str) -> Path:
    """The external tensors of a saved model say that they lie elsewhere."""
    model = onnx.load(path, load_external_data=False)
    for tensor, location in zip(model.graph.initializer, locations, strict=True):
        tensor.external_data[0].value = location
    path.write_bytes(model.SerializeToString())
    return path


def token_lookup(path: Path, location: str = "tiny.onnx.data") -> Path:
    """int64 input, and weights in a file of their own beside the model."""
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["e"], name="gather"),
        helper.make_node("MatMul", ["e", "w"], ["y"], name="matmul"),
    ]
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, 8])]
    constants = [weights("embedding", 16, 8), weights("w", 8, 4)]
    data = b""
    for tensor in constants:
        raw = tensor.raw_data
        onnx.external_data_helper.set_external_data(tensor, location, offset=len(data), length=len(raw))
        tensor.ClearField("raw_data")
        data += raw
    write(path, nodes, inputs, [floats("y", 1, 8, 4)], constants)
    (path.parent / location.rpartition("/")[2]).write_bytes(data)
    return path


def dynamic_quantization(path: Path) -> Path:
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], name="quantize_1"),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["y"], name="multiply_1"),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 4])]
    return write(path, nodes, [floats("x", 1, 8)], outputs, [constant("w", np.ones((8, 4), np.int8))])


def computed_scale(path: Path) -> Path:
    nodes = [
        helper.make_node("Mul", ["s", "one"], ["scale"], name="mul"),
        helper.make_node("BatchNormalization", ["x", "scale", "one", "one", "one"], ["y"], name="norm_1"),
    ]
    inputs = [floats("x", 1, 3, 8, 8), floats("s", 3)]
    return write(path, nodes, inputs, [floats("y", 1, 3, 8, 8)], [constant("one", np.ones(3, np.float32))])


def quantized_single(path: Path, op_type: str) -> Path:
    scale = [constant("scale", np.float32(0.05)), constant("zero", np.uint8(128))]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], name="q1"),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"], name="d1"),
        helper.make_node(op_type, ["d"], ["r"], name="single"),
        helper.make_node("QuantizeLinear", ["r", "scale", "zero"], ["p"], name="q2"),
        helper.make_node("DequantizeLinear", ["p", "scale", "zero"], ["y"], name="d2"),
    ]
    return write(path, nodes, [floats("x", 1, 8)], [floats("y", 1, 8)], scale)


def several_unsupported(path: Path) -> Path:
    """Two operations that the NPU does not have, one of them without a name, around one that it has."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Det", ["r"], ["d"], name="det_1"),
        helper.make_node("Acosh", ["r"], ["y"]),
    ]
    return write(path, nodes, [floats("x", 1, 3, 3)], [floats("y", 1, 3, 3), floats("d", 1)])


def custom_operations(path: Path) -> Path:
    """Two operations that ONNX does not know: one of a domain of its own, one that no opset has."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Blur", ["r"], ["b"], name="blur_1", domain="our.own"),
        helper.make_node("Sharpen", ["b"], ["y"], name="sharpen_1"),
    ]
    return write(path, nodes, [floats("x", 1, 8)], [floats("y", 1, 8)])


def ep_context(path: Path, *caches: bytes | None) -> Path:
    nodes = []
    for index, cache in enumerate(caches):
        node = helper.make_node("EPContext", ["x"], [f"y{index}"], name=f"context_{index}", domain="com.microsoft")
        attributes = {"main_context": 1} | ({} if cache is None else {"ep_cache_context": cache})
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        nodes.append(node)
    return write(path, nodes, [floats("x", 1)], [floats(f"y{index}", 1) for index in range(len(caches))])


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
