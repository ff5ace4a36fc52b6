"""Where in the text of a config a path of the normalised form is written."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from sweeps.configs.findings import path_text
from sweeps.configs.json_text import STRING

LISTS = frozenset({"graphs", "devices", "cores"})
OBJECTS = frozenset({"context", "memory", "groupContext", "finalize_config"})
TOKEN = re.compile(rf"(?://[^\n]*+|/\*(?:.*?\*/|.*))|(?P<token>{STRING}|[\[\]{{}}:,]|[^\s\[\]{{}}:,\"/]++)", re.DOTALL)
LAST_PART = re.compile(r'(?:\.[^.\[\]"]+|\[(?:\d+|"(?:[^"\\]|\\.)*"?)\]|^[^.\[\]"]+)$')


def lines_of_paths(text: str, paths: set[str]) -> dict[str, int]:
    """The line of each path, counted from 1. What is not written there has the line of what would hold it.

    Of a text that can be read; in any other the lines are as good as they can be.
    """
    wanted = {ancestor for path in paths for ancestor in _with_ancestors(path)}
    found: dict[str, int] = {}
    for path, position in _positions(text):
        if path in wanted and path not in found:
            found[path] = position
            if len(found) == len(wanted):
                break
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    nearest = {path: next((found[one] for one in _with_ancestors(path) if one in found), 0) for path in paths}
    return {path: bisect_right(starts, position) for path, position in nearest.items()}


def _with_ancestors(path: str) -> Iterator[str]:
    while path:
        yield path
        shorter = LAST_PART.sub("", path)
        path = shorter if len(shorter) < len(path) else ""


@dataclass
class _Open:
    """An object or list that the scan is inside of; `path` is that of what it holds."""

    is_object: bool
    path: str
    names_entries: bool = True
    key: str | None = None
    count: int = field(default=0)

    def child(self) -> str:
        if self.is_object:
            return self.path if self.key is None else _joined(self.path, self.key)
        return f"{self.path}[{self.count}]" if self.names_entries else self.path


def _positions(text: str) -> Iterator[tuple[str, int]]:
    inside: list[_Open] = []
    for match in TOKEN.finditer(text):
        token = match["token"]
        if token is None or token == ":":
            continue
        here = inside[-1] if inside else None
        if token == ",":
            _go_on(here)
        elif token in ("]", "}"):
            del inside[-1:]
        elif here and here.is_object and here.key is None:
            here.key = _key(token)
            yield here.child(), match.start()
        else:
            if here and not here.is_object:
                yield here.child(), match.start()
            _go_in(token, here, inside)


def _go_in(token: str, here: _Open | None, inside: list[_Open]) -> None:
    if token in ("[", "{"):
        inside.append(_opened(token, here.child() if here else "", here))


def _go_on(here: _Open | None) -> None:
    if here:
        here.key = None
        here.count += 1


def _opened(token: str, path: str, here: _Open | None) -> _Open:
    """An entry written without its list is entry 0; the entries of a list that stands for one object have no number."""
    key = here.key if here and here.is_object else None
    if token == "{":
        return _Open(True, f"{path}[0]" if key in LISTS else path)
    return _Open(False, path, names_entries=key not in OBJECTS)


def _key(token: str) -> str:
    try:
        key = json.loads(token)
    except ValueError:
        return token
    return key if isinstance(key, str) else token


def _joined(path: str, key: str) -> str:
    part = path_text((key,))
    return f"{path}{part}" if part.startswith("[") or not path else f"{path}.{part}"
