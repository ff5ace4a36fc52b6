"""Which keys act, and when: at compile time, at run time on the device, or not at all."""

from __future__ import annotations

from sweeps.configs.findings import Findings, Fix, Path, listed
from sweeps.configs.schema import HtpConfig, Section, key_role

# Measured: the binary is byte-identical with and without them (QAIRT 2.51).
DEAD = {
    "vtcm_size": "vtcm_size has no effect, the compiler ignores it; set vtcm_mb instead.",
    "fp16_relaxed_precision": "fp16_relaxed_precision has no effect in QAIRT 2.51: float graphs are always float16.",
    "advanced_activation_fusion": "advanced_activation_fusion has no effect in QAIRT 2.51; it was kept.",
    "vtcm_retention": "vtcm_retention has no effect in QAIRT 2.51; it was kept.",
    "file_read_memory_budget_in_mb": "file_read_memory_budget_in_mb has no effect on the binary; it was kept.",
}

# Keys of a compile that the compiler of this kind of host takes in no form that is known.
NOT_GIVEN = {
    "hmx_op_bounding": "hmx_op_bounding was kept, but is not given to the compiler: on an x86 host it refuses it.",
    "graph_splitting_configs": "graph_splitting_configs was kept, but is not given to the compiler, whose own form of "
    "it is not known; graph_splitting_enabled is.",
    "reference_weight_sharing_enabled": "reference_weight_sharing_enabled was kept, but is not given to the compiler: "
    "with it a context has no binary.",
}


def note_effects(config: HtpConfig, findings: Findings) -> None:
    for path, section in _sections(config):
        written = section.model_fields_set - {key for key in section.model_fields_set if getattr(section, key) is None}
        keys = [key for key in type(section).model_fields if key in written]
        for key in keys:
            if key in DEAD:
                findings.warn((*path, key), DEAD[key], Fix("remove", (*path, key)))
            if key in NOT_GIVEN:
                findings.warn((*path, key), NOT_GIVEN[key], Fix("remove", (*path, key)))
        at_run_time = [key for key in keys if _acts_at_run_time(type(section), key)]
        if at_run_time:
            acts = "acts at run time, kept" if len(at_run_time) == 1 else "act at run time, kept"
            findings.note(path, f"{listed(at_run_time)} {acts} unchanged; the binary is the same without.")
    _warn_of_compressed_shared_weights(config, findings)


def _acts_at_run_time(section: type[Section], key: str) -> bool:
    return key_role(section, key) == "run" and key not in NOT_GIVEN and key != "cores"


def _warn_of_compressed_shared_weights(config: HtpConfig, findings: Findings) -> None:
    if not (config.context and config.context.weight_sharing_enabled):
        return
    for index, graph in enumerate(config.graphs):
        if graph.dlbc_weights:
            path = ("graphs", index, "dlbc_weights")
            findings.warn(
                path,
                "dlbc_weights and weight sharing do not go together since QAIRT 2.36; take one of them out.",
                Fix("remove", path),
            )


def _sections(config: HtpConfig) -> list[tuple[Path, Section]]:
    found: list[tuple[Path, Section]] = [(("graphs", index), graph) for index, graph in enumerate(config.graphs)]
    for index, device in enumerate(config.devices):
        found.append((("devices", index), device))
        found += [(("devices", index, "cores", number), core) for number, core in enumerate(device.cores or ())]
    single = {"context": config.context, "memory": config.memory, "groupContext": config.groupContext}
    return found + [((key,), section) for key, section in single.items() if section]
