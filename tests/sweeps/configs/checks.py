"""A config, written as a dict or as text, checked against a model of one graph named `tiny_a`."""

from __future__ import annotations

import json
from typing import Any

from devices.targets import find_target
from sweeps.configs import CheckedConfig, Finding, HtpConfig, check_config, read_config

SM8650 = 57


def check(
    config: dict[str, Any] | str,
    *,
    soc: str | int | None = SM8650,
    num_cores: int = 1,
    graph_names: tuple[str, ...] | None = ("tiny_a",),
    rebind: bool = False,
) -> CheckedConfig:
    text = config if isinstance(config, str) else json.dumps(config)
    target = None if soc is None else find_target(soc, num_cores)
    return check_config(read_config(text.encode()), target=target, graph_names=graph_names, rebind=rebind)


def accepted(checked: CheckedConfig) -> HtpConfig:
    assert checked.problems == ()
    assert checked.config is not None
    return checked.config


def only_problem(checked: CheckedConfig) -> Finding:
    (problem,) = checked.problems
    assert checked.config is None
    return problem


def sentences(findings: tuple[Finding, ...], path: str) -> str:
    return " ".join(finding.sentence for finding in findings if finding.path == path)


def graph(**settings: Any) -> dict[str, Any]:
    return {"graphs": [{"graph_names": ["tiny_a"], **settings}]}


def with_p(p_value: Any, **settings: Any) -> dict[str, Any]:
    return graph(finalize_config={"P": p_value}, **{"O": 3, **settings})
