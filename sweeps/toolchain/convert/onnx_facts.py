"""What an ONNX model says about itself, as plain JSON. Imports onnx: for children only. Weights are never loaded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from sweeps.toolchain.convert.archives import quoted
from sweeps.toolchain.convert.provider_log import ADVICE

Json = dict[str, Any]
MOST_NODES = 1_000_000
DEEPEST = 32
FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16}
TWO_IN_A_BYTE = {TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1}
QUANTIZING = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "ConvInteger"}
WEIGHTED = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Einsum"}
ONNX_DOMAIN = "ai.onnx"
PROVIDED_DOMAINS = ("com.microsoft", "com.ms.", "ai.onnx.", "org.pytorch.aten")
BATCH_NORM_CONSTANTS = ("scale", "bias", "mean", "variance")


class UnusableModel(ValueError):
    """It parses, and no writer makes such a model. The message is the end of a sentence."""


def load(path: Path) -> ModelProto:
    """Raise `DecodeError` or `UnusableModel`."""
    model = onnx.load(path, load_external_data=False)
    if not all(isinstance(text, str) for text in _texts(model)):
        raise UnusableModel("it is damaged: a name in it is not text")
    return model


def _texts(model: ModelProto) -> Iterator[Any]:
    """The texts that are read here. What is not UTF-8 comes out of the parser as bytes."""
    yield from (model.producer_name, model.producer_version, *(entry.domain for entry in _opset_imports(model)))
    yield from (text for function in model.functions for text in (function.domain, function.name))
    for node in all_nodes(model):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for graph in _graphs(model):
        yield graph.name
        yield from (text for tensor in graph.initializer for text in _tensor_texts(tensor))
    yield from (text for tensor in _attribute_tensors(all_nodes(model)) for text in _tensor_texts(tensor))
    for value in _values(model):
        yield from (value.name, *(dim.dim_param for dim in value.type.tensor_type.shape.dim))


def _tensor_texts(tensor: TensorProto) -> Iterator[Any]:
    yield tensor.name
    for entry in tensor.external_data:
        yield from (entry.key, entry.value)


def describe(model: ModelProto) -> Json:
    nodes = list(all_nodes(model))
    tensors = [tensor for graph in _graphs(model) for tensor in graph.initializer]
    constants = {tensor.name for tensor in tensors}
    inputs = [value for value in model.graph.input if value.name not in constants]
    return {
        "model_name": model.graph.name,
        "producer": f"{model.producer_name} {model.producer_version}".strip(),
        "opset": next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), None),
        "inputs": [_value(value) for value in inputs],
        "outputs": [_value(value) for value in model.graph.output],
        "op_counts": dict(Counter(node.op_type for node in nodes).most_common()),
        "precision": _precision(model, nodes, tensors),
        "data_files": _data_files([*tensors, *_attribute_tensors(nodes)]),
        "unsupported": unsupported(model),
        "ep_context": _ep_context(nodes),
        "wide_integers": any(value.type.tensor_type.elem_type == TensorProto.INT64 for value in inputs),
        "rank_5_tensors": sum(_rank(value) > 4 for value in _values(model)),
    }


def free_dimensions(value: Json) -> list[str]:
    return [dim for dim in value["dims"] if isinstance(dim, str)]


def set_dimensions(model: ModelProto, sizes: dict[str, int]) -> None:
    """Put numbers in the place of free dimensions, named as `describe` names them, wherever they occur."""
    for value in _values(model):
        for index, dim in enumerate(value.type.tensor_type.shape.dim):
            size = sizes.get(_free_name(value.name, index, dim) or "")
            if size is not None:
                dim.dim_value = size


def node_label(node: NodeProto | None) -> str:
    """How a sentence begins that is about this node; one without a name is known by what it produces."""
    if node is not None and node.name:
        return f"Node {quoted(node.name)}"
    return f"The node that produces {quoted(node.output[0])}" if node is not None and node.output else "A node"


def _values(model: ModelProto) -> Iterator[ValueInfoProto]:
    for graph in _graphs(model):
        yield from (*graph.input, *graph.value_info, *graph.output)


def _graphs(model: ModelProto) -> Iterator[GraphProto]:
    yield from _subgraphs(model.graph, 0)


def _subgraphs(graph: GraphProto, depth: int) -> Iterator[GraphProto]:
    if depth > DEEPEST:
        raise UnusableModel(f"it nests subgraphs more than {DEEPEST} deep, which no compiler takes; flatten it")
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
                yield from _subgraphs(inner, depth + 1)


def all_nodes(model: ModelProto) -> Iterator[NodeProto]:
    count = 0
    for part in (*_graphs(model), *model.functions):
        count += len(part.node)
        if count > MOST_NODES:
            raise UnusableModel(f"it has more than {MOST_NODES} nodes; split it into several models")
        yield from part.node


def _value(value: ValueInfoProto) -> Json:
    tensor = value.type.tensor_type
    dims = [_free_name(value.name, index, dim) or dim.dim_value for index, dim in enumerate(tensor.shape.dim)]
    has_shape = value.type.HasField("tensor_type") and tensor.HasField("shape")
    return {"name": value.name, "dims": dims if has_shape else None, "type": _type_name(tensor.elem_type)}


def _type_name(elem_type: int) -> str:
    try:
        return str(helper.tensor_dtype_to_np_dtype(elem_type))
    except (KeyError, TypeError):
        return "unknown"


def _free_name(tensor: str, index: int, dim: Any) -> str | None:
    """The name a person gives a free dimension by; a dimension without a name of its own gets one from its place."""
    if dim.HasField("dim_value") and dim.dim_value > 0:
        return None
    return dim.dim_param or f"{tensor}[{index}]"


def _rank(value: ValueInfoProto) -> int:
    rank: int = len(value.type.tensor_type.shape.dim)
    return rank


def _precision(model: ModelProto, nodes: list[NodeProto], tensors: list[TensorProto]) -> str:
    """`float`, `integer` or `quantized` when all is of one kind; `mixed` when some weighted operation is float.

    Dynamic quantization counts as mixed: what the NPU can do of it, it does in float.
    """
    if not any(_is_quantizing(node) for node in nodes):
        types = {value.type.tensor_type.elem_type for value in _values(model)} | {item.data_type for item in tensors}
        return "float" if types & FLOATS or not types else "integer"
    if any(node.op_type == "DynamicQuantizeLinear" for node in nodes):
        return "mixed"
    dequantized = {name for node in nodes if node.op_type == "DequantizeLinear" for name in node.output}
    weighted = [node for node in nodes if node.op_type in WEIGHTED]
    return "quantized" if all(node.input[0] in dequantized for node in weighted if node.input) else "mixed"


def _is_quantizing(node: NodeProto) -> bool:
    return node.op_type in QUANTIZING or node.op_type.startswith("QLinear")


def _attribute_tensors(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors) if attribute.HasField("t") else attribute.tensors


def _data_files(tensors: Iterable[TensorProto]) -> list[Json]:
    """Each external file once, with the bytes it must at least have."""
    needed: dict[str, int] = {}
    for tensor in tensors:
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            location = entries.get("location", "")
            end = _number(entries.get("offset")) + (_number(entries.get("length")) or _tensor_bytes(tensor))
            needed[location] = max(needed.get(location, 0), end)
    return [{"location": location, "bytes": size} for location, size in needed.items()]


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) <= 19 else 0


def _tensor_bytes(tensor: TensorProto) -> int:
    elements: int = math.prod(max(0, dim) for dim in tensor.dims)
    if tensor.data_type in TWO_IN_A_BYTE:
        return (elements + 1) // 2
    name = _type_name(tensor.data_type)
    if name in ("unknown", "object"):
        return 0
    item_bytes: int = helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    return elements * item_bytes


def unsupported(model: ModelProto) -> list[Json]:
    """Nodes that are refused on every target, with the reason; the execution provider may refuse more."""
    nodes = list(all_nodes(model))
    constants = {tensor.name for graph in _graphs(model) for tensor in graph.initializer}
    produced = {name: node for node in nodes for name in node.output}
    readers: dict[str, list[NodeProto]] = {}
    for node in nodes:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    told = []
    unknown = _unknown_operations(model)
    for node in nodes:
        if reason := unknown(node) or _why_unsupported(node, produced, readers, constants):
            told.append({"label": node_label(node), "op_type": node.op_type, "reason": reason})
    return told


def _opset_imports(model: ModelProto) -> Iterator[Any]:
    for part in (model, *model.functions):
        yield from part.opset_import


def _unknown_operations(model: ModelProto) -> Callable[[NodeProto], str | None]:
    """Why nobody can know what a node does. Domains that are not ONNX's own are left to the execution provider."""
    opsets = {entry.version for entry in _opset_imports(model) if entry.domain in ("", ONNX_DOMAIN)} or {1}
    own = {(function.domain, function.name) for function in model.functions}

    def why(node: NodeProto) -> str | None:
        domain = node.domain or ONNX_DOMAIN
        if (node.domain, node.op_type) in own or domain.startswith(PROVIDED_DOMAINS):
            return None
        if domain != ONNX_DOMAIN:
            return f"it is a custom operation of the domain {quoted(domain)}, replace it with operations of ONNX"
        known = any(onnx.defs.has(node.op_type, version, "") for version in opsets)
        return None if known else f"ONNX has no such operation in opset {max(opsets)}, replace it or export anew"

    return why


