"""Which entry of a config is for which graph of the model. A name that matches nothing would be ignored silently."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sweeps.configs.editing import default_config
from sweeps.configs.findings import Findings, Fix, listed, shown
from sweeps.configs.schema import GraphConfig, HtpConfig

BANNER = "No graph options: compiler defaults would apply (O=2, the SoC's full VTCM)"


def bind_graphs(config: HtpConfig, graph_names: Sequence[str] | None, rebind: bool, findings: Findings) -> HtpConfig:
    """Every entry with the names of the graphs it is for. Without `graph_names` only the config itself is looked at."""
    if graph_names is None:
        if not config.graphs:
            findings.warn(("graphs",), f"{BANNER}.")
        _find_doubles(config, findings)
        return config
    if not config.graphs:
        return _with_entry(config, graph_names, findings)
    config = _rebound(config, graph_names, findings) if rebind else config
    config = _filled(config, graph_names, findings)
    _find_strangers(config, graph_names, findings)
    _find_doubles(config, findings)
    _find_forgotten(config, graph_names, findings)
    return config


def _with_entry(config: HtpConfig, graph_names: Sequence[str], findings: Findings) -> HtpConfig:
    findings.warn(("graphs",), f"{BANNER}; an entry for {_named(graph_names)} was added, so that a sweep can set them.")
    return config.model_copy(update={"graphs": default_config(graph_names).graphs})


def _rebound(config: HtpConfig, graph_names: Sequence[str], findings: Findings) -> HtpConfig:
    """A model converted here has a graph name of ours; the only entry of a config is then for the only graph."""
    if len(config.graphs) != 1 or len(graph_names) != 1:
        return config
    names = config.graphs[0].graph_names
    if not names or graph_names[0] in names:
        return config
    findings.note(
        ("graphs", 0, "graph_names"),
        f"This entry names {_named(names)}; it was bound to {_named(graph_names)}, the only graph of the model.",
    )
    return _replaced(config, 0, graph_names)


def _filled(config: HtpConfig, graph_names: Sequence[str], findings: Findings) -> HtpConfig:
    nameless = [index for index, graph in enumerate(config.graphs) if not graph.graph_names]
    if not nameless:
        return config
    taken = {name for graph in config.graphs for name in graph.graph_names}
    free = [name for name in graph_names if name not in taken]
    if free and len(nameless) == 1:
        at = ("graphs", nameless[0], "graph_names")
        findings.note(at, f"graph_names was missing; filled in from the model: {_named(free)}.")
        return _replaced(config, nameless[0], free)
    for number, index in enumerate(nameless):
        name = free[number] if number < len(free) else None
        fix = Fix("set", ("graphs", index, "graph_names"), [name]) if name else Fix("remove", ("graphs", index))
        findings.problem(
            ("graphs", index), f"This entry names no graph, and {_why_unclear(free)}; write its graph_names.", fix
        )
    return config


def _why_unclear(free: list[str]) -> str:
    return "there are several such entries" if free else "every graph of the model has an entry already"


def _find_strangers(config: HtpConfig, graph_names: Sequence[str], findings: Findings) -> None:
    known = set(graph_names)
    taken = {name for graph in config.graphs for name in graph.graph_names}
    free = [name for name in graph_names if name not in taken]
    for index, graph in enumerate(config.graphs):
        strangers = [name for name in graph.graph_names if name not in known]
        if not strangers:
            continue
        names = _corrected(graph.graph_names, known, free)
        free = [name for name in free if name not in names]
        path = ("graphs", index, "graph_names")
        findings.problem(
            path,
            f"Your config names {_named(strangers)}, and the model contains {_named(graph_names)}; "
            "the compiler would ignore these settings silently. Use the model's name.",
            Fix("set", path, names) if names else Fix("remove", ("graphs", index)),
        )


def _corrected(names: Sequence[str], known: set[str], free: list[str]) -> list[str]:
    """Each strange name becomes the most similar graph that no entry names yet; the last one need not be similar."""
    result: list[str] = []
    left = list(free)
    for name in names:
        cutoff = 0.0 if len(left) == 1 else 0.6
        near = [name] if name in known else difflib.get_close_matches(name[:200], left, n=1, cutoff=cutoff)
        result += near
        left = [other for other in left if other not in near]
    return result


def _find_doubles(config: HtpConfig, findings: Findings) -> None:
    first_entry: dict[str, int] = {}
    for index, graph in enumerate(config.graphs):
        doubles = [name for name in graph.graph_names if first_entry.setdefault(name, index) != index]
        if not doubles:
            continue
        others = [name for name in graph.graph_names if first_entry[name] == index]
        entries = [f"graphs[{entry}]" for entry in sorted({first_entry[name] for name in doubles} | {index})]
        at = ("graphs", index, "graph_names")
        findings.problem(
            at,
            f"{_named(doubles)} {'is' if len(doubles) == 1 else 'are'} in more than one entry, {listed(entries)}, "
            "and a graph can have one only; take it out of the others.",
            Fix("set", at, others) if others else Fix("remove", ("graphs", index)),
        )


def _find_forgotten(config: HtpConfig, graph_names: Sequence[str], findings: Findings) -> None:
    named = {name for graph in config.graphs for name in graph.graph_names}
    forgotten = [name for name in graph_names if name not in named]
    if forgotten and not findings.problems:
        findings.warn(
            ("graphs",),
            f"No entry names {_named(forgotten)}; compiler defaults apply there (O=2, the SoC's full VTCM). "
            "Name it in an entry if it shall have the same settings.",
        )


def _replaced(config: HtpConfig, index: int, graph_names: Sequence[str]) -> HtpConfig:
    bound: GraphConfig = config.graphs[index].model_copy(update={"graph_names": tuple(graph_names)})
    return config.model_copy(update={"graphs": (*config.graphs[:index], bound, *config.graphs[index + 1 :])})


def _named(names: Sequence[str]) -> str:
    return listed([shown(name) for name in names])
