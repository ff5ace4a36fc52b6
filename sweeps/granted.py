"""What a context binary says it was built with, against what was asked for."""

from __future__ import annotations

from typing import NamedTuple

from devices.targets import Target
from sweeps.configs import GraphConfig, HtpConfig
from sweeps.toolchain.base import CompileResult, GrantedOptions

BYTES_PER_MB = 1024 * 1024
COMPARED_KEYS = {"O", "vtcm_mb", "hvx_threads", "dlbc"}


class _Check(NamedTuple):
    """`recorded_when_set`: the binary names this option whenever something was asked for."""

    form: str
    requested: int | None
    granted: float | None
    recorded_when_set: bool = False


def option_differences(config: HtpConfig, result: CompileResult, target: Target) -> tuple[str, ...]:
    """A part of a sentence for each difference, with the graph's name where there are several.

    What the binary does not record is no difference, and neither is what was left to the compiler: the 4 MB of VTCM
    that are read back for an unset value are no grant. A requested 0 stands for the SoC's maximum.
    """
    found = _differences(_target_checks(result, target))
    for graph in result.graphs:
        where = f" for graph {graph.graph_name}" if len(result.graphs) > 1 else ""
        checks = _graph_checks(_requested(config, graph.graph_name), graph.granted, target)
        found += [text + where for text in _differences(checks)]
    return tuple(found)


def _differences(checks: tuple[_Check, ...]) -> list[str]:
    found = []
    for check in checks:
        asked, got = check.requested, check.granted
        if got is not None and asked is not None and got != asked:
            found.append(f"{check.form.format(asked)} requested, {check.form.format(f'{got:g}')} granted")
        elif got is None and asked and check.recorded_when_set:
            found.append(f"{check.form.format(asked)} requested, not granted")
    return found


def _target_checks(result: CompileResult, target: Target) -> tuple[_Check, ...]:
    dsp_arch = int(target.dsp_arch.removeprefix("v"))
    return (
        _Check("DSP arch v{}", dsp_arch, result.dsp_arch),
        _Check("soc_model {}", target.soc_model, result.soc_model),
    )


def _graph_checks(requested: GraphConfig, granted: GrantedOptions, target: Target) -> tuple[_Check, ...]:
    # The VTCM is always among what a build records; without it, this build records none of the options.
    recorded = granted.vtcm_bytes is not None
    vtcm_mb = None if granted.vtcm_bytes is None else granted.vtcm_bytes / BYTES_PER_MB
    dlbc = None if granted.dlbc is None else int(granted.dlbc)
    hvx_threads = _or_maximum(requested.hvx_threads, target.soc.hvx_threads)
    return (
        _Check("O={}", requested.O, granted.optimization_level, recorded),
        _Check("P={}", requested.p_value, granted.p_value),
        _Check("{} MB VTCM", _or_maximum(requested.vtcm_mb, target.vtcm_mb), vtcm_mb),
        _Check("{} HVX threads", hvx_threads, granted.hvx_threads, recorded),
        _Check("dlbc={}", requested.dlbc, dlbc),
    )


def _requested(config: HtpConfig, graph_name: str) -> GraphConfig:
    """The settings of one graph: those of every entry that names it, or that names none; the last one wins."""
    merged: dict[str, object] = {}
    for graph in config.graphs:
        if not graph.graph_names or graph_name in graph.graph_names:
            merged |= graph.model_dump(exclude_none=True, include=COMPARED_KEYS)
            if graph.finalize_config is not None:
                merged["finalize_config"] = graph.finalize_config
    return GraphConfig.model_validate(merged)


def _or_maximum(requested: int | None, maximum: int) -> int | None:
    return maximum if requested == 0 else requested
