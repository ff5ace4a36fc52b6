from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessSpec:
    """`patience_s`: how long it may take to stop after each request, before it is killed.

    `failure` is what it means for the person at the terminal when a process that runs once fails.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    patience_s: tuple[float, ...] = (10.0, 2.0)
    nice: int = 0
    failure: str = ""
