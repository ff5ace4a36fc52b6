"""JSON that a tool may have left unfinished."""

from __future__ import annotations

import json
from typing import Any

from devices.runners.parsers.profile import NotAProfile


def read_object(text: str, expected: str) -> dict[str, Any]:
    """Raises `NotAProfile`: cut off, or something else."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            raise NotAProfile(f"The file is cut off after {len(text)} characters. Make {expected} again.") from None
        raise NotAProfile(f"This is not JSON ({error.msg}, line {error.lineno}); expected is {expected}.") from None
    except RecursionError:
        raise NotAProfile(f"The file is nested too deeply to be {expected}.") from None
    if not isinstance(value, dict):
        raise NotAProfile(f"This JSON is a list or a single value; expected is {expected}.")
    return value


def dig(value: Any, *keys: str) -> Any:
    """What lies under the keys, or None where one of them is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing where it is none."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def number(value: Any) -> float | None:
    """None for what is no finite number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def whole(value: Any) -> int | None:
    found = number(value)
    return None if found is None else round(found)
