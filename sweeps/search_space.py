"""Which points a size sweep compiles, and which P values are left out, with the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from devices.targets import Target
from sweeps.configs import P_VALUES, HtpConfig, p_value_problem, with_p_value
from sweeps.toolchain.base import Point

BASELINE_P = 0
ONE_VALUE = re.compile(r"-?[0-9]+")
ONE_RANGE = re.compile(r"([0-9]+)\s*-\s*([0-9]+)")
LONGEST_NUMBER = 9
LONGEST_ECHO = 40


def parse_p_values(text: str) -> tuple[int, ...] | None:
    """Read `0,1,5-8`; None stands for `all`. Raises ValueError with a sentence."""
    if text.strip().lower() == "all":
        return None
    values: set[int] = set()
    for part in text.split(","):
        first, last = _bounds(part.strip(), text)
        values.update(range(first, last + 1))
    return tuple(sorted(values))


def num_cores_of(config: HtpConfig, target: Target) -> int:
    """The largest number of cores that a graph of the config asks for; the target's when none says one."""
    return max((graph.num_cores for graph in config.graphs if graph.num_cores), default=target.num_cores)


def p_values_for(num_cores: int) -> tuple[int, ...]:
    return tuple(p_value for p_value in P_VALUES if p_value_problem(p_value, num_cores) is None)


def left_out(num_cores: int) -> dict[int, str]:
    """The P values that cannot be compiled with that many cores, and why."""
    return invalid_p_values(None, num_cores)


def invalid_p_values(p_values: Sequence[int] | None, num_cores: int) -> dict[int, str]:
    """Those asked for (None: all) that cannot be compiled with that many cores, and why."""
    asked = P_VALUES if p_values is None else sorted(set(p_values))
    problems = {p_value: p_value_problem(p_value, num_cores) for p_value in asked}
    return {p_value: problem for p_value, problem in problems.items() if problem}


def size_sweep_points(
    config: HtpConfig, target: Target, graph_names: Sequence[str], p_values: Sequence[int] | None
) -> tuple[Point, ...]:
    """P=0 first, then the config as given, then the P values asked for (None: all) in their order.

    P values that the target cannot compile are not among them: `invalid_p_values` names those.
    """
    valid = p_values_for(num_cores_of(config, target))
    others = [p_value for p_value in valid if p_value != BASELINE_P and (p_values is None or p_value in p_values)]
    baseline, *swept = (
        Point(config=with_p_value(config, p_value, graph_names), p_value=p_value) for p_value in (BASELINE_P, *others)
    )
    return (baseline, as_given_point(config), *swept)


def as_given_point(config: HtpConfig) -> Point:
    """The config untouched; its P value is there when all its graphs agree on one."""
    given = {graph.p_value for graph in config.graphs}
    return Point(config=config, p_value=given.pop() if len(given) == 1 else None, as_given=True)


def _bounds(part: str, text: str) -> tuple[int, int]:
    if found := ONE_RANGE.fullmatch(part):
        first, last = _p_value(found[1]), _p_value(found[2])
        if first > last:
            raise ValueError(f"The range {first}-{last} of P values runs backwards; write {last}-{first}.")
        return first, last
    if ONE_VALUE.fullmatch(part):
        return _p_value(part), _p_value(part)
    raise ValueError(
        f"{text[:LONGEST_ECHO]!r} is not a list of P values; write all, or numbers and ranges such as 0,1,5-8."
    )


def _p_value(number: str) -> int:
    if len(number) > LONGEST_NUMBER:
        raise ValueError(f"{number[:LONGEST_NUMBER]}... is not a P value (0 to {P_VALUES[-1]}).")
    value = int(number)
    if value not in P_VALUES:
        raise ValueError(p_value_problem(value, 1))
    return value
