"""Which section owns which key, and what people write in its place."""

from __future__ import annotations

import difflib
from itertools import islice
from typing import Any

from sweeps.configs.findings import Path
from sweeps.configs.schema import (
    ContextConfig,
    CoreConfig,
    DeviceConfig,
    GraphConfig,
    GroupContextConfig,
    HtpConfig,
    MemoryConfig,
    Section,
)

GRAPH: Path = ("graphs", 0)
DEVICE: Path = ("devices", 0)
# In order of how likely a misplaced key belongs there.
HOMES: dict[type[Section], Path] = {
    CoreConfig: (*DEVICE, "cores", 0),
    GraphConfig: GRAPH,
    ContextConfig: ("context",),
    DeviceConfig: DEVICE,
    GroupContextConfig: ("groupContext",),
    MemoryConfig: ("memory",),
    HtpConfig: (),
}
# Names of other tools, of the compiler's inside and of older versions, in lower case.
ALIASES = {
    "htp_arch": "dsp_arch",
    "arch": "dsp_arch",
    "hexagon_arch": "dsp_arch",
    "soc": "soc_model",
    "soc_id": "soc_model",
    "socmodel": "soc_model",
    "use_high_precision_fp16_sigmoid": "high_precision_sigmoid",
    "optimization_level": "O",
    "optimizationlevel": "O",
    "opt_level": "O",
    "vtcm": "vtcm_mb",
    "vtcm_size_in_mb": "vtcm_mb",
    "vtcm_size_mb": "vtcm_mb",
    "graph_name": "graph_names",
    "graphs_names": "graph_names",
    "num_hvx_threads": "hvx_threads",
    "enable_dlbc": "dlbc",
    "dlbc_weight_compression": "dlbc_weights",
    "sparsity_weight_compression": "sparse_weights_compression",
    "slc_allocate": "slc_alloc_enable",
    "num_nsps": "num_cores",
    "soc_type": "soc_model",
    "weight_sharing": "weight_sharing_enabled",
    "fp16": "fp16_relaxed_precision",
    "graph": "graphs",
    "graph_configs": "graphs",
    "device": "devices",
    "core": "cores",
    "contexts": "context",
    "group_context": "groupContext",
}
LONGEST_KEY = 60
MOST_KEYS_TRIED = 100


SECTIONS = tuple(HOMES)
BY_LOWERED = {key.casefold(): key for section in SECTIONS for key in section.model_fields}


def owners(key: str) -> list[type[Section]]:
    return [section for section in SECTIONS if key in section.model_fields]


def is_inner(tree: dict[str, Any]) -> bool:
    """Whether an object is meant as HTP settings: a section of them, or a key that belongs into one."""
    return any(key in tree for key in HtpConfig.model_fields) or any(
        is_like_p(key) or intended_key(key) for key in islice(tree, MOST_KEYS_TRIED)
    )


def is_like_p(key: str) -> bool:
    return key.strip().casefold() in ("p", "p_value", "p_point")


def intended_key(key: str) -> str | None:
    """The key that an unknown one was meant to be, of whatever section."""
    lowered = key.casefold()
    if owners(key) or len(key) > LONGEST_KEY:
        return key if owners(key) else None
    meant = ALIASES.get(lowered) or BY_LOWERED.get(lowered)
    near = difflib.get_close_matches(lowered, BY_LOWERED, n=1, cutoff=0.8) if meant is None else []
    return BY_LOWERED[near[0]] if near else meant


def right_place(key: str, section: type[Section], path: Path) -> Path | None:
    """Where the value of a key that `section` does not know belongs; None when nothing is like it."""
    if is_like_p(key):
        return (*path, "finalize_config", "P") if section is GraphConfig else (*GRAPH, "finalize_config", "P")
    meant = intended_key(key)
    if meant is None:
        return None
    if meant in section.model_fields:
        return (*path, meant)
    home = owners(meant)[0]
    inside = home is CoreConfig and section is DeviceConfig
    return (*path, "cores", 0, meant) if inside else (*HOMES[home], meant)
