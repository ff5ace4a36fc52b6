"""What differs between two texts, line by line, cut to what a page can show."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

CONTEXT = 3
MOST_LINES = 3000
MOST_ROWS = 1000
LONGEST_LINE = 300

Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class DiffRow:
    """`gap` rows stand for equal lines that are not shown; their text says how many."""

    kind: Literal["same", "removed", "added", "gap"]
    text: str
    old_line: int | None = None
    new_line: int | None = None

    @property
    def sign(self) -> str:
        return {"removed": "\N{MINUS SIGN}", "added": "+"}.get(self.kind, "")


@dataclass(frozen=True)
class TextDiff:
    """`too_long`: a sentence in place of the rows."""

    rows: tuple[DiffRow, ...] = ()
    added: int = 0
    removed: int = 0
    too_long: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.rows and not self.too_long


def diff_texts(old: str, new: str, *, ignore_indent: bool = False) -> TextDiff:
    old_lines, new_lines = old.splitlines(), new.splitlines()
    if old_lines == new_lines:
        return TextDiff()
    longest = max(len(old_lines), len(new_lines))
    if longest > MOST_LINES:
        return TextDiff(too_long=f"There are {longest:,} lines, too many to compare here; download both and compare.")
    rows = list(_rows(_opcodes(old_lines, new_lines, ignore_indent), old_lines, new_lines))
    added = sum(row.kind == "added" for row in rows)
    removed = sum(row.kind == "removed" for row in rows)
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], DiffRow("gap", f"{len(rows) - MOST_ROWS:,} more lines of the comparison")]
    return TextDiff(tuple(rows), added, removed)


def _opcodes(old: list[str], new: list[str], ignore_indent: bool) -> Sequence[Opcode]:
    """With `ignore_indent` lines that were only moved in are equal, where that makes the comparison shorter."""
    exact = difflib.SequenceMatcher(None, old, new).get_opcodes()
    if not ignore_indent:
        return exact
    bare = difflib.SequenceMatcher(None, [line.lstrip() for line in old], [line.lstrip() for line in new])
    return min(exact, bare.get_opcodes(), key=_changed)


def _changed(opcodes: Sequence[Opcode]) -> int:
    return sum(max(code[2] - code[1], code[4] - code[3]) for code in opcodes if code[0] != "equal")


def _rows(opcodes: Sequence[Opcode], old: list[str], new: list[str]) -> Iterator[DiffRow]:
    for index, (tag, old_from, old_to, new_from, new_to) in enumerate(opcodes):
        if tag == "equal":
            pairs = zip(range(old_from, old_to), range(new_from, new_to), strict=True)
            same = [DiffRow("same", _cut(new[j]), i + 1, j + 1) for i, j in pairs]
            yield from _shortened(same, is_first=index == 0, is_last=index == len(opcodes) - 1)
            continue
        yield from (DiffRow("removed", _cut(old[i]), old_line=i + 1) for i in range(old_from, old_to))
        yield from (DiffRow("added", _cut(new[i]), new_line=i + 1) for i in range(new_from, new_to))


def _shortened(same: list[DiffRow], *, is_first: bool, is_last: bool) -> list[DiffRow]:
    head = [] if is_first else same[:CONTEXT]
    tail = [] if is_last else same[max(len(same) - CONTEXT, len(head)) :]
    hidden = len(same) - len(head) - len(tail)
    if hidden < 2:
        return same
    return [*head, DiffRow("gap", f"{hidden:,} equal lines"), *tail]


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line):,} characters)"


def in_order_of(written: Any, value: Any) -> Any:
    """`value` with its keys in the order of `written`, so that a comparison shows no change of order alone."""
    if isinstance(value, list):
        entries = written if isinstance(written, list) else [written]
        return [in_order_of(entries[i] if i < len(entries) else None, one) for i, one in enumerate(value)]
    if isinstance(value, dict):
        if isinstance(written, list):
            written = {key: part for entry in written if isinstance(entry, dict) for key, part in entry.items()}
        order = written if isinstance(written, dict) else {}
        keys = [*(key for key in order if key in value), *(key for key in value if key not in order)]
        return {key: in_order_of(order.get(key), value[key]) for key in keys}
    return value
