"""Which SoC a config is compiled for: what it says, what the target says, and whether they agree."""

from __future__ import annotations

from typing import Any

from devices.targets import SocModel, Target, TargetError, find_soc, is_kernel_soc_id
from sweeps.configs.documents import value_at
from sweeps.configs.findings import Findings, Fix
from sweeps.configs.schema import DeviceConfig, HtpConfig

DEVICE = ("devices", 0)


def bind_target(
    config: HtpConfig, tree: dict[str, Any], target: Target | None, findings: Findings
) -> tuple[HtpConfig, SocModel | None]:
    """The config with its SoC and DSP arch written out, and that SoC; None when neither side names one."""
    named = _named_soc(config, tree, target, findings)
    soc = target.soc if target else named
    if soc is None:
        if not findings.problems:
            findings.warn(("devices",), "The config names no SoC; choose a target before anything can be compiled.")
        return config, None
    if named and named != soc:
        findings.problem(
            _path_of_soc(config),
            f"The config is for {_label(named)}, and the target is {_label(soc)}; use one of them.",
            _soc_fix(config, tree, soc),
        )
    else:
        _compare_archs(config, soc, findings)
    return (config if findings.problems else _filled(config, soc, findings)), soc


def _named_soc(config: HtpConfig, tree: dict[str, Any], target: Target | None, findings: Findings) -> SocModel | None:
    numbers = {index: device.soc_model for index, device in enumerate(config.devices) if device.soc_model is not None}
    first = next(iter(numbers), None)
    if first is None:
        return None
    for index, number in numbers.items():
        if number != numbers[first]:
            findings.problem(
                ("devices", index, "soc_model"),
                f"soc_model is {number} here and {numbers[first]} in devices[{first}]; one compile is for one SoC.",
                Fix("remove", ("devices", index)),
            )
    try:
        soc = find_soc(numbers[first])
    except TargetError as error:
        sentence = _with_arch(str(error), config.devices[first])
        findings.problem(_path_of_soc(config), sentence, _fix_of_unknown(config, tree, target))
        return None
    findings.note(
        _path_of_soc(config), f"soc_model {soc.soc_model} is {soc.name} ({soc.dsp_arch}, {soc.vtcm_mb} MB VTCM)."
    )
    return soc


def _fix_of_unknown(config: HtpConfig, tree: dict[str, Any], target: Target | None) -> Fix | None:
    """The target in its place; without one, taking it out. A kernel's number means a SoC, which stays for people."""
    if target:
        return _soc_fix(config, tree, target.soc)
    _, index, _ = path = _path_of_soc(config)
    written = "soc_model" if "soc_model" in value_at(tree, path[:2]) else "soc_id"
    number = config.devices[index].soc_model
    return None if is_kernel_soc_id(number or 0) else Fix("remove", ("devices", index, written))


def _with_arch(sentence: str, device: DeviceConfig) -> str:
    arch = device.dsp_arch
    return f"{sentence} The config's dsp_arch alone ({arch}) names no chip." if arch else sentence


def _compare_archs(config: HtpConfig, soc: SocModel, findings: Findings) -> None:
    for index, device in enumerate(config.devices):
        if device.dsp_arch not in (None, soc.dsp_arch):
            at = ("devices", index, "dsp_arch")
            findings.problem(
                at,
                f"dsp_arch is {device.dsp_arch}, and {_label(soc)} has {soc.dsp_arch}; "
                "the compiler would silently build for the SoC's. Correct the one that is wrong.",
                Fix("set", at, str(soc.dsp_arch)),
            )


def _filled(config: HtpConfig, soc: SocModel, findings: Findings) -> HtpConfig:
    """A config that is handed out names its SoC and DSP arch, in the first entry of `devices`."""
    first, *others = config.devices or (DeviceConfig(),)
    wanted = {"soc_model": soc.soc_model, "dsp_arch": soc.dsp_arch}
    missing = {key: value for key, value in wanted.items() if getattr(first, key) is None}
    for key, value in missing.items():
        findings.note((*DEVICE, key), f"{key} {value} ({soc.name}) was filled in by us.")
    return config.model_copy(update={"devices": (first.model_copy(update=missing), *others)})


def _path_of_soc(config: HtpConfig) -> tuple[str, int, str]:
    index = next(index for index, device in enumerate(config.devices) if device.soc_model is not None)
    return ("devices", index, "soc_model")


def _soc_fix(config: HtpConfig, tree: dict[str, Any], soc: SocModel) -> Fix:
    """The whole entry as written, with this SoC: two keys change together, and either name of the SoC may be there."""
    path = _path_of_soc(config)[:2]
    kept = {key: value for key, value in value_at(tree, path).items() if key not in ("soc_id", "soc_model", "dsp_arch")}
    return Fix("set", path, {"soc_model": soc.soc_model, "dsp_arch": str(soc.dsp_arch), **kept})


def _label(soc: SocModel) -> str:
    return f"{soc.name} (soc_model {soc.soc_model})"
