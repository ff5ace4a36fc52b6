"""What a report says of the sweep itself: which model, which target, which toolchain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from devices.targets import Target
from sweeps.ranking import TrialOutcome
from sweeps.toolchain.base import ToolchainIdentity


def about_sweep(
    *,
    model_sha256: str,
    model_name: str | None,
    converter: str | None,
    target: Target,
    identity: ToolchainIdentity,
    trials: Sequence[TrialOutcome],
) -> dict[str, Any]:
    """`model_name` and `converter` are those of a model that was converted here: a DLC has neither."""
    results = [trial.result for trial in trials if trial.result]
    graphs = results[0].graphs if results else ()
    return {
        "model": {
            "sha256": model_sha256,
            "name": model_name,
            "converter": converter,
            "graph_names": [graph.graph_name for graph in graphs],
        },
        "target": {"soc_model": target.soc_model, "name": target.name, "dsp_arch": target.dsp_arch},
        "toolchain": identity.model_dump(),
    }
