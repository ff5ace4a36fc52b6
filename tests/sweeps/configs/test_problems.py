"""Each kind of problem once: where it is, what is said, and that the proposed fix takes it away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from devices.targets import find_target
from sweeps.configs import apply_fix, check_config, read_config
from tests.sweeps.configs.checks import SM8650, check, graph, only_problem, with_p


def devices(**settings: Any) -> dict[str, Any]:
    return {**graph(), "devices": [settings]}


def context(**settings: Any) -> dict[str, Any]:
    return {**graph(), "context": settings}


# The config, the path of its problem, a part of the sentence, and the fix as people read it.
PROBLEMS: list[tuple[dict[str, Any], str, str, str]] = [
    (graph(vtcm_mb=16), "graphs[0].vtcm_mb", "SM8650 has 8 MB of VTCM", "set graphs[0].vtcm_mb to 8"),
    (graph(vtcm_mb=-1), "graphs[0].vtcm_mb", "it can be 0 to", "remove graphs[0].vtcm_mb"),
    (graph(vtcm_mb=2**32), "graphs[0].vtcm_mb", "it can be 0 to 4294967295", "remove graphs[0].vtcm_mb"),
    (graph(vtcm_mb="8"), "graphs[0].vtcm_mb", 'vtcm_mb is "8", and it must be a whole', "set graphs[0].vtcm_mb to 8"),
    (graph(vtcm_mb=True), "graphs[0].vtcm_mb", "vtcm_mb is true", "remove graphs[0].vtcm_mb"),
    (graph(vtcm_mb=7.5), "graphs[0].vtcm_mb", "vtcm_mb is 7.5", "remove graphs[0].vtcm_mb"),
    (graph(hvx_threads=5), "graphs[0].hvx_threads", "SM8650 has at most 4", "set graphs[0].hvx_threads to 4"),
    (graph(num_cores=2), "graphs[0].num_cores", "compiles for one core only", "set graphs[0].num_cores to 1"),
    (graph(num_cores=0), "graphs[0].num_cores", "at least one core", "set graphs[0].num_cores to 1"),
    (graph(O=4), "graphs[0].O", "would silently build O=2", "set graphs[0].O to 3"),
    (graph(O=0), "graphs[0].O", "O is 0, and O can be 1, 2 or 3", "set graphs[0].O to 2"),
    (graph(O="3"), "graphs[0].O", 'O is "3", and it must be 1, 2 or 3', "set graphs[0].O to 3"),
    (graph(O=3.5), "graphs[0].O", "O is 3.5", "remove graphs[0].O"),
    (graph(O=True), "graphs[0].O", "O is true", "set graphs[0].O to 3"),
    (graph(dlbc=2), "graphs[0].dlbc", "dlbc is 2, and it must be 0 or 1", "set graphs[0].dlbc to 1"),
    (graph(dlbc="off"), "graphs[0].dlbc", 'dlbc is "off"', "set graphs[0].dlbc to 0"),
    (
        graph(weights_packing="true"),
        "graphs[0].weights_packing",
        "true or false",
        "set graphs[0].weights_packing to true",
    ),
    (graph(perf_profile=1), "graphs[0].perf_profile", "it must be a text", "remove graphs[0].perf_profile"),
    (graph(finalize_config=7), "graphs[0].finalize_config", "must be an object", "remove graphs[0].finalize_config"),
    (graph(finalize_config={"x": []}), "graphs[0].finalize_config.x", "x is []", "remove graphs[0].finalize_config.x"),
    (graph(htp="x"), "graphs[0].htp", 'no key "htp" in graphs[0]', "remove graphs[0].htp"),
    (graph(vtcm_mbs=4), "graphs[0].vtcm_mbs", "did you mean vtcm_mb?", "move graphs[0].vtcm_mbs to graphs[0].vtcm_mb"),
    (graph(o=3), "graphs[0].o", "did you mean O?", "move graphs[0].o to graphs[0].O"),
    (graph(O=3, P=2), "graphs[0].P", "graphs[0].finalize_config", "move graphs[0].P to graphs[0].finalize_config.P"),
    (
        graph(use_high_precision_fp16_sigmoid=True),
        "graphs[0].use_high_precision_fp16_sigmoid",
        "did you mean high_precision_sigmoid?",
        "move graphs[0].use_high_precision_fp16_sigmoid to graphs[0].high_precision_sigmoid",
    ),
    (graph(O=3, opt_level=2), "graphs[0].opt_level", "O is there already", "remove graphs[0].opt_level"),
    (
        graph(soc_model=57),
        "graphs[0].soc_model",
        "belongs into devices[0]",
        "move graphs[0].soc_model to devices[0].soc_model",
    ),
    ({**graph(), "vtcm_mb": 4}, "vtcm_mb", "belongs into graphs[0]", "move vtcm_mb to graphs[0].vtcm_mb"),
    ({"grahps": graph()["graphs"]}, "grahps", "did you mean graphs?", "move grahps to graphs"),
    (
        {**graph(), "memory": {"extended_udma": False}},
        "memory.extended_udma",
        "belongs into context",
        "move memory.extended_udma to context.extended_udma",
    ),
    (
        {**graph(), "memory": {"mem_type": "ion"}},
        "memory.mem_type",
        "shared_buffer",
        'set memory.mem_type to "shared_buffer"',
    ),
    (
        devices(htp_arch="v75"),
        "devices[0].htp_arch",
        "did you mean dsp_arch?",
        "move devices[0].htp_arch to devices[0].dsp_arch",
    ),
    (
        devices(perf_profile="burst"),
        "devices[0].perf_profile",
        "belongs into devices[0].cores[0]",
        "move devices[0].perf_profile to devices[0].cores[0].perf_profile",
    ),
    (devices(dsp_arch="v73"), "devices[0].dsp_arch", "has v75", 'set devices[0].dsp_arch to "v75"'),
    (devices(dsp_arch="v74"), "devices[0].dsp_arch", "There is no DSP arch", "remove devices[0].dsp_arch"),
    (devices(dsp_arch=True), "devices[0].dsp_arch", "a DSP arch is needed", "remove devices[0].dsp_arch"),
    (
        devices(soc_model=57, dsp_arch="v73"),
        "devices[0].dsp_arch",
        "silently build",
        'set devices[0].dsp_arch to "v75"',
    ),
    (devices(soc_model="57"), "devices[0].soc_model", "must be the number of a SoC", "set devices[0].soc_model to 57"),
    (devices(soc_model="SM8650"), "devices[0].soc_model", 'soc_model is "SM8650"', "set devices[0].soc_model to 57"),
    (devices(soc_id=69, soc_model=57), "devices[0].soc_id", "both name the SoC", "remove devices[0].soc_id"),
    (
        devices(soc_id=43, dsp_arch="v73"),
        "devices[0].soc_model",
        "The config is for SM8550 (soc_model 43), and the target is SM8650 (soc_model 57)",
        'set devices[0] to {"soc_model": 57, "dsp_arch": "v75"}',
    ),
    (
        devices(soc_model=21),
        "devices[0].soc_model",
        "has no HTP",
        'set devices[0] to {"soc_model": 57, "dsp_arch": "v75"}',
    ),
    (
        devices(soc_id=685),
        "devices[0].soc_model",
        "QNN's number is 97",
        'set devices[0] to {"soc_model": 57, "dsp_arch": "v75"}',
    ),
    (devices(core_id="0"), "devices[0].core_id", "a list of core numbers", "remove devices[0].core_id"),
    ({**graph(), "devices": "57"}, "devices", "it must be a list such as", "remove devices"),
    ({**graph(), "devices": [57]}, "devices[0]", "it must be an object such as", "remove devices[0]"),
    ({**graph(), "context": "x"}, "context", "it must be an object", "remove context"),
    (
        context(weight_sharing_enabled=2),
        "context.weight_sharing_enabled",
        "true or false",
        "set context.weight_sharing_enabled to true",
    ),
    (
        {**graph(), "context": [{"group_id": 1}, {"group_id": 2}]},
        "context.group_id",
        "given twice, as 1 and 2",
        "remove context.group_id",
    ),
    (with_p(24), "graphs[0].finalize_config.P", "not a P value", "remove graphs[0].finalize_config.P"),
    (with_p(7), "graphs[0].finalize_config.P", "at least two cores", "remove graphs[0].finalize_config.P"),
    (with_p("23"), "graphs[0].finalize_config.P", 'P is "23"', "set graphs[0].finalize_config.P to 23"),
    (with_p([6, 15]), "graphs[0].finalize_config.P", "one value only", "remove graphs[0].finalize_config.P"),
    (with_p(6, O=2), "graphs[0].O", "P needs O=3", "set graphs[0].O to 3"),
    (
        {"graphs": [{"graph_names": 7}]},
        "graphs[0].graph_names",
        "a list of graph names",
        "remove graphs[0].graph_names",
    ),
    (
        {"graphs": [{"graph_names": ["other"]}]},
        "graphs[0].graph_names",
        'Your config names "other", and the model contains "tiny_a"',
        'set graphs[0].graph_names to ["tiny_a"]',
    ),
    (
        {"graphs": [{"graph_names": ["tiny_a", "other"]}]},
        "graphs[0].graph_names",
        'names "other"',
        'set graphs[0].graph_names to ["tiny_a"]',
    ),
    (
        {"graphs": [*graph()["graphs"], {"graph_names": ["other"]}]},
        "graphs[1].graph_names",
        'names "other"',
        "remove graphs[1]",
    ),
    (
        {"graphs": [*graph()["graphs"], *graph(O=3)["graphs"]]},
        "graphs[1].graph_names",
        "graphs[0] and graphs[1]",
        "remove graphs[1]",
    ),
    ({"graphs": [*graph()["graphs"], {"O": 3}]}, "graphs[1]", "names no graph", "remove graphs[1]"),
]


@pytest.mark.parametrize(("config", "path", "part", "fix"), PROBLEMS, ids=[f"{case[1]}-{case[2]}" for case in PROBLEMS])
def test_a_problem_has_its_path_its_sentence_and_a_fix(config: dict[str, Any], path: str, part: str, fix: str) -> None:
    problem = only_problem(check(config))
    assert (problem.path, str(problem.fix)) == (path, fix)
    assert part in problem.sentence
    assert problem.sentence.endswith((".", "?"))


@pytest.mark.parametrize("config", [case[0] for case in PROBLEMS], ids=[f"{case[1]}-{case[2]}" for case in PROBLEMS])
def test_the_proposed_fix_takes_the_problem_away(config: dict[str, Any]) -> None:
    document = read_config(json.dumps(config).encode())
    fix = only_problem(check(config)).fix
    assert fix is not None
    again = check_config(apply_fix(document, fix), target=find_target(SM8650), graph_names=("tiny_a",))
    assert again.problems == ()