def _why_unsupported(
    node: NodeProto, produced: dict[str, NodeProto], readers: dict[str, list[NodeProto]], constants: set[str]
) -> str | None:
    if node.op_type in ADVICE:
        return None if _becomes_float_matmul(node, readers) else ADVICE[node.op_type]
    if node.op_type == "BatchNormalization":
        fixed = constants | {name for name, source in produced.items() if source.op_type in _CONSTANT_SOURCES}
        named = zip(node.input[1:], BATCH_NORM_CONSTANTS, strict=False)
        return next((f"the {role} must be a constant" for name, role in named if name not in fixed), None)
    return None


_CONSTANT_SOURCES = {"Constant", "DequantizeLinear", "Identity", "Cast"}


def _becomes_float_matmul(node: NodeProto, readers: dict[str, list[NodeProto]]) -> bool:
    """The execution provider takes dynamic quantization, multiplication and Cast together for one float operation."""
    after = [reader for name in node.output[:1] for reader in readers.get(name, [])]
    if node.op_type == "DynamicQuantizeLinear":
        return bool(after) and all(_becomes_float_matmul(reader, readers) for reader in after)
    return node.op_type == "MatMulInteger" and [reader.op_type for reader in after] == ["Cast"]


def _ep_context(nodes: list[NodeProto]) -> Json | None:
    contexts = [node for node in nodes if node.op_type == "EPContext"]
    if not contexts:
        return None
    empty = [node.name or "without a name" for node in contexts if not _holds_context(node)]
    return {"nodes": len(contexts), "empty": empty}


def _holds_context(node: NodeProto) -> bool:
    """A node that is not the main one refers to the context of another and needs none of its own."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if "main_context" in attributes and attributes["main_context"].i == 0:
        return True
    return "ep_cache_context" in attributes and bool(attributes["ep_cache_context"].s)
