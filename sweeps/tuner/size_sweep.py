"""A size sweep on this machine: from a model, a config and a target to a ranked bundle of context binaries.

`run_size_sweep` is what `tunerweb sweep` and `optimizeROMandRAM` call. It needs no server and no database.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devices.targets import Target
from sweeps.ranking import TrialOutcome
from sweeps.reports import REPORT_FILE, bundle_files, remove_stale, size_report, write_bundle
from sweeps.tuner.compiling import (
    Kitchen,
    Listener,
    Silent,
    SweepRequest,
    checked_p_values,
    compile_points,
)
from sweeps.tuner.inputs import BadInput, chosen_target, read_config_file, shown
from tunerweb.work.scratch import scratch_root

__all__ = ["Listener", "Silent", "SweepRequest", "SweepResult", "prepare_folder", "run_size_sweep"]


@dataclass(frozen=True)
class SweepResult:
    """`invalid` holds the P values that were left out, with the reasons; `report` is size_report.json."""

    target: Target
    trials: tuple[TrialOutcome, ...]
    invalid: Mapping[int, str]
    report: Mapping[str, Any]
    out: Path

    @property
    def delivered(self) -> bool:
        """At least one point became a context binary."""
        return any(trial.result for trial in self.trials)


def run_size_sweep(request: SweepRequest, listener: Listener) -> SweepResult:
    """Compile every point, write the bundle, return what came out. A point that fails does not end the sweep.

    Raises `BadInput` when the request cannot be swept, `ToolchainError` when the toolchain itself fails, `OSError`
    when the files cannot be written.
    """
    checked_p_values(request)
    document, config_files = read_config_file(request.config)
    target = chosen_target(request.soc, document)
    given = (*request.models, *config_files)
    with ExitStack() as stack:
        kitchen = Kitchen(stack.enter_context(scratch_root()), stack, listener)
        compiled = compile_points(request, document, target, kitchen, lambda _: prepare_folder(request.out, given))
        trials, invalid, source = compiled.trials, compiled.invalid, compiled.source
        report = size_report(trials, request.top_k, target, invalid=invalid, about=compiled.about)
        dlc = source.dlc if source.converted else None
        write_bundle(request.out, bundle_files(trials, request.top_k, report, target, converted_dlc=dlc))
        written = json.loads((request.out / REPORT_FILE).read_bytes())
        return SweepResult(target, trials, invalid, written, request.out)


def prepare_folder(out: Path, given: Collection[Path]) -> None:
    """Make the output folder and take an earlier sweep's files away, but not those that this one was given.

    Raise `BadInput` where that is not possible.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_stale(out, keep=given)
    except OSError as error:
        raise BadInput(f"The output folder {shown(out)} cannot be used: {error.strerror}. Choose another.") from None
