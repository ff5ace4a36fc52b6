"""A model that takes a while to send: almost all of it is weights in a file of their own."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

ROWS, COLUMNS = 1024, 15 * 1024
FLOAT_BYTES = 4
WEIGHT_BYTES = ROWS * COLUMNS * FLOAT_BYTES


def big_model(folder: Path) -> tuple[Path, Path]:
    """An ONNX model of some kilobytes and its weights of 60 MiB."""
    weights = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS])
    weights.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "big.data"), ("offset", "0"), ("length", str(WEIGHT_BYTES))):
        weights.external_data.add(key=key, value=value)
    shapes = {"x": [1, ROWS], "y": [1, COLUMNS]}
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items())
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="matmul")], "big", [x], [y], [weights]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / "big.onnx").write_bytes(model.SerializeToString())
    data = folder / "big.data"
    row = bytes(range(256)) * (COLUMNS * FLOAT_BYTES // 256)
    data.write_bytes(row * ROWS)
    return folder / "big.onnx", data
