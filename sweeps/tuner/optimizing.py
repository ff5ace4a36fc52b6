"""A sweep on a device: compile every point, run each one there, and hand out the best by latency or DRAM traffic.

`run_optimization` is what `optimize` and `tunerweb sweep --criterion` call. It needs no server and no database.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from devices.checking import Runner
from devices.runners.base import PERF_PROFILES, BinaryInfo, RunSettings, Runtime, Timing, check_binary
from devices.targets import Target, find_target
from sweeps.configs import ConfigDocument, target_number_of
from sweeps.profiling.blocks import FEWEST_TO_RANK, Rules
from sweeps.ranking import TrialOutcome, granted_differences
from sweeps.reports import write_bundle
from sweeps.reports.measured import TuningReport, measured_files, remove_stale_measured
from sweeps.toolchain.base import Session
from sweeps.tuner.compiling import CompiledPoints, Kitchen, Listener, SweepRequest, checked_p_values, compile_points
from sweeps.tuner.criteria import Criteria
from sweeps.tuner.devices import Opened, Reachable
from sweeps.tuner.errors import CompilationError, EmulatedDevice
from sweeps.tuner.inputs import BadInput, chosen_target, existing_file, read_config_file, shown
from sweeps.tuner.measuring import Bench, MeasureListener
from sweeps.tuner.results import latency_report, traffic_report
from tunerweb.work.scratch import scratch_root

PROFILING_LEVELS = ("basic", "detailed")
EMULATED = (
    "{device} only emulates the NPU, and an emulator's times say nothing about a device. Optimize for latency on real "
    "hardware, or for bandwidth, which the compiler knows, here."
)


@dataclass(frozen=True)
class TuneRequest:
    """`sweep.out` is where the best goes. `rounds` None: as many as it takes, 25 at most. `runs` None: the runner
    chooses, so that a block takes about half a second. `inputs`: an .npz file; without it they are random, by `seed`.
    """

    sweep: SweepRequest
    criterion: Criteria
    device: Reachable
    perf_profile: str = "burst"
    profiling_level: str = "basic"
    rounds: int | None = None
    runs: int | None = None
    seed: int = 0
    inputs: Path | None = None


@dataclass(frozen=True)
class CompiledModel:
    """The context binary at `path`, and the inner settings that made it. `p_value` None: the config set none."""

    path: Path
    p_value: int | None
    config: Mapping[str, Any]

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)


class TuneListener(Listener, MeasureListener, Protocol):
    """Hears of the compiles, and of the session on the device after them."""


def run_optimization(request: TuneRequest, listener: TuneListener) -> tuple[CompiledModel, TuningReport]:
    """The best point's binary, published in the output folder, and the report beside it.

    Raises `BadInput`; `TransportError` where the device cannot be reached, `DeviceLost` where it went away;
    `RunnerMissing` and `BinaryMismatch` for what can be known before a compile; `EmulatedDevice`; `NotRankable`;
    `CompilationError` when nothing compiled; `RunFailed` when nothing ran; `ToolchainError`; `OSError`.
    """
    _check(request)
    document, config_files = read_config_file(request.sweep.config)
    if request.sweep.soc is not None or target_number_of(document) is not None:
        # A mistake in it is told before a device is reached.
        chosen_target(request.sweep.soc, document)
    given = (*request.sweep.models, *config_files, *((request.inputs,) if request.inputs else ()))
    with ExitStack() as stack:
        kitchen = Kitchen(stack.enter_context(scratch_root()), stack, listener)
        listener.step(f"Reaching {request.device.name}")
        opened = stack.enter_context(request.device.opened(kitchen.work, listener.trusting))
        target = _target(request, document, opened)
        runner = opened.runner(target.dsp_arch)
        runtime = runner.find()
        _refuse_emulated(request, opened, runtime)

        def before(session: Session) -> None:
            check_binary(_expected(target, session), opened.soc_model, runtime)
            _prepare(request, given)

        compiled = compile_points(request.sweep, document, target, kitchen, before)
        return _measured(request, compiled, _Place(opened, runner, runtime, kitchen.work), listener)


@dataclass(frozen=True)
class _Place:
    opened: Opened
    runner: Runner
    runtime: Runtime
    work: Path


def _measured(
    request: TuneRequest, compiled: CompiledPoints, place: _Place, listener: TuneListener
) -> tuple[CompiledModel, TuningReport]:
    candidates, left_out = candidates_of(compiled)
    bench = Bench(
        place.opened,
        place.runner,
        place.runtime,
        candidates,
        _settings(request),
        place.work,
        _rules(request),
        listener,
        request.inputs,
    )
    listener.step(f"Running {len(candidates)} binaries on {place.opened.name}")
    if request.criterion is Criteria.LATENCY:
        report = latency_report(bench, bench.measure_all(), compiled, left_out)
    else:
        bench.run_each_once()
        report = traffic_report(bench, compiled, left_out)
    best = candidates[report.best]
    out = request.sweep.out
    dlc = compiled.source.dlc if compiled.source.converted else None
    write_bundle(out, measured_files(report, best, dlc))
    path = out / f"{request.criterion}_optimized_context_binary.bin"
    return CompiledModel(path, best.p_value, best.point.config.to_json()), report


def candidates_of(compiled: CompiledPoints) -> tuple[dict[str, TrialOutcome], dict[str, str]]:
    """Those to run, the baseline first, and those to leave out, with the reason. Raises `CompilationError`."""
    left_out = {f"P={p_value}": reason for p_value, reason in compiled.invalid.items()}
    candidates: dict[str, TrialOutcome] = {}
    for trial in sorted(compiled.trials, key=lambda trial: not trial.is_baseline):
        if trial.result is None:
            left_out[trial.label] = trial.error or "It did not compile."
        elif differences := granted_differences(trial, compiled.target):
            left_out[trial.label] = "; ".join(differences)
        else:
            candidates[trial.label] = trial
    if not candidates:
        first = next(trial.label for trial in compiled.trials)
        raise CompilationError(f"No point of the sweep compiled as it was asked for. {first}: {left_out[first]}")
    return candidates, left_out


def _check(request: TuneRequest) -> None:
    checked_p_values(request.sweep)
    for path in request.sweep.models:
        existing_file(path, "model")
    if request.inputs:
        existing_file(request.inputs, "file of inputs")
    _one_of("perf_profile", request.perf_profile, PERF_PROFILES)
    _one_of("profiling_level", request.profiling_level, PROFILING_LEVELS)
    if request.runs is not None and request.runs < 1:
        raise BadInput(f"{request.runs} runs measure nothing: give 1 or more, or leave it out.")
    if request.rounds is not None and request.rounds < FEWEST_TO_RANK:
        raise BadInput(f"{request.rounds} rounds are too few to rank: give {FEWEST_TO_RANK} or more, or leave it out.")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise BadInput(f"{name} is {value!r}; it is one of {', '.join(known)}.")


def _target(request: TuneRequest, document: ConfigDocument, opened: Opened) -> Target:
    """What was asked for, else what the config names, else what the device is. Raises `BadInput`."""
    is_named = request.sweep.soc is not None or target_number_of(document) is not None
    if not is_named and opened.soc_model is not None:
        return find_target(opened.soc_model)
    return chosen_target(request.sweep.soc, document)


def _refuse_emulated(request: TuneRequest, opened: Opened, runtime: Runtime) -> None:
    if request.criterion is Criteria.LATENCY and runtime.timing is Timing.EMULATED:
        raise EmulatedDevice(EMULATED.format(device=_capitalised(opened.name)))


def _capitalised(text: str) -> str:
    return f"T{text[1:]}" if text.startswith("th") else text


def _expected(target: Target, session: Session) -> BinaryInfo:
    """What every binary of the sweep will say of itself."""
    arch = int(target.dsp_arch.removeprefix("v"))
    return BinaryInfo("", (), (), target.soc_model, arch, session.identity.build_id)


def _prepare(request: TuneRequest, given: tuple[Path, ...]) -> None:
    out = request.sweep.out
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_stale_measured(out, request.criterion, keep=given)
    except OSError as error:
        raise BadInput(f"The output folder {shown(out)} cannot be used: {error.strerror}. Choose another.") from None


def _settings(request: TuneRequest) -> RunSettings:
    limit_s = request.sweep.limits.wall_s
    settings = RunSettings(
        request.runs,
        perf_profile=request.perf_profile,
        profiling_level=request.profiling_level,
        timeout_s=limit_s,
        seed=request.seed,
    )
    if request.criterion is Criteria.LATENCY:
        return settings
    # Whether it runs is seen in one inference.
    return replace(settings, runs=1, warmup_runs=0, warmup_s=0.0)


def _rules(request: TuneRequest) -> Rules:
    if request.criterion is Criteria.BANDWIDTH:
        return Rules(least_rounds=1, most_rounds=1)
    if request.rounds is None:
        return Rules(seed=request.seed)
    return Rules(least_rounds=request.rounds, most_rounds=request.rounds, seed=request.seed)
