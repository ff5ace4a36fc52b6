"""What reading and checking have to say about a config: a path, a sentence, and a fix that code can apply."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

Path = tuple[str | int, ...]

LONGEST_SHOWN = 60
MOST_FINDINGS = 100
PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
KEY_IN_LOG = re.compile(r"(?:Invalid key: |Unknown Key: )(?P<path>\S+)")


class ConfigUnreadable(ValueError):
    """A file that no settings can be read from. The message is one sentence or two for the person who sent it."""


@dataclass(frozen=True)
class Fix:
    """One change of a document. `set` puts `value` at `path`, `remove` takes `path` away, `move` carries what is at
    `path` to the path that `value` holds.

    Paths are those of the normalised form: where a document has an object in place of a list, index 0 means it.
    """

    op: Literal["set", "remove", "move"]
    path: Path
    value: Any = None

    def __str__(self) -> str:
        where = path_text(self.path)
        if self.op == "remove":
            return f"remove {where}"
        if self.op == "move":
            return f"move {where} to {path_text(self.value)}"
        return f"set {where} to {shown(self.value)}"


@dataclass(frozen=True)
class Finding:
    """`path` is as people write it (`graphs[0].vtcm_mb`); empty when the whole file is meant."""

    path: str
    sentence: str
    fix: Fix | None = None


def path_text(path: Path) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif PLAIN_KEY.fullmatch(part) and len(part) <= LONGEST_SHOWN:
            text += f".{part}"
        else:
            text += f"[{shown(part)}]"
    return text.removeprefix(".")


def shown(value: Any) -> str:
    """A value of a config as JSON on one line, short and printable."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > LONGEST_SHOWN:
        text = text[: LONGEST_SHOWN - 3] + "..."
    return printable(text)


def printable(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def listed(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`; long lists end in a count."""
    if len(words) > 8:
        words = [*words[:7], f"{len(words) - 7} more"]
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def findings_in_log(log: str) -> tuple[Finding, ...]:
    """The keys that a Qualcomm tool's log complains of: the tool ignores them, no compile fails of them."""
    paths = dict.fromkeys(match["path"] for match in KEY_IN_LOG.finditer(log))
    return tuple(_of_logged_key(path) for path in paths)


def _of_logged_key(path: str) -> Finding:
    parts = tuple(int(part) if part.isdecimal() and len(part) < 10 else part for part in path.split("/"))
    where = path_text(parts)
    return Finding(where, f"The tool does not know the key {where} and ignores it; a failure has another cause.")


class Findings:
    """What one check has found so far. Each list has an end: a file of megabytes can be wrong in all its lines."""

    def __init__(self) -> None:
        self.notes: list[Finding] = []
        self.warnings: list[Finding] = []
        self.problems: list[Finding] = []
        self._left_out: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        return len(self.problems) >= MOST_FINDINGS

    def note(self, path: Path, sentence: str, fix: Fix | None = None) -> None:
        self._add("notes", self.notes, path, sentence, fix)

    def warn(self, path: Path, sentence: str, fix: Fix | None = None) -> None:
        self._add("warnings", self.warnings, path, sentence, fix)

    def problem(self, path: Path, sentence: str, fix: Fix | None = None) -> None:
        self._add("problems", self.problems, path, sentence, fix)

    def _add(self, kind: str, found: list[Finding], path: Path, sentence: str, fix: Fix | None) -> None:
        if len(found) < MOST_FINDINGS:
            found.append(Finding(path_text(path), sentence, fix))
        else:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1

    def count_left_out(self) -> None:
        """Ends the lists: each says how many of its kind it does not show."""
        for kind, count in self._left_out.items():
            getattr(self, kind).append(Finding("", f"There are {count:,} more {kind} of this config."))
        self._left_out = {}
