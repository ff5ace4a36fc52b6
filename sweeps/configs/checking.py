"""A config document against a model and a target: the config to compile with, or why there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from devices.targets import Target
from sweeps.configs.documents import ConfigDocument
from sweeps.configs.effects import note_effects
from sweeps.configs.findings import Finding, Findings, shown
from sweeps.configs.graph_naming import bind_graphs
from sweeps.configs.limits import check_limits, with_cores_of_target
from sweeps.configs.normalising import normalise
from sweeps.configs.schema import HtpConfig
from sweeps.configs.target_binding import bind_target


@dataclass(frozen=True)
class CheckedConfig:
    """`config` is None when there is a problem; warnings and notes do not stand in the way.

    Paths and fixes are those of the document that was checked: after a fix was applied, check again.
    """

    config: HtpConfig | None
    notes: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    problems: tuple[Finding, ...]


def check_config(
    document: ConfigDocument,
    *,
    target: Target | None = None,
    graph_names: Sequence[str] | None = None,
    rebind: bool = False,
) -> CheckedConfig:
    """`graph_names`: those of the model; None when there is no model yet, and names go unchecked.

    `rebind`: the model was converted here and has a graph name of ours, which the only entry of the config is bound to.
    """
    findings = Findings()
    config = HtpConfig.model_validate_json(json.dumps(normalise(document.tree, findings)))
    config = bind_graphs(config, graph_names, rebind, findings)
    config, soc = bind_target(config, document.tree, target, findings)
    config = with_cores_of_target(config, target, findings)
    check_limits(config, soc, findings)
    note_effects(config, findings)
    _note_level(document, findings)
    findings.count_left_out()
    return CheckedConfig(
        config=None if findings.problems else config,
        notes=document.notes + tuple(findings.notes),
        warnings=document.warnings + tuple(findings.warnings),
        problems=tuple(findings.problems),
    )


def _note_level(document: ConfigDocument, findings: Findings) -> None:
    if document.kind == "combined":
        findings.note((), "The wrapper and the HTP settings were in one file; what we write are two files.")
    if document.config_file_path is not None:
        file = shown(document.config_file_path)
        findings.problem(
            (), f"{document.name} is the wrapper, and its HTP settings are in {file}; give that file as well."
        )
