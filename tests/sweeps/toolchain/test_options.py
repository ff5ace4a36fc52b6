from __future__ import annotations

import struct

import pytest

from sweeps.configs import ContextConfig, GraphConfig, HtpConfig, key_role
from sweeps.toolchain.qnn.options import CONTEXT_OPTIONS, GRAPH_OPTIONS, context_options, graph_options


@pytest.mark.parametrize(("section", "table"), [(GraphConfig, GRAPH_OPTIONS), (ContextConfig, CONTEXT_OPTIONS)])
def test_every_compile_time_key_reaches_the_compiler(
    section: type[GraphConfig] | type[ContextConfig], table: dict[str, object]
) -> None:
    keys = {key for key in section.model_fields if key_role(section, key) == "compile"}
    assert keys - {"finalize_config"} == set(table)


def test_an_optimization_option_is_its_kind_and_a_float() -> None:
    config = HtpConfig(graphs=(GraphConfig(graph_names=("g",), O=3),))
    assert graph_options(config, ["g"]) == {"g": [{"id": 1, "payload": struct.pack("<If", 3, 3.0).hex()}]}


def test_finalize_keys_go_by_name() -> None:
    config = HtpConfig(graphs=(GraphConfig(graph_names=("g",), finalize_config={"P": 5, "hextimate": True}),))
    assert graph_options(config, ["g"]) == {"g": [{"key": "P", "value": 5}, {"key": "hextimate", "value": True}]}


def test_each_graph_has_the_options_of_its_own_entry() -> None:
    graphs = (GraphConfig(graph_names=("a",), vtcm_mb=8), GraphConfig(graph_names=("b",), vtcm_mb=4))
    options = graph_options(HtpConfig(graphs=graphs), ["a", "b"])
    assert [options[name][0]["payload"] for name in ("a", "b")] == ["08000000", "04000000"]


def test_an_unset_context_gives_no_options() -> None:
    assert context_options(HtpConfig()) == []


def test_a_false_context_option_is_still_said() -> None:
    config = HtpConfig(context=ContextConfig(weight_sharing_enabled=False))
    assert context_options(config) == [{"id": 1, "payload": "00"}]
