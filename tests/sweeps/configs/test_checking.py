from __future__ import annotations

import json
from typing import Any

import pytest

from devices.targets import DspArch
from sweeps.configs import check_config, empty_document, read_config, with_p_value
from tests.sweeps.configs.checks import SM8650, accepted, check, graph, only_problem, sentences

AIC100 = 63


def test_no_config_at_all_becomes_one_with_a_target_and_the_graph_names() -> None:
    checked = check("{}", graph_names=("tiny_a", "tiny_b"))
    assert accepted(checked).to_json() == {
        "graphs": [{"graph_names": ["tiny_a", "tiny_b"]}],
        "devices": [{"soc_model": 57, "dsp_arch": "v75"}],
    }
    assert check_config(empty_document()).config is not None


@pytest.mark.parametrize("spelling", ["v75", "V75", "75", 75, 75.0, " v75 "])
def test_every_spelling_of_the_dsp_arch_is_one(spelling: Any) -> None:
    checked = check({"devices": [{"dsp_arch": spelling}]})
    assert accepted(checked).devices[0].dsp_arch is DspArch.V75
    assert ("was written as" in sentences(checked.notes, "devices[0].dsp_arch")) == (spelling != "v75")


@pytest.mark.parametrize(
    ("settings", "key", "value"),
    [
        ({"dlbc": True}, "dlbc", 1),
        ({"dlbc": False}, "dlbc", 0),
        ({"dlbc": 1.0}, "dlbc", 1),
        ({"weights_packing": 1}, "weights_packing", True),
        ({"weights_packing": 0}, "weights_packing", False),
        ({"O": 3.0}, "O", 3),
        ({"vtcm_mb": 4.0}, "vtcm_mb", 4),
    ],
)
def test_a_value_in_another_type_is_converted_with_a_note(settings: dict[str, Any], key: str, value: object) -> None:
    checked = check(graph(**settings))
    converted = accepted(checked).graphs[0].model_dump()[key]
    assert converted == value
    assert type(converted) is type(value)
    assert "was written as" in sentences(checked.notes, f"graphs[0].{key}")


def test_null_says_nothing_and_leaves_a_note() -> None:
    checked = check(graph(vtcm_mb=None))
    assert accepted(checked).graphs[0].vtcm_mb is None
    assert "null" in sentences(checked.notes, "graphs[0].vtcm_mb")


def test_a_graph_name_as_text_becomes_a_list() -> None:
    checked = check({"graphs": [{"graph_names": "tiny_a"}]})
    assert accepted(checked).graphs[0].graph_names == ("tiny_a",)
    assert "as a list" in sentences(checked.notes, "graphs[0].graph_names")


def test_the_parts_of_a_context_list_become_one_object() -> None:
    checked = check({"context": [{"weight_sharing_enabled": True}, {"group_id": 3}]})
    assert accepted(checked).to_json()["context"] == {"weight_sharing_enabled": True, "group_id": 3}
    assert "as an object" in sentences(checked.notes, "context")


def test_the_only_entry_is_bound_to_the_only_graph_of_a_converted_model() -> None:
    checked = check({"graphs": [{"graph_names": ["detector"], "vtcm_mb": 4}]}, rebind=True)
    assert accepted(checked).graphs[0].graph_names == ("tiny_a",)
    note = sentences(checked.notes, "graphs[0].graph_names")
    assert '"detector"' in note
    assert '"tiny_a"' in note


def test_several_entries_are_not_bound_to_one_graph() -> None:
    entries = [{"graph_names": ["decode"]}, {"graph_names": ["prefill"]}]
    assert len(check({"graphs": entries}, rebind=True).problems) == 2


def test_an_entry_is_not_bound_when_the_model_has_several_graphs() -> None:
    checked = check({"graphs": [{"graph_names": ["detector"]}]}, rebind=True, graph_names=("tiny_a", "tiny_b"))
    assert only_problem(checked).path == "graphs[0].graph_names"


def test_a_strange_name_is_corrected_to_the_most_similar_graph() -> None:
    names = ("decode", "prefill")
    problem = only_problem(check({"graphs": [{"graph_names": ["prefil", "decode"]}]}, graph_names=names))
    assert str(problem.fix) == 'set graphs[0].graph_names to ["prefill", "decode"]'


