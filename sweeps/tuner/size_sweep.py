"""A size sweep on this machine: from a model, a config and a target to a ranked bundle of context binaries.

`run_size_sweep` is what `tunerweb sweep` and `optimizeROMandRAM` call. It needs no server and no database.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from devices.targets import Target
from sweeps.configs import CheckedConfig, HtpConfig
from sweeps.ranking import TrialOutcome
from sweeps.reports import REPORT_FILE, about_sweep, bundle_files, remove_stale, size_report, write_bundle
from sweeps.search_space import invalid_p_values, num_cores_of, parse_p_values, size_sweep_points
from sweeps.toolchain.base import Session
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.tuner.inputs import (
    BadInput,
    Source,
    checked_config,
    chosen_target,
    prepare_model,
    read_config_file,
    sentence_of,
    shown,
)
from sweeps.tuner.running import MemoryGate, PointRunner, Progress, available_memory_bytes, default_workers
from tunerweb.work.child import Limits
from tunerweb.work.scratch import scratch_root


@dataclass(frozen=True)
class SweepRequest:
    """`models` is a DLC, an ONNX with its data files, or a zip of these. `soc` is a name or a number; None takes it
    from the config. `workers` None: as many as there are cores.
    """

    models: tuple[Path, ...]
    config: Path | None = None
    soc: str | None = None
    p_values: str = "all"
    free_dimensions: Mapping[str, int] = field(default_factory=dict)
    workers: int | None = None
    top_k: int = 1
    limits: Limits = field(default_factory=Limits)
    out: Path = Path("size_optimized")


class Listener(Protocol):
    """Hears what happens while a sweep runs; `step` names what begins now."""

    def step(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def warning(self, text: str) -> None: ...
    def progress(self, progress: Progress) -> None: ...


class Silent:
    def step(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def warning(self, text: str) -> None: ...
    def progress(self, progress: Progress) -> None: ...


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
    p_values = _checked_p_values(request)
    document, config_files = read_config_file(request.config)
    target = chosen_target(request.soc, document)
    with ExitStack() as stack:
        work = stack.enter_context(scratch_root())
        listener.step(f"Reading the model for {target.label}")
        source = prepare_model(request.models, target, request.free_dimensions, work, request.limits)
        session = stack.enter_context(BundledToolchain().open(source.dlc, target))
        config, checked = checked_config(document, target, session.graph_names, rebind=source.converted)
        _tell(source, checked if request.config else None, listener)
        prepare_folder(request.out, given=(*request.models, *config_files))
        trials = _compile(request, session, config, target, p_values, listener)
        invalid = invalid_p_values(p_values, num_cores_of(config, target))
        about = _about(source, target, session, trials)
        report = size_report(trials, request.top_k, target, invalid=invalid, about=about)
        dlc = source.dlc if source.converted else None
        write_bundle(request.out, bundle_files(trials, request.top_k, report, target, converted_dlc=dlc))
        written = json.loads((request.out / REPORT_FILE).read_bytes())
        return SweepResult(target, trials, invalid, written, request.out)


def _tell(source: Source, checked: CheckedConfig | None, listener: Listener) -> None:
    """What the conversion and the normalising changed. There is nothing to say about a config that nobody gave."""
    for note in source.notes:
        listener.note(note)
    for finding in checked.notes if checked else ():
        listener.note(sentence_of(finding))
    for finding in checked.warnings if checked else ():
        listener.warning(sentence_of(finding))


def _checked_p_values(request: SweepRequest) -> tuple[int, ...] | None:
    if request.top_k < 1:
        raise BadInput(f"k is {request.top_k}, but at least the best binary is exported: give 1 or more.")
    if request.workers is not None and request.workers < 1:
        raise BadInput(f"{request.workers} workers compile nothing: give 1 or more, or leave it out.")
    try:
        return parse_p_values(request.p_values)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _compile(
    request: SweepRequest,
    session: Session,
    config: HtpConfig,
    target: Target,
    p_values: tuple[int, ...] | None,
    listener: Listener,
) -> tuple[TrialOutcome, ...]:
    points = size_sweep_points(config, target, session.graph_names, p_values)
    workers = min(request.workers or default_workers(), len(points))
    gate = MemoryGate(available_memory_bytes(), sum(path.stat().st_size for path in request.models))
    listener.step(f"Compiling {len(points)} points, {workers} at once")
    runner = PointRunner(session, workers=workers, limits=request.limits, gate=gate, report=listener.progress)
    return tuple(runner.run(points))


def prepare_folder(out: Path, given: Collection[Path]) -> None:
    """Make the output folder and take an earlier sweep's files away, but not those that this one was given.

    Raise `BadInput` where that is not possible.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_stale(out, keep=given)
    except OSError as error:
        raise BadInput(f"The output folder {shown(out)} cannot be used: {error.strerror}. Choose another.") from None


def _about(source: Source, target: Target, session: Session, trials: Sequence[TrialOutcome]) -> dict[str, Any]:
    return about_sweep(
        model_sha256=source.sha256,
        model_name=source.model_name,
        converter=source.converter,
        target=target,
        identity=session.identity,
        trials=trials,
    )
