"""From a model, a config and a target to compiled points: what all sweeps on this machine have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from devices.targets import Target
from sweeps.configs import CheckedConfig, ConfigDocument, HtpConfig
from sweeps.ranking import TrialOutcome
from sweeps.reports import about_sweep
from sweeps.search_space import invalid_p_values, num_cores_of, parse_p_values, size_sweep_points
from sweeps.toolchain.base import Session
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.tuner.inputs import BadInput, Source, checked_config, prepare_model, sentence_of
from sweeps.tuner.running import MemoryGate, PointRunner, Progress, available_memory_bytes, default_workers
from tunerweb.work.child import Limits


@dataclass(frozen=True)
class SweepRequest:
    """`models` is a DLC, an ONNX with its data files, or a zip of these. `config` is a file or its content. `soc` is a
    name or a number; None takes it from the config. `workers` None: as many as there are cores.
    """

    models: tuple[Path, ...]
    config: Path | Mapping[str, Any] | None = None
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
class CompiledPoints:
    """`invalid` holds the P values that were left out, with the reasons. The binaries live as long as the session."""

    source: Source
    target: Target
    session: Session
    trials: tuple[TrialOutcome, ...]
    invalid: Mapping[int, str]

    @property
    def about(self) -> dict[str, Any]:
        """What a report says of the model, the target and the toolchain."""
        return about_sweep(
            model_sha256=self.source.sha256,
            model_name=self.source.model_name,
            converter=self.source.converter,
            target=self.target,
            identity=self.session.identity,
            trials=self.trials,
        )


@dataclass(frozen=True)
class Kitchen:
    """Where a sweep works: a folder of its own, what has to be closed at its end, and who hears of it."""

    work: Path
    stack: ExitStack
    listener: Listener


def compile_points(
    request: SweepRequest,
    document: ConfigDocument,
    target: Target,
    kitchen: Kitchen,
    before: Callable[[Session], None],
) -> CompiledPoints:
    """Compile every point; one that fails is a trial without a result. `before` is the last that can say no.

    Raises `BadInput` when the request cannot be swept, `ToolchainError` when the toolchain itself fails.
    """
    p_values = checked_p_values(request)
    kitchen.listener.step(f"Reading the model for {target.label}")
    source = prepare_model(request.models, target, request.free_dimensions, kitchen.work, request.limits)
    session = kitchen.stack.enter_context(BundledToolchain().open(source.dlc, target))
    config, checked = checked_config(document, target, session.graph_names, rebind=source.converted)
    _tell(source, checked if request.config else None, kitchen.listener)
    before(session)
    trials = _compile(request, session, config, target, p_values, kitchen.listener)
    return CompiledPoints(source, target, session, trials, invalid_p_values(p_values, num_cores_of(config, target)))


def checked_p_values(request: SweepRequest) -> tuple[int, ...] | None:
    """None stands for all. Raises `BadInput`, also for the numbers beside them."""
    if request.top_k < 1:
        raise BadInput(f"k is {request.top_k}, but at least the best binary is exported: give 1 or more.")
    if request.workers is not None and request.workers < 1:
        raise BadInput(f"{request.workers} workers compile nothing: give 1 or more, or leave it out.")
    try:
        return parse_p_values(request.p_values)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _tell(source: Source, checked: CheckedConfig | None, listener: Listener) -> None:
    """What the conversion and the normalising changed. There is nothing to say about a config that nobody gave."""
    for note in source.notes:
        listener.note(note)
    for finding in checked.notes if checked else ():
        listener.note(sentence_of(finding))
    for finding in checked.warnings if checked else ():
        listener.warning(sentence_of(finding))


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