def test_the_nameless_entry_is_for_the_graphs_that_no_other_names() -> None:
    entries = [{"graph_names": ["tiny_a"]}, {"vtcm_mb": 4}]
    config = accepted(check({"graphs": entries}, graph_names=("tiny_a", "tiny_b", "tiny_c")))
    assert config.graphs[1].graph_names == ("tiny_b", "tiny_c")


def test_two_nameless_entries_are_proposed_a_graph_each() -> None:
    checked = check({"graphs": [{"O": 3}, {"O": 2}]}, graph_names=("tiny_a", "tiny_b"))
    assert [str(problem.fix) for problem in checked.problems] == [
        'set graphs[0].graph_names to ["tiny_a"]',
        'set graphs[1].graph_names to ["tiny_b"]',
    ]


def test_a_graph_that_no_entry_names_is_warned_of() -> None:
    checked = check(graph(O=3), graph_names=("tiny_a", "tiny_b"))
    accepted(checked)
    assert '"tiny_b"' in sentences(checked.warnings, "graphs")


def test_without_a_model_names_go_unchecked() -> None:
    assert accepted(check({"graphs": [{"graph_names": ["any"]}]}, graph_names=None)).graphs[0].graph_names == ("any",)


def test_a_graph_in_two_entries_is_found_without_a_model() -> None:
    assert "tiny_a" in only_problem(check({"graphs": graph()["graphs"] * 2}, graph_names=None)).sentence


def test_limits_are_those_of_the_configs_soc_when_there_is_no_target() -> None:
    problem = only_problem(check({**graph(vtcm_mb=16), "devices": [{"soc_model": 57}]}, soc=None))
    assert "SM8650 has 8 MB" in problem.sentence


def test_without_any_soc_the_largest_soc_is_the_limit() -> None:
    assert accepted(check(graph(vtcm_mb=16), soc=None)).graphs[0].vtcm_mb == 16
    assert "no SoC has more than 16 MB" in only_problem(check(graph(vtcm_mb=17), soc=None)).sentence


def test_two_devices_with_two_socs_are_a_problem() -> None:
    problem = only_problem(check({"devices": [{"soc_model": 57}, {"soc_model": 69}]}, soc=None))
    assert problem.path == "devices[1].soc_model"


def test_a_kernel_number_without_a_target_is_left_to_the_person() -> None:
    problem = only_problem(check({"devices": [{"soc_model": 685}]}, soc=None))
    assert "kernel's soc_id of SM8845; QNN's number is 97" in problem.sentence
    assert problem.fix is None


def test_an_unknown_soc_without_a_target_is_proposed_to_be_taken_out() -> None:
    assert str(only_problem(check({"devices": [{"soc_id": 999}]}, soc=None)).fix) == "remove devices[0].soc_id"


def test_several_cores_on_a_multi_core_soc_are_accepted() -> None:
    assert accepted(check(graph(num_cores=2), soc=AIC100)).graphs[0].num_cores == 2


def test_a_target_of_several_cores_is_written_into_every_graph() -> None:
    checked = check(graph(), soc=AIC100, num_cores=2)
    assert accepted(checked).graphs[0].num_cores == 2
    assert "filled in by us" in sentences(checked.notes, "graphs[0].num_cores")


def test_other_cores_than_the_targets_are_a_problem() -> None:
    problem = only_problem(check(graph(num_cores=4), soc=AIC100, num_cores=2))
    assert str(problem.fix) == "set graphs[0].num_cores to 2"


def test_listed_cores_are_proposed_as_num_cores_on_a_multi_core_soc() -> None:
    checked = check({**graph(), "devices": [{"cores": [{"core_id": 0}, {"core_id": 1}]}]}, soc=AIC100)
    (warning,) = checked.warnings
    assert str(warning.fix) == "set graphs[0].num_cores to 2"


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"vtcm_size": 1}, "vtcm_size"),
        ({"fp16_relaxed_precision": 1}, "fp16_relaxed_precision"),
        ({"advanced_activation_fusion": True}, "advanced_activation_fusion"),
        ({"vtcm_retention": 1}, "vtcm_retention"),
    ],
)
def test_a_key_without_effect_is_warned_of_and_kept(settings: dict[str, Any], key: str) -> None:
    checked = check(graph(**settings))
    assert accepted(checked).to_json()["graphs"][0][key] == settings[key]
    assert "no effect" in sentences(checked.warnings, f"graphs[0].{key}")


