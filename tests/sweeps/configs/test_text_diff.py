"""What differs between two texts."""

from __future__ import annotations

from sweeps.configs.text_diff import LONGEST_LINE, MOST_LINES, diff_texts, in_order_of


def lines(old: str, new: str, *, ignore_indent: bool = False) -> list[str]:
    return [row.sign + row.text for row in diff_texts(old, new, ignore_indent=ignore_indent).rows]


def test_equal_texts_have_no_differences() -> None:
    assert diff_texts("a\nb\n", "a\nb").is_empty


def test_a_changed_line_is_removed_and_added() -> None:
    assert lines("a\nb\nc", "a\nx\nc") == ["a", "\N{MINUS SIGN}b", "+x", "c"]


def test_line_numbers_are_those_of_each_side() -> None:
    rows = diff_texts("a\nc", "a\nb\nc").rows
    assert [(row.old_line, row.new_line) for row in rows] == [(1, 1), (None, 2), (2, 3)]


def test_equal_lines_far_from_a_change_are_counted_instead_of_shown() -> None:
    same = "".join(f"{number}\n" for number in range(20))
    assert lines(same + "a", same + "b")[0] == "17 equal lines"


def test_a_line_that_only_moved_in_is_no_change_when_that_is_shorter() -> None:
    old, new = "{\n  a\n  b\n  c\n}", "[\n  {\n    a\n    b\n    c\n  }\n]"
    assert [line for line in lines(old, new, ignore_indent=True) if line[0] in "+\N{MINUS SIGN}"] == ["+[", "+]"]


def test_a_very_long_line_is_cut() -> None:
    (row,) = diff_texts("", "x" * 5_000_000).rows
    assert len(row.text) < LONGEST_LINE + 50


def test_very_many_lines_are_told_instead_of_compared() -> None:
    assert "too many to compare" in diff_texts("", "a\n" * (MOST_LINES + 1)).too_long


def test_keys_follow_the_order_in_which_they_were_written() -> None:
    assert list(in_order_of({"b": 1, "a": 2}, {"a": 2, "c": 3, "b": 1})) == ["b", "a", "c"]


def test_the_order_of_an_object_that_became_a_list_is_kept() -> None:
    assert [list(entry) for entry in in_order_of({"b": 1, "a": 2}, [{"a": 2, "b": 1}])] == [["b", "a"]]
