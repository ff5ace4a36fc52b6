"""What a target can give, and what a P needs. The compiler accepts most of what is caught here, silently."""

from __future__ import annotations

from devices.targets import DspArch, SocModel, Target, TargetError, all_socs, find_target
from sweeps.configs.findings import Findings, Fix, Path
from sweeps.configs.p_values import p_value_problem
from sweeps.configs.schema import GraphConfig, HtpConfig

FIRST_ARCH_WITH_EXTENDED_UDMA = DspArch.V81


def with_cores_of_target(config: HtpConfig, target: Target | None, findings: Findings) -> HtpConfig:
    """A target of several cores is real only when every graph asks for them."""
    if target is None or target.num_cores == 1:
        return config
    graphs = []
    for index, graph in enumerate(config.graphs):
        at = ("graphs", index, "num_cores")
        if graph.num_cores is None:
            findings.note(at, f"num_cores {target.num_cores} was filled in by us, as the target has it.")
            graph = graph.model_copy(update={"num_cores": target.num_cores})
        elif graph.num_cores != target.num_cores:
            findings.problem(
                at,
                f"num_cores is {graph.num_cores}, and the target has {target.num_cores} cores; use one number.",
                Fix("set", at, target.num_cores),
            )
        graphs.append(graph)
    return config.model_copy(update={"graphs": tuple(graphs)})


def check_limits(config: HtpConfig, soc: SocModel | None, findings: Findings) -> None:
    for index, graph in enumerate(config.graphs):
        at = ("graphs", index)
        _check_vtcm(graph, at, soc, findings)
        _check_threads(graph, at, soc, findings)
        _check_cores(graph, at, soc, findings)
        _check_p_value(graph, at, findings)
    _check_extended_udma(config, soc, findings)
    _check_listed_cores(config, soc, findings)


def _check_vtcm(graph: GraphConfig, at: Path, soc: SocModel | None, findings: Findings) -> None:
    if graph.vtcm_mb is None:
        return
    path = (*at, "vtcm_mb")
    largest = soc.vtcm_mb if soc else max(known.vtcm_mb for known in all_socs())
    if graph.vtcm_mb == 0:
        findings.note(
            path, f"vtcm_mb is maximum (0), {f'{largest} MB on {soc.name}' if soc else 'all that the SoC has'}."
        )
    if graph.vtcm_mb > largest:
        findings.problem(
            path,
            f"vtcm_mb is {graph.vtcm_mb}, and {soc.name if soc else 'no SoC'} has {'' if soc else 'more than '}"
            f"{largest} MB of VTCM; the compiler would accept it silently and build what no such device can load. "
            f"Use at most {largest}.",
            Fix("set", path, largest),
        )


def _check_threads(graph: GraphConfig, at: Path, soc: SocModel | None, findings: Findings) -> None:
    if graph.hvx_threads is None:
        return
    path = (*at, "hvx_threads")
    largest = soc.hvx_threads if soc else max(known.hvx_threads for known in all_socs())
    if graph.hvx_threads == 0:
        findings.note(path, f"hvx_threads is maximum (0), {f'{largest} on {soc.name}' if soc else 'all of the SoC'}.")
    if graph.hvx_threads > largest:
        findings.problem(
            path,
            f"hvx_threads is {graph.hvx_threads}, and {soc.name if soc else 'a SoC'} has at most {largest}; "
            f"the compiler would silently use fewer. Use at most {largest}.",
            Fix("set", path, largest) if largest else Fix("remove", path),
        )


def _check_cores(graph: GraphConfig, at: Path, soc: SocModel | None, findings: Findings) -> None:
    if graph.num_cores is None:
        return
    path = (*at, "num_cores")
    if graph.num_cores == 0:
        findings.problem(path, "num_cores is 0; at least one core is needed, so write 1.", Fix("set", path, 1))
        return
    try:
        find_target((soc or _largest()).soc_model, graph.num_cores)
    except TargetError as error:
        findings.problem(path, str(error), Fix("set", path, 1))


def _largest() -> SocModel:
    """A SoC that takes any number of cores, for a config that names none."""
    return next(soc for soc in all_socs() if soc.multi_core)


def _check_p_value(graph: GraphConfig, at: Path, findings: Findings) -> None:
    p_value = (graph.finalize_config or {}).get("P")
    if not isinstance(p_value, int):
        return
    path = (*at, "finalize_config", "P")
    problem = p_value_problem(p_value, max(graph.num_cores or 1, 1))
    if problem:
        findings.problem(path, f"{problem} Choose another P or leave it to the sweep.", Fix("remove", path))
    elif graph.O != 3:
        _check_level(graph, at, p_value, findings)


def _check_level(graph: GraphConfig, at: Path, p_value: int, findings: Findings) -> None:
    path = (*at, "O")
    level = f"O={graph.O}" if graph.O else "no O"
    fix = Fix("set", path, 3)
    if p_value == 0:
        # Measured: the one P that the compiler takes at every O, and builds as if it were not there.
        findings.warn(path, f"P=0 sets nothing with {level}; set O to 3 to compile what a sweep calls P=0.", fix)
    else:
        sentence = f"P needs O=3; the compiler refuses this (P={p_value} with {level}). Set O to 3."
        findings.problem(path, sentence, fix)


def _check_extended_udma(config: HtpConfig, soc: SocModel | None, findings: Findings) -> None:
    arch = soc.dsp_arch if soc else next((device.dsp_arch for device in config.devices if device.dsp_arch), None)
    known = list(DspArch)
    if not (config.context and config.context.extended_udma) or arch is None:
        return
    if known.index(arch) < known.index(FIRST_ARCH_WITH_EXTENDED_UDMA):
        path = ("context", "extended_udma")
        findings.warn(
            path,
            f"extended_udma needs DSP arch {FIRST_ARCH_WITH_EXTENDED_UDMA} or later, and "
            f"{soc.name if soc else 'the target'} has {arch}; the compiler refuses every graph with it. Take it out.",
            Fix("remove", path),
        )


def _check_listed_cores(config: HtpConfig, soc: SocModel | None, findings: Findings) -> None:
    if any((graph.num_cores or 1) > 1 for graph in config.graphs):
        return
    for index, device in enumerate(config.devices):
        count = max(len(device.cores or ()), len(device.core_id or ()))
        if count < 2:
            continue
        useful = soc is not None and soc.multi_core and len(config.graphs) == 1
        findings.warn(
            ("devices", index, "cores"),
            f"{count} cores are listed here, but no graph has num_cores: the graph will still use one core. "
            + _what_next(soc),
            Fix("set", ("graphs", 0, "num_cores"), count) if useful else None,
        )


def _what_next(soc: SocModel | None) -> str:
    if soc and not soc.multi_core:
        return f"{soc.name} compiles for one core only, so nothing is lost."
    return "Set num_cores in graphs to use more."
