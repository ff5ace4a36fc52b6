"""One value of a config: read in the spellings that people use, or refused with what to write in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from devices.targets import DspArch, TargetError, find_soc, parse_dsp_arch
from sweeps.configs.findings import shown
from sweeps.configs.schema import DeviceConfig, GraphConfig, Section

LARGEST = 2**32 - 1
SMALLEST = -(2**31)
LONGEST_ARCH = 20
MOST_NAMES = 1000


@dataclass(frozen=True)
class Read:
    """`note` when the value was written in another way; `problem` when it is refused, with what to propose for it."""

    value: Any = None
    note: str | None = None
    problem: str | None = None
    proposed: Any = None


Reader = Callable[[str, Any], Read]


def reader_of(section: type[Section], key: str) -> Reader:
    special = SPECIAL.get((section, key))
    if special:
        return special
    field = section.model_fields[key]
    (kind, *_) = [part for part in get_args(field.annotation) if part is not type(None)] or [field.annotation]
    if get_origin(kind) is Literal:
        return read_switch if get_args(kind) == (0, 1) else _choice(get_args(kind))
    if kind is int:
        return read_count if any(getattr(part, "ge", None) == 0 for part in field.metadata) else read_whole
    return {bool: read_switch_as_bool, str: read_text}.get(kind) or CONTAINERS.get(get_origin(kind), _as_it_is)


def read_whole(key: str, value: Any, smallest: int = SMALLEST, largest: int = LARGEST) -> Read:
    number = _whole(value)
    if number is None or isinstance(value, str):
        return refused(key, value, "a whole number", number)
    if not smallest <= number <= largest:
        return Read(
            problem=f"{key} is {shown(value)}, and it can be {smallest} to {largest}; correct it or leave it out."
        )
    return Read(number, None if isinstance(value, int) else f"{shown(value)} was written as {number}.")


def read_count(key: str, value: Any) -> Read:
    return read_whole(key, value, 0)


def read_switch(key: str, value: Any) -> Read:
    """0 or 1."""
    if isinstance(value, bool):
        return Read(int(value), f"{shown(value)} was written as {int(value)}: Qualcomm's tools want a number here.")
    proposed = _truth(value)
    if proposed is None or isinstance(value, str) or value not in (0, 1):
        return refused(key, value, "0 or 1", None if proposed is None else int(proposed))
    return Read(int(value), None if isinstance(value, int) else f"{shown(value)} was written as {int(value)}.")


def read_switch_as_bool(key: str, value: Any) -> Read:
    if isinstance(value, bool):
        return Read(value)
    proposed = _truth(value)
    if proposed is None or isinstance(value, str) or value not in (0, 1):
        return refused(key, value, "true or false", proposed)
    return Read(proposed, f"{shown(value)} was written as {shown(proposed)}: Qualcomm's tools want true or false here.")


def read_text(key: str, value: Any) -> Read:
    return Read(value) if isinstance(value, str) else refused(key, value, "a text", None)


def read_optimization(key: str, value: Any) -> Read:
    number = _whole(value)
    if number is None or isinstance(value, str):
        proposed = None if isinstance(value, bool) or number not in (1, 2, 3) else number
        return refused(key, value, "1, 2 or 3", proposed or (3 if value is True else None))
    if number not in (1, 2, 3):
        return Read(
            problem=f"O is {shown(value)}, and O can be 1, 2 or 3; the compiler would silently build O=2.",
            proposed=3 if number > 3 else 2,
        )
    return Read(number, None if isinstance(value, int) else f"{shown(value)} was written as {number}.")


def read_p_value(key: str, value: Any) -> Read:
    """Of the right type; whether there is such a P is checked later, with the cores."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Read(value)
    if isinstance(value, list):
        return Read(
            problem=f"P is the list {shown(value)}, and one value only is possible; a sweep compiles each P itself."
        )
    return refused(key, value, "one whole number without quotes or decimals", _whole(value))


def read_dsp_arch(key: str, value: Any) -> Read:
    text = value if isinstance(value, str) else _whole(value)
    if text is None or len(str(text)) > LONGEST_ARCH:
        known = ", ".join(DspArch)
        return Read(problem=f"{key} is {shown(value)}, and a DSP arch is needed: one of {known}.")
    try:
        arch = parse_dsp_arch(text)
    except ValueError as error:
        return Read(problem=str(error))
    return Read(str(arch), None if value == arch else f"{shown(value)} was written as {shown(str(arch))}.")


def read_soc_model(key: str, value: Any) -> Read:
    """A number; whether there is such a SoC is checked later."""
    if isinstance(value, str):
        try:
            number = find_soc(value).soc_model
        except TargetError:
            number = None
        return refused(key, value, "the number of a SoC", number)
    return read_whole(key, value)


def read_graph_names(key: str, value: Any) -> Read:
    if isinstance(value, str):
        return Read([value], f"{shown(value)} was written as a list.")
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return refused(key, value, 'a list of graph names such as ["graph"]', None)
    if len(value) > MOST_NAMES:
        return Read(problem=f"{key} has {len(value):,} names, and {MOST_NAMES:,} is the most; leave some out.")
    names = list(dict.fromkeys(value))
    return Read(names, None if len(names) == len(value) else "A graph that was named twice here is named once now.")


def read_core_ids(key: str, value: Any) -> Read:
    numbers = value if isinstance(value, list) else [value]
    reads = [read_whole(key, number) for number in numbers]
    if any(read.problem for read in reads):
        return refused(key, value, "a list of core numbers such as [0]", None)
    whole = [read.value for read in reads]
    return Read(whole, None if whole == value else f"{shown(value)} was written as {shown(whole)}.")


SPECIAL: dict[tuple[type[Section], str], Reader] = {
    (GraphConfig, "graph_names"): read_graph_names,
    (GraphConfig, "O"): read_optimization,
    (DeviceConfig, "dsp_arch"): read_dsp_arch,
    (DeviceConfig, "soc_model"): read_soc_model,
    (DeviceConfig, "core_id"): read_core_ids,
}


def _choice(allowed: tuple[Any, ...]) -> Reader:
    def read(key: str, value: Any) -> Read:
        if value in allowed:
            return Read(value)
        return refused(key, value, " or ".join(shown(choice) for choice in allowed), allowed[0])

    return read


def _container(kind: type, name: str) -> Reader:
    def read(key: str, value: Any) -> Read:
        return Read(value) if isinstance(value, kind) else refused(key, value, name, None)

    return read


CONTAINERS: dict[Any, Reader] = {dict: _container(dict, "an object"), tuple: _container(list, "a list")}


def _as_it_is(_key: str, value: Any) -> Read:
    return Read(value)


def refused(key: str, value: Any, needed: str, proposed: Any) -> Read:
    what_next = "correct it or leave it out" if proposed is None else f"write {shown(proposed)}"
    return Read(problem=f"{key} is {shown(value)}, and it must be {needed}; {what_next}.", proposed=proposed)


def _whole(value: Any) -> int | None:
    """The whole number that is meant, also by a text; None for what is no whole number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and len(value) <= LONGEST_ARCH:
        return _whole_of_text(value)
    return None


def _whole_of_text(text: str) -> int | None:
    try:
        return _whole(float(text))
    except (ValueError, OverflowError):
        return None


def _truth(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}.get(value.casefold())
    return bool(value) if isinstance(value, int | float) else None