def test_compressed_weights_with_weight_sharing_are_warned_of() -> None:
    checked = check({**graph(dlbc_weights=1), "context": {"weight_sharing_enabled": True}})
    assert "do not go together" in sentences(checked.warnings, "graphs[0].dlbc_weights")


def test_run_time_keys_are_kept_with_a_note() -> None:
    checked = check({**graph(), "devices": [{"pd_session": "signed", "device_id": 1}]})
    assert accepted(checked).devices[0].pd_session == "signed"
    assert sentences(checked.notes, "devices[0]").startswith("device_id and pd_session act at run time, kept")


def test_run_time_keys_do_not_change_the_fingerprint() -> None:
    plain, at_run_time = check(graph()), check({**graph(), "devices": [{"pd_session": "signed"}]})
    assert accepted(plain).fingerprint == accepted(at_run_time).fingerprint


def test_unknown_finalize_keys_are_passed_through_with_a_note() -> None:
    checked = check(graph(finalize_config={"enable_x": True, "y": "z", "w": 0.5}))
    assert accepted(checked).graphs[0].finalize_config == {"enable_x": True, "y": "z", "w": 0.5}
    assert '"enable_x", "y" and "w" passed through' in sentences(checked.notes, "graphs[0].finalize_config")


def test_a_misplaced_key_is_not_moved_into_one_of_several_entries() -> None:
    entries = [{"graph_names": ["tiny_a"]}, {"graph_names": ["tiny_b"]}]
    problem = only_problem(check({"graphs": entries, "vtcm_mb": 4}, graph_names=("tiny_a", "tiny_b")))
    assert "belongs into graphs[0]" in problem.sentence
    assert problem.fix is None


def test_every_problem_is_found_at_once() -> None:
    checked = check({**graph(vtcm_mb=99, O=9, nonsense=1), "devices": [{"soc_model": 69}]})
    assert {problem.path for problem in checked.problems} == {
        "graphs[0].vtcm_mb",
        "graphs[0].O",
        "graphs[0].nonsense",
        "devices[0].soc_model",
    }


def test_a_file_that_is_wrong_everywhere_ends_in_a_count() -> None:
    checked = check({"graphs": [{f"k{number}": 1 for number in range(1000)}]})
    assert len(checked.problems) == 101
    assert checked.problems[-1].sentence == "There are 900 more problems of this config."


def test_more_entries_than_any_model_has_graphs_are_refused() -> None:
    assert "1,001 entries" in only_problem(check({"graphs": [{}] * 1001})).sentence


def test_a_sentence_is_printable_whatever_the_file_holds() -> None:
    checked = check(
        {"graphs": [{"a\x1b[31m\n\u202e": "\x00", "finalize_config": {"\x1b": []}, "graph_names": ["\x1b" * 500]}]}
    )
    for problem in checked.problems:
        assert problem.path.isprintable()
        assert problem.sentence.isprintable()
        assert len(problem.sentence) < 400


def test_checking_leaves_the_document_as_it_was() -> None:
    text = json.dumps({"graphs": {"O": 3.0}, "devices": {"soc_id": 57}})
    document = read_config(text.encode())
    check_config(document, graph_names=("tiny_a",))
    assert document.tree == json.loads(text)


def test_a_p_value_is_put_beside_the_other_finalize_keys() -> None:
    config = accepted(check(graph(finalize_config={"x": 1}, O=2)))
    (entry,) = with_p_value(config, 5, ["tiny_a"]).graphs
    assert (entry.O, entry.finalize_config) == (3, {"x": 1, "P": 5})


def test_a_p_value_reaches_a_graph_that_no_entry_names() -> None:
    config = accepted(check(graph(vtcm_mb=4), graph_names=("tiny_a", "tiny_b"), soc=SM8650))
    graphs = with_p_value(config, 5, ["tiny_a", "tiny_b"]).graphs
    assert [(entry.graph_names, entry.p_value, entry.vtcm_mb) for entry in graphs] == [
        (("tiny_a",), 5, 4),
        (("tiny_b",), 5, None),
    ]
