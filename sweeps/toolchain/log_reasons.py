"""Phrases of the compiler's and the execution provider's logs, turned into sentences for people.

The phrases are the tools' own and were met in real logs and in public threads; a phrase not known here is no reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sweeps.toolchain.codes import explain_code


@dataclass(frozen=True)
class Reason:
    """`consequence`: follows from another failure and says nothing about its cause. `node`: where it happened."""

    sentence: str
    consequence: bool = False
    node: str | None = None
    data_types: tuple[DataTypeRow, ...] = ()


@dataclass(frozen=True)
class DataTypeRow:
    """What one input or output of an operation was given, and what each supported combination takes there."""

    tensor: str
    asked: str
    supported: tuple[str, ...]


GENERATED = re.compile(r'"(?P<node>[^"\n]+)" generated: (?P<complaint>[^\n]*)', re.IGNORECASE)
TCM = re.compile(
    r"requires (?P<needed>0x[0-9a-f]+) bytes of TCM.*?TCM size of (?P<available>0x[0-9a-f]+)", re.IGNORECASE
)
ALLOCATION = re.compile(
    r"requires estimated allocation of (?P<needed>\d+) KB, limit is (?P<limit>\d+) KB", re.IGNORECASE
)
NOT_BUILT = re.compile(r"could not create op", re.IGNORECASE)
FOLLOW_ON = re.compile(r"\berr(?:or)?:? (?:0x138b|5003)\b", re.IGNORECASE)
DATA_TYPES = re.compile(r"datatypes requested for the HTP Op '(?P<op>[^']+)' in the node '(?P<node>[^']+)'")
REQUESTED = re.compile(r"Requested I/O datatype set")
SUPPORTED = re.compile(r"Supported I/O datatype sets|^\s*\d+:\s*$")
TENSOR = re.compile(r"\b(?P<tensor>(?:in|out)\[\d+\])\s*:\s*QNN_DATATYPE_(?P<type>\w+)")


def explain(log: str) -> tuple[Reason, ...]:
    """The reasons found, each once: causes first and in the order of the log, then what only follows from them."""
    found = [reason for find in FINDERS for reason in find(log)]
    causes = [reason for reason in found if not reason.consequence]
    return tuple(dict.fromkeys(causes + [reason for reason in found if reason.consequence]))


def _memory_too_small(log: str) -> list[Reason]:
    named = [(match["complaint"], match["node"]) for match in GENERATED.finditer(log)]
    reasons = [reason for text, node in named if (reason := _tcm(text, node))]
    return reasons or [reason for line in log.splitlines() if (reason := _tcm(line, None))]


def _tcm(text: str, node: str | None) -> Reason | None:
    match = TCM.search(text)
    if not match:
        return None
    needed, available = (_megabytes(int(match[name], 16)) for name in ("needed", "available"))
    sentence = (
        f"{_node(node)} cannot be placed in VTCM: {needed} needed, {available} available; "
        "split it, make its input smaller, or choose a target with more VTCM."
    )
    return Reason(sentence, node=node)


def _graph_too_large(log: str) -> list[Reason]:
    sentences = []
    for match in ALLOCATION.finditer(log):
        needed, limit = (_gigabytes(int(match[name])) for name in ("needed", "limit"))
        sentences.append(
            f"The graph is too large: {needed} needed, {limit} is the limit per graph, "
            "more host memory will not help; quantize the weights or split the model."
        )
    return [Reason(sentence) for sentence in sentences]


def _not_built(log: str) -> list[Reason]:
    nodes = [match["node"] for match in GENERATED.finditer(log) if NOT_BUILT.search(match["complaint"])]
    advice = "The compiler has no implementation for its shapes or data types on this target; replace or change it."
    return [Reason(f"{_node(node)} could not be built. {advice}", node=node) for node in nodes]


def _wrong_data_types(log: str) -> list[Reason]:
    heads = list(DATA_TYPES.finditer(log))
    ends = [match.start() for match in heads[1:]] + [len(log)]
    return [_data_types(head, log[head.end() : end]) for head, end in zip(heads, ends, strict=False)]


def _data_types(head: re.Match[str], block: str) -> Reason:
    asked, *supported = _type_sets(block) or [{}]
    rows = tuple(
        DataTypeRow(tensor, given, tuple(dict.fromkeys(types[tensor] for types in supported if tensor in types)))
        for tensor, given in asked.items()
    )
    wrong = [row for row in rows if row.supported and row.asked not in row.supported] or list(rows)
    told = "; ".join(_told(*types, wrong) for types in dict.fromkeys((row.asked, row.supported) for row in wrong))
    sentence = f'{head["op"]} in node "{head["node"]}" does not take these data types ({told}); cast around it.'
    return Reason(sentence, node=head["node"], data_types=rows)


def _told(asked: str, supported: tuple[str, ...], rows: list[DataTypeRow]) -> str:
    tensors = ", ".join(row.tensor for row in rows if (row.asked, row.supported) == (asked, supported))
    return f"{tensors}: asked {asked}, supported {', '.join(supported) or 'not told'}"


def _type_sets(block: str) -> list[dict[str, str]]:
    """The tables in the log, the requested one first; each maps a tensor to its data type."""
    sets: list[dict[str, str]] = []
    for line in block.splitlines():
        if REQUESTED.search(line) or SUPPORTED.search(line):
            sets.append({})
        elif sets and (match := TENSOR.search(line)):
            sets[-1][match["tensor"]] = match["type"]
    return [types for types in sets if types]


def _follow_ons(log: str) -> list[Reason]:
    if not FOLLOW_ON.search(log):
        return []
    return [Reason(explain_code(0x138B), consequence=True)]


def _node(name: str | None) -> str:
    return f'Node "{name}"' if name else "A node"


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.3g} MB"


def _gigabytes(size_kb: int) -> str:
    return f"{round(size_kb / 2**20, 1):g} GB"


FINDERS: tuple[Callable[[str], list[Reason]], ...] = (
    _memory_too_small,
    _graph_too_large,
    _wrong_data_types,
    _not_built,
    _follow_ons,
)
