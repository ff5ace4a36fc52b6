from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sweeps.formats import (
    ago_text,
    byte_column,
    bytes_exact,
    bytes_text,
    duration_text,
    grouped,
    microseconds_text,
    percent_text,
)

MINUS = "\N{MINUS SIGN}"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (761_856, "744 KiB"),
        (766_000, "748 KiB"),
        (1_048_575, "1.00 MiB"),
        (2_264_924, "2.16 MiB"),
        (8 * 2**20, "8 MiB"),
        (45_000_000, "42.9 MiB"),
        (4 * 2**30, "4 GiB"),
        (3 * 2**50, "3,072 TiB"),
        (-761_856, f"{MINUS}744 KiB"),
    ],
)
def test_bytes_have_three_figures_and_a_binary_unit(value: int, text: str) -> None:
    assert bytes_text(value) == text


def test_exact_bytes_are_grouped() -> None:
    assert [bytes_exact(value) for value in (0, 1, 761_856)] == ["0 bytes", "1 byte", "761,856 bytes"]


def test_a_column_has_the_unit_of_its_largest_value() -> None:
    column = byte_column([761_856, 2048, None])
    assert [column.unit, column.text(761_856), column.text(2048)] == ["KiB", "744", "2"]


def test_a_small_value_of_a_column_never_reads_as_none() -> None:
    assert byte_column([761_856, 500]).text(500) == "0.5"


def test_a_column_of_whole_units_has_no_decimals() -> None:
    column = byte_column([744 * 1024, 748 * 1024])
    assert [column.text(744 * 1024), column.text(748 * 1024)] == ["744", "748"]


def test_two_different_values_of_a_column_never_read_the_same() -> None:
    values = [765_952, 765_952 + 45]
    column = byte_column(values)
    assert [column.text(value) for value in values] == ["748.00", "748.04"]


def test_a_difference_that_three_decimals_cannot_show_stays_at_three() -> None:
    assert byte_column([5 * 2**30, 5 * 2**30 + 1]).decimals == 3


def test_a_column_without_values_has_a_unit_all_the_same() -> None:
    assert byte_column([None]).unit == "B"


def test_thousands_are_grouped() -> None:
    assert [grouped(314_922), grouped(-1200)] == ["314,922", f"{MINUS}1,200"]


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (0.0, "="),
        (46.2, "+46 %"),
        (-0.5, f"{MINUS}0.5 %"),
        (0.04, "+0.04 %"),
        (0.0999, "+0.1 %"),
        (9.96, "+10 %"),
        (-12_345.6, f"{MINUS}12,346 %"),
        (-0.001, f"{MINUS}<0.01 %"),
    ],
)
def test_a_difference_has_its_sign_and_is_equal_only_when_it_is_none(difference: float, text: str) -> None:
    assert percent_text(difference) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.00085, "850 µs"),
        (0.42, "420 ms"),
        (0.9999, "1 s"),
        (9.1, "9.1 s"),
        (9.96, "10 s"),
        (42, "42 s"),
        (59.7, "1 min"),
        (70, "1 min 10 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (100_000, "1 d 3 h"),
    ],
)
def test_a_duration_has_two_parts_at_most(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_microseconds_read_as_a_duration() -> None:
    assert microseconds_text(1230) == "1.23 ms"


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(seconds=50), "1 min ago"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=2), "2 h ago"),
        (timedelta(days=3), "3 d ago"),
        (timedelta(days=40), "2026-10-22"),
        (timedelta(minutes=-5), "in 5 min"),
    ],
)
def test_a_moment_is_told_by_its_distance(passed: timedelta, text: str) -> None:
    assert ago_text(NOW - passed, NOW) == text
