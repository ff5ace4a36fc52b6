"""From the bytes of a config file to JSON values: strict first, then without comments and trailing commas."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from typing import Any, NoReturn

from sweeps.configs.findings import ConfigUnreadable, Finding, listed, shown

LARGEST_FILE_BYTES = 8 * 2**20
DEEPEST = 64
LONGEST_NUMBER = 40
SHORTEST_WHITE_SPACE_NOTE = 1000

# Possessive, so that no input makes them backtrack; an unterminated string or comment runs to the end of the text.
STRING = r'"(?:[^"\\]++|\\.)*+"?'
BRACKET = re.compile(rf"{STRING}|[\[\]{{}}]", re.DOTALL)
STRING_OR_COMMENT = re.compile(rf"{STRING}|//[^\n]*+|/\*(?:.*?\*/|.*)", re.DOTALL)
NOT_A_NEWLINE = re.compile(r"[^\n]")
STRING_OR_TRAILING_COMMA = re.compile(rf"{STRING}|,(?=\s*+[\]}}])", re.DOTALL)


def parse_json(data: bytes, name: str) -> tuple[Any, tuple[Finding, ...]]:
    """The value and what was taken out to read it. Raises ConfigUnreadable."""
    if len(data) > LARGEST_FILE_BYTES:
        raise ConfigUnreadable(
            f"{name} has {len(data) / 2**20:.1f} MB, and a config has at most {LARGEST_FILE_BYTES // 2**20}; "
            "choose the JSON file of HTP settings."
        )
    text, notes = _decoded(data, name)
    if not text.strip():
        what = "is empty" if len(text) < SHORTEST_WHITE_SPACE_NOTE else f"has {len(text):,} spaces and nothing else"
        raise ConfigUnreadable(f"{name} {what}; leave the config out to compile with the defaults, or fill it.")
    _check_depth(text, name)
    try:
        return _parsed(text, name), notes
    except json.JSONDecodeError as strict:
        return _leniently(text, name, strict, notes)


def _leniently(
    text: str, name: str, strict: json.JSONDecodeError, notes: tuple[Finding, ...]
) -> tuple[Any, tuple[Finding, ...]]:
    plain, changes = _without_extras(text, name)
    if not changes:
        raise ConfigUnreadable(_not_json(name, strict)) from None
    try:
        return _parsed(plain, name), notes + changes
    except json.JSONDecodeError as error:
        raise ConfigUnreadable(_not_json(name, error)) from None


def _not_json(name: str, error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        reason = "there is more text after the end of the object"
    elif error.msg.startswith("Expecting property name"):
        reason = "a key in double quotes is expected"
    else:
        reason = error.msg[0].lower() + error.msg[1:].removesuffix(" starting at")
    return f"{name} is not JSON: {reason}, at line {error.lineno}, column {error.colno}. Correct it and send it again."


def _decoded(data: bytes, name: str) -> tuple[str, tuple[Finding, ...]]:
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ConfigUnreadable(
            f"{name} is not a text file: byte {error.start} is no {encoding.upper()}; choose the JSON file."
        ) from None
    if encoding == "utf-8":
        return text, ()
    what = "The byte order mark was left out" if encoding == "utf-8-sig" else f"The file was read as {encoding.upper()}"
    return text, (Finding("", f"{what}; what we write is plain UTF-8."),)


def _check_depth(text: str, name: str) -> None:
    depth = 0
    for match in BRACKET.finditer(text):
        bracket = match[0]
        if bracket in ("[", "{"):
            depth += 1
        elif bracket in ("]", "}"):
            depth -= 1
        if depth > DEEPEST:
            raise ConfigUnreadable(
                f"{name} is nested more than {DEEPEST} levels deep at line {_line(text, match.start())}; "
                "HTP settings need five. Choose the file of settings."
            )


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _without_extras(text: str, name: str) -> tuple[str, tuple[Finding, ...]]:
    """Comments and trailing commas become spaces, so that lines and columns stay."""
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    comments: list[int] = []
    commas: list[int] = []

    def blank_comment(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith('"'):
            return found
        line = bisect_right(line_starts, match.start())
        if found.startswith("/*") and not (len(found) >= 4 and found.endswith("*/")):
            raise ConfigUnreadable(f"The comment at line {line} of {name} never ends; close it with */.")
        comments.append(line)
        return NOT_A_NEWLINE.sub(" ", found) if "\n" in found else " " * len(found)

    def blank_comma(match: re.Match[str]) -> str:
        if match[0] != ",":
            return match[0]
        commas.append(bisect_right(line_starts, match.start()))
        return " "

    plain = STRING_OR_TRAILING_COMMA.sub(blank_comma, STRING_OR_COMMENT.sub(blank_comment, text))
    found = [("comment", comments), ("trailing comma", commas)]
    return plain, tuple(_removed(what, lines) for what, lines in found if lines)


def _removed(what: str, lines: list[int]) -> Finding:
    word = f"{what} removed at line" if len(lines) == 1 else f"{what}s removed at lines"
    text = f"{word} {listed([str(line) for line in lines])}; what we write is strict JSON."
    return Finding("", text[0].upper() + text[1:])


def _parsed(text: str, name: str) -> Any:
    def refuse_number(value: str) -> NoReturn:
        text = value[:LONGEST_NUMBER]
        raise ConfigUnreadable(
            f"{name} has the number {text}, which no tool can read; correct it or leave its key out."
        )

    def whole(digits: str) -> int:
        return int(digits) if len(digits) <= LONGEST_NUMBER else refuse_number(digits)

    def fraction(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else refuse_number(digits)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            raise ConfigUnreadable(_twice(pairs, name))
        return result

    try:
        value = json.loads(
            text, object_pairs_hook=unique, parse_constant=refuse_number, parse_int=whole, parse_float=fraction
        )
        # Half of a surrogate pair is legal JSON, but no tool and no database can store it.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ConfigUnreadable(f"{name} has half a character (a lone \\ud800 to \\udfff); write it whole.") from None
    return value


def _twice(pairs: list[tuple[str, Any]], name: str) -> str:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            return f"{name} has {shown(key)} twice in one object, with {shown(seen[key])} and {shown(value)}; keep one."
        seen[key] = value
    raise ValueError("no key stands twice")
