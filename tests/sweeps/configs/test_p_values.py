"""P values that cannot be compiled, and what a single core has to do with it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sweeps.configs.checks import accepted, check, only_problem, with_p

AIC100 = 63


@pytest.mark.parametrize("p_value", [7, 9, 10, 11, 12, 14, 18])
def test_a_multi_core_p_needs_two_cores(p_value: int) -> None:
    problem = only_problem(check(with_p(p_value)))
    assert problem.path == "graphs[0].finalize_config.P"
    assert f"P={p_value} needs at least two cores" in problem.sentence


@pytest.mark.parametrize("p_value", [24, -1])
def test_what_is_no_p_value_would_be_accepted_silently(p_value: int) -> None:
    sentence = only_problem(check(with_p(p_value))).sentence
    assert f"{p_value} is not a P value" in sentence
    assert "the compiler would accept it silently and build P=0" in sentence


@pytest.mark.parametrize(("p_value", "text"), [("23", '"23"'), (3.0, "3.0"), (True, "true"), ({"a": 1}, '{"a": 1}')])
def test_a_p_of_the_wrong_type_is_refused(p_value: Any, text: str) -> None:
    assert f"P is {text}, and it must be one whole number" in only_problem(check(with_p(p_value))).sentence


def test_a_list_of_p_values_is_refused() -> None:
    assert "one value only" in only_problem(check(with_p([6, 15]))).sentence


@pytest.mark.parametrize("level", [1, 2, None])
def test_a_p_without_o_3_is_refused(level: int | None) -> None:
    problem = only_problem(check(with_p(6, O=level)))
    assert problem.path == "graphs[0].O"
    assert problem.sentence.startswith("P needs O=3; the compiler refuses this")
    assert str(problem.fix) == "set graphs[0].O to 3"


def test_a_multi_core_p_is_accepted_with_two_cores() -> None:
    assert accepted(check(with_p(7, num_cores=2), soc=AIC100)).graphs[0].p_value == 7


@pytest.mark.parametrize("p_value", [4, 17, 21, 22, 23])
def test_a_single_core_p_is_refused_with_two_cores(p_value: int) -> None:
    assert "needs a single core" in only_problem(check(with_p(p_value, num_cores=2), soc=AIC100)).sentence


@pytest.mark.parametrize("level", [1, 2, None])
def test_p_0_without_o_3_is_kept_with_a_warning(level: int | None) -> None:
    checked = check(with_p(0, O=level))
    assert accepted(checked).graphs[0].p_value == 0
    (warning,) = checked.warnings
    assert str(warning.fix) == "set graphs[0].O to 3"
