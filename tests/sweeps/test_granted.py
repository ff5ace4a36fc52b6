from __future__ import annotations

from typing import Any

import pytest

from sweeps.configs import GraphConfig, HtpConfig
from sweeps.ranking import Metric, TrialOutcome, granted_differences, rank
from sweeps.toolchain.base import GrantedOptions, Point
from tests.sweeps.factories import SM8650, config, failed_trial, graph, point, result, trial

MB = 1024 * 1024


def built(settings: dict[str, Any], **granted: Any) -> TrialOutcome:
    recorded = GrantedOptions(**({"vtcm_bytes": 4 * MB, "dlbc": False} | granted))
    return TrialOutcome(Point(config=config(**settings), as_given=True), result(graph(granted=recorded)))


@pytest.mark.parametrize(
    ("settings", "granted", "expected"),
    [
        ({"O": 3}, {"optimization_level": 2}, "O=3 requested, O=2 granted"),
        ({"O": 3}, {"optimization_level": None}, "O=3 requested, not granted"),
        ({"vtcm_mb": 2}, {"vtcm_bytes": 8 * MB}, "2 MB VTCM requested, 8 MB VTCM granted"),
        ({"vtcm_mb": 0}, {"vtcm_bytes": 4 * MB}, "8 MB VTCM requested, 4 MB VTCM granted"),
        ({"vtcm_mb": 2}, {"vtcm_bytes": MB // 2}, "2 MB VTCM requested, 0.5 MB VTCM granted"),
        ({"hvx_threads": 6}, {"hvx_threads": 4}, "6 HVX threads requested, 4 HVX threads granted"),
        ({"hvx_threads": 2}, {"hvx_threads": None}, "2 HVX threads requested, not granted"),
        ({"dlbc": 1}, {"dlbc": False}, "dlbc=1 requested, dlbc=0 granted"),
        ({"O": 3, "finalize_config": {"P": 5}}, {"optimization_level": 3, "p_value": 0}, "P=5 requested, P=0 granted"),
    ],
)
def test_names_what_was_not_granted(settings: dict[str, Any], granted: dict[str, Any], expected: str) -> None:
    assert granted_differences(built(settings, **granted), SM8650) == (expected,)


@pytest.mark.parametrize(
    ("settings", "granted"),
    [
        ({}, {"vtcm_bytes": 4 * MB}),
        ({}, {"optimization_level": 2, "hvx_threads": 4, "dlbc": True, "p_value": 0}),
        ({"vtcm_mb": 0}, {"vtcm_bytes": 8 * MB}),
        ({"hvx_threads": 0}, {"hvx_threads": 4}),
        ({"dlbc": 0}, {"dlbc": False}),
        ({"O": 3, "finalize_config": {"P": 5}}, {"optimization_level": 3, "p_value": None}),
        ({"O": 3, "vtcm_mb": 2, "hvx_threads": 2}, {"vtcm_bytes": None, "dlbc": None}),
    ],
    ids=["unset VTCM", "all unset", "maximum VTCM", "maximum HVX", "DLBC off", "P not recorded", "nothing recorded"],
)
def test_is_content_with_what_was_granted(settings: dict[str, Any], granted: dict[str, Any]) -> None:
    assert granted_differences(built(settings, **granted), SM8650) == ()


def test_a_binary_for_another_soc_is_a_difference() -> None:
    other = TrialOutcome(point(0), result(soc_model=69, dsp_arch=79))
    assert granted_differences(other, SM8650) == (
        "DSP arch v75 requested, DSP arch v79 granted",
        "soc_model 57 requested, soc_model 69 granted",
    )


def test_a_binary_that_names_no_soc_is_no_difference() -> None:
    assert granted_differences(TrialOutcome(point(0), result(soc_model=None, dsp_arch=None)), SM8650) == ()


def test_names_the_graph_where_there_are_several() -> None:
    graphs = (GraphConfig(graph_names=("a",), vtcm_mb=2), GraphConfig(graph_names=("b",), vtcm_mb=4))
    parts = [graph(name=name, granted=GrantedOptions(vtcm_bytes=4 * MB)) for name in "ab"]
    both = TrialOutcome(Point(config=HtpConfig(graphs=graphs)), result(*parts))
    assert granted_differences(both, SM8650) == ("2 MB VTCM requested, 4 MB VTCM granted for graph a",)


def test_an_entry_without_names_asks_for_every_graph() -> None:
    anonymous = HtpConfig(graphs=(GraphConfig(O=3),))
    part = graph(granted=GrantedOptions(optimization_level=2))
    assert granted_differences(TrialOutcome(Point(config=anonymous), result(part)), SM8650) != ()


def test_a_failed_trial_has_no_differences() -> None:
    assert granted_differences(failed_trial(0), SM8650) == ()


def test_a_trial_that_was_not_built_as_asked_is_out_of_the_ranking() -> None:
    wrong = trial(1, granted=GrantedOptions(p_value=0), rom=1)
    ranking = rank([trial(0), wrong], Metric.ROM, SM8650)
    assert [(each.trial.label, each.reason) for each in ranking.excluded] == [("P=1", "P=1 requested, P=0 granted")]
