"""A size sweep on this machine: from a model, a config and a target to a ranked bundle of context binaries.

`run_size_sweep` is what `tunerweb sweep` and `optimizeROMandRAM` call. It needs no server and no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from devices.targets import Target
from sweeps.configs import CheckedConfig, HtpConfig
from sweeps.ranking import TrialOutcome
from sweeps.reports import SizeReport, bundle_files, size_report, write_bundle
from sweeps.search_space import invalid_points, parse_p_values, size_sweep_points
from sweeps.toolchain.base import ToolchainIdentity
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.tuner.inputs import BadInput, ConfigInput, SourceInput, checked_config, chosen_target, read_config_file
from sweeps.tuner.running import MemoryGate, PointRunner, Progress, available_memory_bytes, default_workers
from tunerweb.work.child import Limits
from tunerweb.work.files import remove_stale
from tunerweb.work.scratch import scratch_root


@dataclass(frozen=True)
class SweepRequest:
    """`soc` is a name or a number; None takes it from the config. `workers` None: from the cores and the memory."""

    models: tuple[Path, ...]
    config: Path | None = None
    soc: str | None = None
    p_values: str = "all"
    free_dimensions: dict[str, int] = field(default_factory=dict)
    workers: int | None = None
    top_k: int = 1
    limits: Limits = field(default_factory=Limits)
    out: Path = Path("size_optimized")


class Listener(Protocol):
    def step(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def progress(self, progress: Progress) -> None: ...


class Silent:
    def step(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def progress(self, progress: Progress) -> None: ...


@dataclass(frozen=True)
class SweepResult:
    target: Target
    identity: ToolchainIdentity
    trials: tuple[TrialOutcome, ...]
    report: SizeReport
    out: Path

    @property
    def delivered(self) -> bool:
        """At least one point became a context binary."""
        return any(trial.result for trial in self.trials)


def run_size_sweep(request: SweepRequest, listener: Listener) -> SweepResult:
    """Compile every point, write the bundle, return what came out.

    Raises `BadInput` when the request cannot be swept, `ToolchainError` when the toolchain itself fails, `OSError`
    when the files cannot be written. A point that fails does not end the sweep.
    """
    if request.top_k < 1:
        raise BadInput(f"k is {request.top_k}, but at least the best binary is exported: give 1 or more.")
    config = read_config_file(request.config)
    target = chosen_target(request.soc, config)
    with ExitStack() as stack:
        work = stack.enter_context(scratch_root())
        source = SourceInput.prepare(request.models, target, request.free_dimensions, work, request.limits, listener)
        toolchain = BundledToolchain()
        listener.step(f"Reading the model with {toolchain.identity} for {target.label}")
        session = stack.enter_context(toolchain.open(source.dlc, target))
        checked, htp_config = checked_config(config, target, session.graph_names, rebind=source.converted)
        _tell_config(checked, listener)
        points = size_sweep_points(htp_config, target, session.graph_names, parse_p_values(request.p_values))
        rejected = [TrialOutcome.rejected(*left_out) for left_out in invalid_points(request.p_values, target)]
        prepare_folder(request.out)
        workers = request.workers or min(default_workers(), len(points))
        gate = MemoryGate(available_memory_bytes(), source.dlc.stat().st_size)
        listener.step(f"Compiling {len(points)} points, {workers} at once")
        runner = PointRunner(session, workers=workers, limits=request.limits, gate=gate, report=listener.progress)
        trials = (*runner.run(points), *rejected)
        report = size_report(trials, request.top_k, about=_about(source, target, toolchain.identity))
        write_bundle(request.out, bundle_files(trials, request.top_k, report, source.converted_dlc))
        return SweepResult(target, toolchain.identity, trials, report, request.out)


def prepare_folder(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    remove_stale(out)


def _tell_config(checked: CheckedConfig, listener: Listener) -> None:
    for finding in (*checked.notes, *checked.warnings):
        listener.note(f"{finding.path}: {finding.sentence}" if finding.path else finding.sentence)


def _about(source: SourceInput, target: Target, identity: ToolchainIdentity) -> dict[str, Any]:
    return {"model": source.about, "target": target.label, "toolchain": str(identity)}
