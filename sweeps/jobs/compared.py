"""Outputs of a run, kept as rows keep them and compared with those of the baseline."""

from __future__ import annotations

import io
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy

from sweeps.models import Verdict
from sweeps.models.measuring import ComparedOutputs
from sweeps.outputs import Comparison, Outputs, compare, fingerprint
from tunerweb.accounts.models import Team
from tunerweb.work.artifacts import keep, server_store

NO_BASELINE = "There are no outputs of the baseline (P=0) to compare it with: {why}"
NOT_RUN = "it was not run"


def kept_outputs(team: Team, path: Path) -> tuple[Outputs, dict[str, Any]]:
    """The arrays, and the columns that keep them."""
    arrays = _arrays(path.read_bytes())
    return arrays, {"outputs": keep(team, path), "fingerprint": fingerprint(arrays)}


def outputs_of(row: ComparedOutputs | None) -> Outputs | None:
    """Raises `StoreDamaged`."""
    return _arrays(server_store().read(row.outputs.sha256)) if row and row.outputs else None


def _arrays(npz: bytes) -> Outputs:
    with numpy.load(io.BytesIO(npz), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def judged(reference: Outputs | None, candidate: Outputs, why: str = NOT_RUN) -> tuple[dict[str, Any], str]:
    """Columns, and the sentence on what is wrong. `why` there is no reference."""
    if reference is None:
        return {"verdict": Verdict.NOT_VERIFIED}, NO_BASELINE.format(why=why)
    comparison = compare(reference, candidate)
    return {"verdict": _verdict(comparison), "differences": _figures(comparison)}, comparison.sentence


def _verdict(comparison: Comparison) -> Verdict:
    if not comparison.is_same:
        return Verdict.DIFFERENT
    identical = all(output.is_identical for output in comparison.outputs)
    return Verdict.IDENTICAL if identical else Verdict.SAME


def _figures(comparison: Comparison) -> list[dict[str, Any]]:
    """JSON has no infinity."""
    return [
        {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in each.items()}
        for each in (asdict(output) for output in comparison.outputs)
    ]
