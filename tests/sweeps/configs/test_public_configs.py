"""Configs as people have published them, rebuilt small: each is read for what it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sweeps.configs import ConfigUnreadable, check_config, findings_in_log, read_config, target_number_of
from tests.sweeps.configs.checks import SM8650, accepted, check, only_problem, sentences, with_p

BURST = {"perf_profile": "burst", "rpc_control_latency": 100}
NO_GRAPHS = {
    "devices": [{"soc_model": 69, "dsp_arch": "v79", "cores": [{"core_id": 0, **BURST}]}],
    "memory": {"mem_type": "shared_buffer"},
    "groupContext": {"share_resources": True},
}
NO_SOC = {"devices": [{"cores": [BURST]}]}
NO_SOC_WITH_CORE_ID = {"devices": [{"cores": [{"core_id": 0, **BURST}]}]}
TRAILING_COMMA = (
    '{"graphs":[{"vtcm_mb":8,"O":3,"graph_names":["tiny_a"]},],'
    '"devices":[{"dsp_arch":"v68","soc_id":62,"pd_session":"unsigned","device_id":0}]}'
)
ONE_GRAPH: dict[str, Any] = {"vtcm_mb": 0, "O": 3, "fp16_relaxed_precision": 1}
GRAPHS_AS_OBJECT = {"graphs": ONE_GRAPH}
GRAPHS_AS_LIST = {"graphs": [ONE_GRAPH]}
BOTH_LEVELS: dict[str, Any] = {
    "backend_extensions": {"shared_library_path": "libQnnHtpNetRunExtensions.so"},
    "context": {"weight_sharing_enabled": False},
    "graphs": [{"O": 3, "vtcm_mb": 8, "fp16_relaxed_precision": True}],
    "devices": [
        {
            "dsp_arch": "v75",
            "soc_id": 57,
            "soc_model": 57,
            "pd_session": "unsigned",
            "cores": [{"core_id": 0, "perf_profile": "burst"}],
        }
    ],
}
WRAPPER = {
    "backend_extensions": {
        "shared_library_path": "libQnnHtpNetRunExtensions.so",
        "config_file_path": "inner.json",
    },
    "graph_configs": [{"graph_name": "tiny_a", "graph_priority": "high"}],
}
EXTENDED_UDMA = {
    "context": [{"extended_udma": True}],
    "devices": [{"soc_id": 88, "dsp_arch": "v81", "cores": [BURST]}],
}
ENTRY_PER_GRAPH: dict[str, Any] = {
    "graphs": [{"graph_names": ["tiny_a"], "vtcm_mb": 8}, {"graph_names": ["tiny_b"], "vtcm_mb": 4}],
    "devices": [{"soc_model": 69, "dsp_arch": "v79"}],
    "context": {"weight_sharing_enabled": False},
}
TWO_CORES = {
    "devices": [
        {
            "soc_model": 77,
            "dsp_arch": "v73",
            "cores": [{"core_id": 0, "perf_profile": "burst"}, {"core_id": 1, "perf_profile": "burst"}],
        }
    ]
}
BOTH_GRAPHS = ("tiny_a", "tiny_b")


def test_a_config_without_graphs_gets_an_entry_and_a_banner() -> None:
    checked = check(NO_GRAPHS, soc=None)
    assert accepted(checked).graphs[0].graph_names == ("tiny_a",)
    assert sentences(checked.warnings, "graphs").startswith(
        "No graph options: compiler defaults would apply (O=2, the SoC's full VTCM)"
    )


def test_a_config_without_graphs_keeps_memory_and_group_context() -> None:
    written = accepted(check(NO_GRAPHS, soc=None)).to_json()
    assert written["memory"] == NO_GRAPHS["memory"]
    assert written["groupContext"] == NO_GRAPHS["groupContext"]


@pytest.mark.parametrize("config", [NO_SOC, NO_SOC_WITH_CORE_ID])
def test_a_missing_soc_is_filled_in_from_the_target(config: dict[str, Any]) -> None:
    checked = check(config, soc=SM8650)
    device = accepted(checked).to_json()["devices"][0]
    assert (device["soc_model"], device["dsp_arch"]) == (57, "v75")
    assert device["cores"] == config["devices"][0]["cores"]
    assert "filled in by us" in sentences(checked.notes, "devices[0].soc_model")


def test_a_missing_soc_without_a_target_is_a_warning() -> None:
    checked = check(NO_SOC, soc=None)
    assert accepted(checked).devices[0].soc_model is None
    assert "choose a target" in sentences(checked.warnings, "devices")


def test_a_trailing_comma_is_removed_with_its_line() -> None:
    checked = check(TRAILING_COMMA, soc=None)
    assert json.loads(json.dumps(accepted(checked).to_json()))["graphs"][0]["vtcm_mb"] == 8
    assert "Trailing comma removed at line 1" in sentences(checked.notes, "")


def test_a_soc_is_looked_up() -> None:
    checked = check(TRAILING_COMMA, soc=None)
    assert accepted(checked).devices[0].soc_model == 62
    assert "soc_model 62 is SA8540 (v68" in sentences(checked.notes, "devices[0].soc_model")


def test_a_soc_that_the_table_lacks_is_said_and_its_arch_named() -> None:
    problem = only_problem(check(TRAILING_COMMA.replace("62", "999"), soc=None))
    assert "999" in problem.sentence
    assert "v68" in problem.sentence


def test_graphs_as_object_and_as_list_are_one_config() -> None:
    as_object, as_list = accepted(check(GRAPHS_AS_OBJECT)), accepted(check(GRAPHS_AS_LIST))
    assert as_object == as_list
    assert as_object.fingerprint == as_list.fingerprint


def test_graphs_as_object_leaves_a_note() -> None:
    assert "list of one entry" in sentences(check(GRAPHS_AS_OBJECT).notes, "graphs")


def test_vtcm_0_is_shown_as_maximum() -> None:
    assert "maximum (0), 8 MB on SM8650" in sentences(check(GRAPHS_AS_LIST).notes, "graphs[0].vtcm_mb")


def test_a_meaningless_file_is_neither_wrapper_nor_settings() -> None:
    with pytest.raises(ConfigUnreadable, match=r"neither the wrapper .* nor HTP settings"):
        read_config(b'{"backend_extensions":{"htp":{"context_config":{"uuid":"HTP_V73"}}}}')


def test_both_levels_in_one_file_are_recognised() -> None:
    document = read_config(json.dumps(BOTH_LEVELS).encode())
    assert document.kind == "combined"
    assert "backend_extensions" not in document.tree


def test_both_levels_in_one_file_leave_notes_of_each_change() -> None:
    checked = check(BOTH_LEVELS)
    assert accepted(checked).graphs[0].fp16_relaxed_precision == 1
    assert "filled in from the model" in sentences(checked.notes, "graphs[0].graph_names")
    assert "true was written as 1" in sentences(checked.notes, "graphs[0].fp16_relaxed_precision")
    assert "in one file" in sentences(checked.notes, "")


def test_soc_id_unlike_soc_model_is_a_problem() -> None:
    devices = [{**BOTH_LEVELS["devices"][0], "soc_id": 43}]
    problem = only_problem(check({**BOTH_LEVELS, "devices": devices}))
    assert problem.path == "devices[0].soc_id"
    assert "soc_id is 43 and soc_model is 57" in problem.sentence


def test_a_wrapper_names_its_file_and_warns_of_its_foreign_keys() -> None:
    document = read_config(json.dumps(WRAPPER).encode())
    assert (document.kind, document.config_file_path, document.tree) == ("wrapper", "inner.json", {})
    assert [warning.path for warning in document.warnings] == ["graph_configs[0].graph_priority"]


def test_the_warnings_of_a_wrapper_come_with_the_settings_it_names() -> None:
    wrapper = read_config(json.dumps(WRAPPER).encode())
    inner = read_config(json.dumps(GRAPHS_AS_LIST).encode())
    checked = check_config(wrapper.with_settings(inner), graph_names=("tiny_a",))
    assert accepted(checked).graphs[0].O == 3
    assert "graph_configs[0].graph_priority" in [warning.path for warning in checked.warnings]


def test_a_wrapper_without_its_settings_cannot_be_compiled() -> None:
    problem = only_problem(check(WRAPPER))
    assert '"inner.json"' in problem.sentence


def test_an_invalid_key_in_a_log_is_not_the_cause() -> None:
    log = "0.1ms [ERROR] Invalid key: graph_configs/0/graph_priority\n0.2ms [ERROR] Failed to load model"
    (finding,) = findings_in_log(log)
    assert finding.path == "graph_configs[0].graph_priority"
    assert "another cause" in finding.sentence


def test_extended_udma_is_accepted_in_a_context_list() -> None:
    checked = check(EXTENDED_UDMA, soc=None)
    assert accepted(checked).to_json()["context"] == {"extended_udma": True}
    assert sentences(checked.warnings, "context.extended_udma") == ""


def test_extended_udma_is_warned_of_below_v81() -> None:
    checked = check({"context": [{"extended_udma": True}]}, soc=SM8650)
    assert accepted(checked).context is not None
    assert "v81 or later" in sentences(checked.warnings, "context.extended_udma")


def test_each_graph_keeps_its_own_values() -> None:
    config = accepted(check(ENTRY_PER_GRAPH, soc=None, graph_names=BOTH_GRAPHS))
    assert {graph.graph_names: graph.vtcm_mb for graph in config.graphs} == {("tiny_a",): 8, ("tiny_b",): 4}


def test_one_graph_in_two_entries_names_both() -> None:
    graphs = [*ENTRY_PER_GRAPH["graphs"], {"graph_names": ["tiny_a"], "vtcm_mb": 2}]
    problem = only_problem(check({**ENTRY_PER_GRAPH, "graphs": graphs}, soc=None, graph_names=BOTH_GRAPHS))
    assert '"tiny_a"' in problem.sentence
    assert "graphs[0] and graphs[2]" in problem.sentence


def test_a_foreign_library_is_replaced_visibly() -> None:
    wrapper = {
        "backend_extensions": {"shared_library_path": r"D:\sdk\lib\QnnHtpNetRunExtensions.dll"},
        **ENTRY_PER_GRAPH,
    }
    checked = check(wrapper, soc=None, graph_names=BOTH_GRAPHS)
    accepted(checked)
    note = sentences(checked.notes, "backend_extensions.shared_library_path")
    assert "QnnHtpNetRunExtensions.dll" in note
    assert "replaced by libQnnHtpNetRunExtensions.so" in note


def test_two_listed_cores_do_not_make_the_graph_use_them() -> None:
    checked = check(TWO_CORES, soc=None)
    accepted(checked)
    assert "the graph will still use one core" in sentences(checked.warnings, "devices[0].cores")


@pytest.mark.parametrize(("config", "sentence"), [({}, "empty object"), ([], "empty list")])
def test_empty_devices_say_nothing(config: Any, sentence: str) -> None:
    checked = check({"devices": config})
    assert accepted(checked).devices[0].soc_model == SM8650
    assert sentence in sentences(checked.notes, "devices")


def test_cores_as_text_are_a_problem() -> None:
    problem = only_problem(check({"devices": [{"cores": "0"}]}))
    assert problem.path == "devices[0].cores"
    assert 'cores is "0", and it must be a list' in problem.sentence


@pytest.mark.parametrize(("data", "sentence"), [(b"", "config is empty"), (b"[]", r"config holds \[\]")])
def test_an_empty_file_and_a_list_have_their_own_sentences(data: bytes, sentence: str) -> None:
    with pytest.raises(ConfigUnreadable, match=sentence):
        read_config(data)


def test_a_dialog_config_names_the_file_to_upload() -> None:
    dialog = {"dialog": {"version": 1, "engine": {"backend": {"type": "QnnHtp", "extensions": "htp_backend.json"}}}}
    with pytest.raises(
        ConfigUnreadable, match=r'Genie dialog config.*upload the file it mentions, "htp_backend\.json"'
    ):
        read_config(json.dumps(dialog).encode())


def test_a_duplicate_key_is_refused_with_both_values() -> None:
    with pytest.raises(ConfigUnreadable, match='"vtcm_mb" twice in one object, with 4 and 8'):
        read_config(b'{"graphs":[{"vtcm_mb":4,"vtcm_mb":8}]}')


@pytest.mark.parametrize(
    "config",
    [
        NO_GRAPHS,
        NO_SOC,
        TRAILING_COMMA,
        GRAPHS_AS_OBJECT,
        GRAPHS_AS_LIST,
        BOTH_LEVELS,
        EXTENDED_UDMA,
        ENTRY_PER_GRAPH,
        TWO_CORES,
        with_p(6),
    ],
)
def test_a_written_config_is_read_back_as_itself(config: dict[str, Any] | str) -> None:
    document = read_config((config if isinstance(config, str) else json.dumps(config)).encode())
    soc = None if target_number_of(document) else SM8650
    names = BOTH_GRAPHS if config is ENTRY_PER_GRAPH else ("tiny_a",)
    first = accepted(check(config, soc=soc, graph_names=names))
    again = accepted(check(first.to_json(), soc=soc, graph_names=names))
    assert again == first
    assert again.fingerprint == first.fingerprint
