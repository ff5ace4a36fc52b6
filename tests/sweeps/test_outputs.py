from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from sweeps.outputs import Tolerance, compare, identical_groups

SIGNAL = numpy.array([3.0, -4.0, 0.0, 12.0], dtype=numpy.float32)


def outputs(array: Any) -> dict[str, Any]:
    return {"y": numpy.asarray(array, dtype=numpy.float32)}


def test_equal_outputs_are_identical() -> None:
    [found] = compare(outputs(SIGNAL), outputs(SIGNAL.copy())).outputs
    assert (found.is_identical, found.sqnr_db, found.max_abs_difference) == (True, math.inf, 0.0)


def test_the_sqnr_is_the_ratio_of_signal_and_noise() -> None:
    """169 of signal, 0.01 of noise: 10 log10(16900) = 42.28 dB."""
    [found] = compare(outputs(SIGNAL), outputs(SIGNAL + numpy.array([0.1, 0, 0, 0], dtype=numpy.float32))).outputs
    assert found.sqnr_db == pytest.approx(42.28, abs=0.01)
    assert found.max_abs_difference == pytest.approx(0.1, abs=1e-6)


def test_the_cosine_is_that_of_the_angle() -> None:
    [found] = compare(outputs([1, 0]), outputs([1, 1])).outputs
    assert found.cosine == pytest.approx(math.sqrt(0.5))


def test_a_small_difference_is_the_same() -> None:
    assert compare(outputs(SIGNAL), outputs(SIGNAL * 1.001)).is_same


def test_a_large_difference_is_told_with_its_numbers() -> None:
    found = compare(outputs(SIGNAL), outputs(SIGNAL * 1.2))
    assert not found.is_same
    assert "The output y differs: SQNR 14.0 dB" in found.sentence


def test_the_tolerance_is_the_callers() -> None:
    assert compare(outputs(SIGNAL), outputs(SIGNAL * 1.2), Tolerance(least_sqnr_db=10, least_cosine=0.9)).is_same


def test_the_same_length_in_another_direction_is_not_the_same() -> None:
    assert not compare(outputs([1, 0]), outputs([0, 1])).is_same


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"z": SIGNAL}, "Only one of the two has an output y"),
        ({"y": SIGNAL, "z": SIGNAL}, "Only one of the two has an output z"),
        ({"y": SIGNAL[:2]}, r"another form: float32[4] and float32[2]"),
        ({"y": SIGNAL.astype(numpy.float64)}, "another form: float32[4] and float64[4]"),
        (outputs([3, -4, 0, math.nan]), "no number in one of them only"),
        (outputs([3, -4, 0, math.inf]), "infinite"),
        (outputs([3, -4, 0, -math.inf]), "infinite"),
    ],
)
def test_what_cannot_be_compared_is_a_difference(other: dict[str, Any], words: str) -> None:
    found = compare(outputs(SIGNAL), other)
    assert not found.is_same
    assert words in found.sentence


def test_no_number_at_the_same_place_is_no_difference() -> None:
    assert compare(outputs([1, math.nan, 2]), outputs([1, math.nan, 2.0001])).is_same


def test_no_outputs_at_all_are_not_the_same() -> None:
    found = compare({}, {})
    assert not found.is_same
    assert "There is no output to compare" in found.sentence


def test_zeros_are_compared_too() -> None:
    assert compare(outputs([0, 0]), outputs([0, 0])).is_same
    [found] = compare(outputs([0, 0]), outputs([0, 1])).outputs
    assert (found.sqnr_db, found.cosine) == (-math.inf, 0.0)


def test_integers_do_not_wrap() -> None:
    one, other = {"y": numpy.array([0], dtype=numpy.uint8)}, {"y": numpy.array([255], dtype=numpy.uint8)}
    assert compare(one, other).outputs[0].max_abs_difference == 255.0


def test_candidates_with_the_same_bits_are_one_group() -> None:
    found = identical_groups({"a": outputs(SIGNAL), "b": outputs(SIGNAL + 1), "c": outputs(SIGNAL)})
    assert found == (("a", "c"), ("b",))


def test_the_same_bytes_in_another_shape_are_another_group() -> None:
    found = identical_groups({"a": outputs(SIGNAL), "b": outputs(SIGNAL.reshape(2, 2))})
    assert found == (("a",), ("b",))
