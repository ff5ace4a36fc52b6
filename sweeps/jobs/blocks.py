"""Measures what the plan asks for, and keeps it: one process on the device is one block in the database."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from devices.checking import Runner
from devices.discovery import read_noise
from devices.runners.base import (
    BinaryInfo,
    Block,
    Job,
    RunKilled,
    RunnerError,
    RunSettings,
    Runtime,
    Timing,
    check_binary,
)
from devices.transports.base import Transport
from devices.transports.errors import CommandCancelled, CommandTimedOut
from sweeps import lifecycle, measured
from sweeps.jobs.binaries import info_of
from sweeps.jobs.device_outputs import compare_on_device, has_outputs, keep_outputs
from sweeps.models import DeviceSession, MeasurementBlock, Sweep, Trial
from sweeps.profiling.blocks import MeasuredBlock, NotRankable, twin_of
from sweeps.profiling.plan import Measure, Pause
from sweeps.profiling.session import CandidateFailed
from sweeps.toolchain.errors import ToolchainError
from tunerweb.work.artifacts import server_store
from tunerweb.work.keeper import Keeper
from tunerweb.work.leases import Lease

MOST_KILLS = 3
LOOK_S = 0.5
TOO_LONG = "One block of it did not end within {seconds:.0f} s."
log = logging.getLogger(__name__)


class Paused(Exception):
    """The sweep was paused: its device is free for others until somebody resumes it."""


class Bench:
    """A device with what is to be measured on it. It is the session's record too, and the database is its memory."""

    def __init__(
        self,
        row: DeviceSession,
        lease: Lease,
        keeper: Keeper,
        transport: Transport,
        runner: Runner,
        runtime: Runtime,
        folder: Path,
    ) -> None:
        self.row, self._lease, self._keeper = row, lease, keeper
        self._transport, self._runner, self._runtime, self._folder = transport, runner, runtime, folder
        self.trials = {trial.label: trial for trial in measured.candidates_of(row.sweep)}
        self.names = list(self.trials)
        self.blocks: Sequence[MeasuredBlock] = measured.blocks_of(row)
        self.refused: dict[str, str] = dict(row.refused)
        self._infos: dict[str, BinaryInfo] = {}

    def begin(self) -> None:
        known = self._runtime
        lifecycle.hear_of_session(
            self._lease,
            reason="",
            runtime={"name": known.name, "version": known.version, "build_id": known.build_id, "timing": known.timing},
        )

    def keep(self, block: MeasuredBlock) -> None:
        self.blocks = [*self.blocks, block]

    def refuse(self, candidate: str, reason: str) -> None:
        self.refused[candidate] = reason
        lifecycle.hear_of_session(self._lease, refused=self.refused)

    def pause(self, pause: Pause) -> None:
        """The device cools down; a cancel is heard at once."""
        self._keeper.hear_phase("cooling down")
        log.info("%s: %s", self.row, pause.why)
        if self._keeper.wait(pause.seconds):
            raise CommandCancelled("The measurement was cancelled.")

    def measure(self, step: Measure, after_pause: bool) -> MeasuredBlock:
        self._look_up()
        trial = self._trial_of(step.candidate)
        self._keeper.hear_phase(f"round {step.round + 1}: {step.candidate}")
        outputs = self._folder / "outputs.npz"
        outputs.unlink(missing_ok=True)
        wants_outputs = self._runtime.timing is not Timing.SIMULATED and not has_outputs(self.row, trial)
        job = self._job(trial, outputs if wants_outputs else None)
        before_c = self._temperature_c()
        block = self._run(job)
        made = self._row_of(step, trial, block, job.settings)
        made.temperature_before_c, made.temperature_after_c = before_c, self._temperature_c()
        made.is_noisy, made.after_pause = _was_disturbed(block), after_pause
        usable = self._usable(made, step.candidate)
        if outputs.exists():
            # Before the block: who dies in between runs it again, instead of never looking at what it computed.
            keep_outputs(self.row, trial, outputs)
            compare_on_device(self.row)
        lifecycle.keep_block(self._lease, made)
        return usable

    def _usable(self, made: MeasurementBlock, candidate: str) -> MeasuredBlock:
        """What no statistics survive is not kept."""
        try:
            return measured.block_of(made, candidate, self.row.device_name)
        except NotRankable as error:
            raise CandidateFailed(str(error)) from None

    def _look_up(self) -> None:
        if self._keeper.is_over():
            raise CommandCancelled("The measurement was cancelled.")
        if Sweep.objects.filter(pk=self.row.sweep_id, paused_at__isnull=False).exists():
            raise Paused

    def _trial_of(self, candidate: str) -> Trial:
        known = self.trials.get(candidate)
        return known or next(trial for name, trial in self.trials.items() if twin_of(name) == candidate)

    def _job(self, trial: Trial, outputs: Path | None) -> Job:
        """Raises `CandidateFailed`: what cannot run on this device is told before a byte is sent."""
        binary = trial.compilation.binary
        if binary is None:
            raise CandidateFailed("It has no binary.")
        try:
            if binary.sha256 not in self._infos:
                self._infos[binary.sha256] = info_of(binary.sha256)
            info, device = self._infos[binary.sha256], self.row.device
            check_binary(info, device.soc_model if device else None, self._runtime)
        except (ToolchainError, RunnerError) as error:
            raise CandidateFailed(error.message) from None
        path = server_store().path(binary.sha256)
        return Job(path, info, self._settings(), outputs=outputs, cancelled=self._keeper.is_over)

    def _settings(self) -> RunSettings:
        seed, timeout_s = self.row.sweep.input_seed, float(self.row.sweep.timeout_s)
        if self._runtime.timing is Timing.EMULATED:
            runs = self.row.runs or 1
            return RunSettings(runs, 0, 0.0, self.row.perf_profile, seed=seed, timeout_s=timeout_s)
        return RunSettings(self.row.runs, perf_profile=self.row.perf_profile, seed=seed, timeout_s=timeout_s)

    def _run(self, job: Job) -> Block:
        """What is killed from outside is run again: that says nothing of the binary."""
        for left in reversed(range(MOST_KILLS)):
            try:
                return self._runner.run(job, self._runtime)
            except RunKilled as error:
                if not left:
                    raise CandidateFailed(error.message) from None
            except CommandTimedOut:
                raise CandidateFailed(TOO_LONG.format(seconds=job.settings.timeout_s)) from None
            except RunnerError as error:
                raise CandidateFailed(error.message) from None
        raise AssertionError("the last try returns or raises")

    def _row_of(self, step: Measure, trial: Trial, block: Block, settings: RunSettings) -> MeasurementBlock:
        runtime = self._runtime
        return MeasurementBlock(
            session=self.row,
            trial=trial,
            is_twin=step.candidate not in self.trials,
            round=step.round,
            samples_us=list(block.samples_us),
            event=block.event[:100],
            timing=block.timing,
            other_us={event: list(values) for event, values in block.other_us.items()},
            counters={event: list(values) for event, values in block.counters.items()},
            load_us=block.load_us,
            wall_us=block.wall_us,
            runtime=f"{runtime.name} {runtime.version} {runtime.build_id}".strip(),
            perf_profile=settings.perf_profile,
            profiling_level=settings.profiling_level,
            log_level=settings.log_level,
        )

    def _temperature_c(self) -> float | None:
        """An emulator has no NPU that could be warm."""
        if self._runtime.timing is Timing.EMULATED:
            return None
        found = read_noise(self._transport).npu_millicelsius
        return None if found is None else found / 1000


def _was_disturbed(block: Block) -> bool:
    """Somebody else used the NPU: the inference had to yield."""
    yields: list[Any] = [values for event, values in block.counters.items() if "yield" in event.lower()]
    return any(sum(values) > 0 for values in yields)
