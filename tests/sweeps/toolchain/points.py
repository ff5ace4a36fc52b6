"""Points for tests of toolchains."""

from __future__ import annotations

from collections.abc import Sequence

from sweeps.configs import default_config, with_p_value
from sweeps.toolchain.base import Point


def point(p_value: int, graph_names: Sequence[str]) -> Point:
    config = with_p_value(default_config(graph_names), p_value, graph_names)
    return Point(config=config, p_value=p_value)
