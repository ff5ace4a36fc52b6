from __future__ import annotations

import pytest

from devices.targets import find_target
from sweeps.configs import GraphConfig, HtpConfig, default_config
from sweeps.search_space import (
    as_given_point,
    invalid_p_values,
    left_out,
    num_cores_of,
    p_values_for,
    parse_p_values,
    size_sweep_points,
)
from tests.sweeps.factories import SM8650, config


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", None),
        (" ALL ", None),
        ("0", (0,)),
        ("0,1,5-8", (0, 1, 5, 6, 7, 8)),
        ("8, 3 ,3", (3, 8)),
        ("22 - 23", (22, 23)),
        ("7-7", (7,)),
    ],
)
def test_reads_p_values(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_p_values(text) == expected


@pytest.mark.parametrize("text", ["24", "-1", "20-24", "0,99"])
def test_refuses_what_is_not_a_p_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a P value \(0 to 23\); the compiler would accept it silently"):
        parse_p_values(text)


@pytest.mark.parametrize("text", ["", "1,", "a", "1-", "1.5", "1;2", "\u0661", "0x1", "1-2-3", "--1"])
def test_refuses_what_is_no_list(text: str) -> None:
    with pytest.raises(ValueError, match="is not a list of P values; write all, or numbers and ranges"):
        parse_p_values(text)


def test_refuses_a_range_that_runs_backwards() -> None:
    with pytest.raises(ValueError, match="write 5-8"):
        parse_p_values("8-5")


def test_refuses_a_number_of_any_length() -> None:
    with pytest.raises(ValueError, match="is not a P value"):
        parse_p_values("0-" + "9" * 10_000)


def test_one_core_leaves_the_multi_core_values_out() -> None:
    assert set(left_out(1)) == {7, 9, 10, 11, 12, 14, 18}


def test_two_cores_leave_the_single_core_values_out() -> None:
    assert set(left_out(2)) == {4, 17, 21, 22, 23}


def test_a_p_value_that_is_left_out_has_a_reason() -> None:
    assert left_out(1)[7] == "P=7 needs at least two cores, and this compile uses one."


@pytest.mark.parametrize("num_cores", [1, 2, 4])
def test_every_p_value_is_swept_or_left_out(num_cores: int) -> None:
    assert sorted((*p_values_for(num_cores), *left_out(num_cores))) == list(range(24))


def test_only_what_was_asked_for_is_reported_as_invalid() -> None:
    assert list(invalid_p_values((9, 7, 0), 1)) == [7, 9]


def test_the_cores_come_from_the_config() -> None:
    htp_config = HtpConfig(graphs=(GraphConfig(num_cores=1), GraphConfig(num_cores=2), GraphConfig()))
    assert num_cores_of(htp_config, SM8650) == 2


def test_the_cores_come_from_the_target_when_the_config_is_silent() -> None:
    assert num_cores_of(config(), find_target(63, num_cores=2)) == 2


def test_the_baseline_comes_first_and_then_the_config_as_given() -> None:
    points = size_sweep_points(config(), SM8650, ["net"], (5, 3))
    assert [point.label for point in points] == ["P=0", "as given", "P=3", "P=5"]


def test_all_p_values_of_one_core_are_swept() -> None:
    points = size_sweep_points(config(), SM8650, ["net"], None)
    assert [point.p_value for point in points if not point.as_given] == list(p_values_for(1))


def test_p_values_of_other_targets_are_not_compiled() -> None:
    points = size_sweep_points(config(), SM8650, ["net"], (0, 7))
    assert [point.label for point in points] == ["P=0", "as given"]


def test_two_cores_in_the_config_sweep_the_multi_core_values() -> None:
    points = size_sweep_points(config(num_cores=2), find_target(63), ["net"], (7, 22))
    assert [point.label for point in points] == ["P=0", "as given", "P=7"]


def test_a_swept_point_carries_its_p_and_keeps_the_other_settings() -> None:
    *_, last = size_sweep_points(config(vtcm_mb=4, finalize_config={"x": 1}), SM8650, ["net"], (5,))
    assert last.config == config(O=3, vtcm_mb=4, finalize_config={"x": 1, "P": 5})


def test_the_config_as_given_is_untouched() -> None:
    htp_config = config(O=2, vtcm_mb=4)
    assert size_sweep_points(htp_config, SM8650, ["net"], None)[1].config == htp_config


def test_the_config_as_given_has_the_p_that_it_says() -> None:
    assert as_given_point(config(O=3, finalize_config={"P": 5})).p_value == 5


def test_the_config_as_given_has_no_p_when_its_graphs_disagree() -> None:
    graphs = tuple(GraphConfig(graph_names=(str(p),), O=3, finalize_config={"P": p}) for p in (1, 2))
    assert as_given_point(HtpConfig(graphs=graphs)).p_value is None


def test_the_default_config_has_no_p() -> None:
    assert as_given_point(default_config(["net"])).p_value is None
