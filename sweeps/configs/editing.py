"""Make one config from another: put a P in, give graphs their entries, start from nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sweeps.configs.schema import GraphConfig, HtpConfig


def default_config(graph_names: Sequence[str]) -> HtpConfig:
    """No settings at all: the compiler's defaults, one empty entry that names every graph."""
    return HtpConfig(graphs=(GraphConfig(graph_names=tuple(graph_names)),))


def with_p_value(config: HtpConfig, p_value: int, graph_names: Sequence[str]) -> HtpConfig:
    """O=3 and this P on every graph. A graph that no entry names gets an entry of its own; other settings stay."""
    named = {name for graph in config.graphs for name in graph.graph_names}
    missing = tuple(name for name in graph_names if name not in named)
    graphs = (*config.graphs, GraphConfig(graph_names=missing)) if missing else config.graphs
    return config.model_copy(update={"graphs": tuple(_with_p(graph, p_value) for graph in graphs)})


def _with_p(graph: GraphConfig, p_value: int) -> GraphConfig:
    finalize_config = {**(graph.finalize_config or {}), "P": p_value}
    return graph.model_copy(update={"O": 3, "finalize_config": finalize_config})
