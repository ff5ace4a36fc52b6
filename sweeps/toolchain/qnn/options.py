"""From an HTP config to the numbers that the compile child puts into native option structs.

Keys of the schema that are not here act at run time on the device; a test holds the two lists against each other.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from sweeps.configs import HtpConfig

Option = dict[str, Any]
Encode = Callable[[Any], bytes]


def _packed(code: str) -> Encode:
    return lambda value: struct.pack("<" + code, value)


def _optimization(kind: int) -> tuple[int, Encode]:
    return 1, lambda value: struct.pack("<If", kind, float(value))


GRAPH_OPTIONS: dict[str, tuple[int, Encode]] = {
    "O": _optimization(3),
    "dlbc": _optimization(4),
    "dlbc_weights": _optimization(5),
    "sparse_weights_compression": _optimization(6),
    "slc_alloc_enable": _optimization(7),
    "vtcm_retention": _optimization(8),
    "cached_weights": _optimization(9),
    "fp16_relaxed_precision": (2, _packed("I")),
    "vtcm_mb": (3, _packed("I")),
    "fold_relu_activation_into_conv_off": (4, _packed("B")),
    "short_depth_conv_on_hmx_off": (5, _packed("B")),
    "hvx_threads": (6, _packed("Q")),
    "num_cores": (8, _packed("I")),
    "vtcm_size": (10, _packed("I")),
    "weights_packing": (12, _packed("B")),
    "assume_same_quant": (13, _packed("B")),
    "share_io_buffer": (14, _packed("B")),
    "advanced_activation_fusion": (15, _packed("B")),
    "high_precision_sigmoid": (16, _packed("B")),
    "monolithic_lstm": (17, _packed("B")),
    "precision_compensation": (18, _packed("B")),
    "enable_predication": (19, _packed("B")),
    "fp16_clamp_overflow": (20, _packed("B")),
}
CONTEXT_OPTIONS: dict[str, tuple[int, Encode]] = {
    "weight_sharing_enabled": (1, _packed("B")),
    "file_read_memory_budget_in_mb": (3, _packed("Q")),
    "extended_udma": (11, _packed("B")),
    "lora_weight_sharing": (13, _packed("B")),
    "graph_splitting_enabled": (22, _packed("B")),
}


def graph_options(config: HtpConfig, graph_names: Sequence[str]) -> dict[str, list[Option]]:
    """The options of each graph, in the config's order; a graph that the config does not name has none."""
    options: dict[str, list[Option]] = {name: [] for name in graph_names}
    for graph in config.graphs:
        fields = graph.model_dump(exclude_none=True)
        encoded = [_encode(GRAPH_OPTIONS, key, value) for key, value in fields.items() if key in GRAPH_OPTIONS]
        finalize = [{"key": key, "value": value} for key, value in (graph.finalize_config or {}).items()]
        for name in graph.graph_names or graph_names:
            options.setdefault(name, []).extend(encoded + finalize)
    return options


def context_options(config: HtpConfig) -> list[Option]:
    fields = config.context.model_dump(exclude_none=True) if config.context else {}
    return [_encode(CONTEXT_OPTIONS, key, value) for key, value in fields.items() if key in CONTEXT_OPTIONS]


def _encode(table: dict[str, tuple[int, Encode]], key: str, value: Any) -> Option:
    number, encode = table[key]
    return {"id": number, "payload": encode(value).hex()}
