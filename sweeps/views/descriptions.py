"""What an inspection found, laid out for a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Dimension:
    text: str
    is_free: bool


@dataclass(frozen=True)
class ShownTensor:
    """`dims` is None when the model does not tell the shape."""

    role: str
    name: str
    dims: tuple[Dimension, ...] | None
    data_type: str


@dataclass(frozen=True)
class ShownGraph:
    name: str
    tensors: tuple[ShownTensor, ...]


def shown_description(description: Json) -> Json:
    op_counts = description.get("op_counts") or {}
    most_first = sorted(op_counts.items(), key=lambda item: (-item[1], item[0]))
    return {"size_bytes": None, **description} | {
        "graphs": [_graph(graph) for graph in description.get("graphs") or []],
        "op_counts": most_first,
        "op_most": most_first[0][1] if most_first else 0,
        "op_total": sum(op_counts.values()),
    }


def _graph(graph: Json) -> ShownGraph:
    tensors = [_tensor("input", tensor) for tensor in graph.get("inputs") or []]
    tensors += [_tensor("output", tensor) for tensor in graph.get("outputs") or []]
    return ShownGraph(graph["name"], tuple(tensors))


def _tensor(role: str, tensor: Json) -> ShownTensor:
    dims = tensor.get("dims")
    shown = None if dims is None else tuple(Dimension(str(dim), not isinstance(dim, int)) for dim in dims)
    return ShownTensor(role, tensor["name"], shown, tensor["data_type"])
