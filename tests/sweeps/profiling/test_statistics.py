from __future__ import annotations

import numpy
import pytest

from sweeps.profiling.blocks import Rules
from sweeps.profiling.ranking import is_hopeless, is_slower
from sweeps.profiling.statistics import lower_bound, resampled_medians, t_quantile, t_tail

RULES = Rules(resamples=500)
# All of one sign, and of a spread that lets nobody be sure of it.
SCATTERED = numpy.array([0.011, 0.012, 0.02, 0.05, 0.09])


@pytest.mark.parametrize(
    ("tail", "degrees", "known"),
    [
        (0.05, 1, 6.314),
        (0.0005, 1, 636.619),
        (0.025, 2, 4.303),
        (0.01, 3, 4.541),
        (0.025, 4, 2.776),
        (0.005, 4, 4.604),
        (0.0005, 8, 5.041),
        (0.005, 9, 3.250),
        (0.025, 24, 2.064),
        (0.001, 30, 3.385),
    ],
)
def test_the_quantile_is_that_of_the_tables(tail: float, degrees: int, known: float) -> None:
    assert t_quantile(tail, degrees) == pytest.approx(known, abs=0.001)


@pytest.mark.parametrize("degrees", [1, 2, 5, 8])
def test_half_of_students_t_is_above_zero(degrees: int) -> None:
    assert t_tail(0.0, degrees) == 0.5


def test_five_values_of_one_sign_convince_the_bootstrap_alone() -> None:
    assert float(numpy.quantile(resampled_medians(SCATTERED, RULES), 1e-6)) > 0


def test_the_lower_bound_falls_below_the_smallest_value() -> None:
    assert lower_bound(SCATTERED, 0.001, RULES) < 0


def test_one_wild_value_does_not_lift_the_bound_above_what_the_others_say() -> None:
    values = numpy.array([0.0, 0.001, 0.002, 0.001, 0.0, 0.001, 0.002, 0.001, 5.0])
    assert lower_bound(values, 0.025, RULES) < 0.002


def test_five_scattered_rounds_make_nobody_slower() -> None:
    assert not is_slower(SCATTERED, RULES.effect, 17, RULES)


def test_five_rounds_that_agree_do() -> None:
    assert is_slower([0.031, 0.03, 0.032, 0.029, 0.03], RULES.effect, 17, RULES)


def test_who_is_slower_may_still_be_measured_on() -> None:
    pairs = [0.012, 0.013, 0.008, 0.011, 0.012, 0.013, 0.008, 0.011]
    assert is_slower(pairs, RULES.effect, 1, RULES)
    assert not is_hopeless(pairs, RULES.effect, 1, RULES)


def test_who_is_surely_slower_by_more_than_the_effect_is_hopeless() -> None:
    assert is_hopeless([0.031, 0.03, 0.032, 0.029, 0.03], RULES.effect, 1, RULES)
