"""Candidates on a device: one process for each block, in the order that the measuring protocol asks for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy

from devices.checking import Runner
from devices.discovery import read_noise
from devices.runners.base import Block, Job, RunFailed, RunKilled, RunnerError, RunSettings, Runtime, Timing
from devices.transports.errors import CommandTimedOut, TransportError
from sweeps.outputs import Outputs, compare
from sweeps.profiling.blocks import TWIN, Conditions, MeasuredBlock, Rules, twin_of
from sweeps.profiling.plan import Finished, Measure, Pause
from sweeps.profiling.session import CandidateFailed, run_session
from sweeps.ranking import TrialOutcome
from sweeps.toolchain.base import CompileResult
from sweeps.toolchain.binary_info import info_of_result
from sweeps.tuner.devices import Opened
from sweeps.tuner.errors import DeviceLost

MOST_KILLS = 3
RETRIED = " It is tried again."
TOO_LONG = "One block of it did not end within {seconds:.0f} s."
LOST = "{why} {blocks} blocks were measured by then, which is no ranking. Start again when the device is back."
WRONG = "Its outputs differ from those of {reference}: {sentence}"
Sleep = Callable[[float], None]


@dataclass(frozen=True)
class MeasureProgress:
    """Sent before a block. `round` counts from 1; `is_exact`: there will be as many as `rounds`, else at most."""

    round: int
    rounds: int
    is_exact: bool
    candidate: str
    blocks: int


class MeasureListener(Protocol):
    """Hears of a session on a device. `trusting`: which host key was taken without being compared."""

    def trusting(self, text: str) -> None: ...
    def measuring(self, progress: MeasureProgress) -> None: ...
    def pausing(self, pause: Pause) -> None: ...


@dataclass
class Bench:
    """A device with the binaries that are run on it; it is the session's record too.

    `candidates`: the baseline first, each with a result. `folder` is for files of this machine.
    """

    opened: Opened
    runner: Runner
    runtime: Runtime
    candidates: Mapping[str, TrialOutcome]
    settings: RunSettings
    folder: Path
    rules: Rules
    listener: MeasureListener
    inputs: Path | None = None
    sleep: Sleep = time.sleep
    blocks: list[MeasuredBlock] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    _outputs: dict[str, Path] = field(default_factory=dict)

    def measure_all(self) -> Finished:
        """Raises `DeviceLost`, and `RunFailed` when not one candidate ran."""
        with self._telling_a_loss():
            finished = run_session(list(self.candidates), self.rules, self, self.measure, self.pause)
        self._require_one()
        return finished

    def run_each_once(self) -> None:
        """Does it run there at all? Raises what `measure_all` raises."""
        with self._telling_a_loss():
            for name in self.candidates:
                try:
                    self.keep(self.measure(Measure(0, name), False))
                except CandidateFailed as error:
                    self.refuse(name, str(error))
        self._require_one()

    def keep(self, block: MeasuredBlock) -> None:
        self.blocks.append(block)

    def refuse(self, candidate: str, reason: str) -> None:
        self.refused[candidate] = reason

    def pause(self, pause: Pause) -> None:
        self.listener.pausing(pause)
        self.sleep(pause.seconds)

    def measure(self, step: Measure, after_pause: bool) -> MeasuredBlock:
        """Raises `CandidateFailed`, and what the transport raises."""
        name = self._named(step.candidate)
        rounds, is_exact = self.rules.most_rounds, self.rules.least_rounds == self.rules.most_rounds
        self.listener.measuring(MeasureProgress(step.round + 1, rounds, is_exact, step.candidate, len(self.blocks)))
        temperature_c = self._temperature_c()
        block = self._run(self._job(name))
        return MeasuredBlock(
            round=step.round,
            candidate=step.candidate,
            samples_us=block.samples_us,
            conditions=self._conditions(block),
            temperature_c=temperature_c,
            is_noisy=_was_disturbed(block),
            after_pause=after_pause,
        )

    def wrong_outputs(self) -> dict[str, str]:
        """Candidates that compute something else than the first that ran, with the reason."""
        reference = next((name for name in self.candidates if name not in self.refused), "")
        if reference not in self._outputs:
            return {}
        expected = _arrays(self._outputs[reference])
        found = {
            name: compare(expected, _arrays(path)) for name, path in self._outputs.items() if name not in self.refused
        }
        return {
            name: WRONG.format(reference=reference, sentence=comparison.sentence)
            for name, comparison in found.items()
            if name != reference and not comparison.is_same
        }

    def _named(self, candidate: str) -> str:
        """The twin is the baseline by another name."""
        return (
            candidate if candidate in self.candidates else next(n for n in self.candidates if twin_of(n) == candidate)
        )

    def _job(self, name: str) -> Job:
        result = _result_of(self.candidates[name])
        try:
            info = info_of_result(result)
        except RunFailed as error:
            raise CandidateFailed(error.message) from None
        return Job(result.binary, info, self.settings, inputs=self.inputs, outputs=self._wanted_outputs(name))

    def _wanted_outputs(self, name: str) -> Path | None:
        """Once of each candidate; the simulated device computes nothing."""
        if name in self._outputs or self.runtime.timing is Timing.SIMULATED:
            return None
        self._outputs[name] = self.folder / f"outputs-{len(self._outputs)}.npz"
        return self._outputs[name]

    def _run(self, job: Job) -> Block:
        """What is killed from outside is run again: that says nothing of the binary."""
        for left in reversed(range(MOST_KILLS)):
            try:
                return self.runner.run(job, self.runtime)
            except RunKilled as error:
                if not left:
                    raise CandidateFailed(error.message) from None
            except CommandTimedOut:
                raise CandidateFailed(TOO_LONG.format(seconds=job.settings.timeout_s)) from None
            except RunnerError as error:
                raise CandidateFailed(error.message) from None
        raise AssertionError("the last try returns or raises")

    def _conditions(self, block: Block) -> Conditions:
        runtime = self.runtime
        return Conditions(
            timing=block.timing,
            event=block.event,
            perf_profile=self.settings.perf_profile,
            profiling_level=self.settings.profiling_level,
            runtime=f"{runtime.name} {runtime.version} {runtime.build_id}".strip(),
            log_level=self.settings.log_level,
        )

    def _temperature_c(self) -> float | None:
        """Only a real NPU can be warm."""
        if self.runtime.timing is not Timing.MEASURED:
            return None
        found = read_noise(self.opened.transport).npu_millicelsius
        return None if found is None else found / 1000

    def _require_one(self) -> None:
        if len(self.refused) == len(self.candidates):
            first = next(iter(self.refused))
            raise RunFailed(f"No candidate ran on {self.opened.name}. {first}: {self.refused[first]}")

    @contextmanager
    def _telling_a_loss(self) -> Iterator[None]:
        try:
            yield
        except TransportError as error:
            if not error.is_transient:
                raise
            why = error.message.removesuffix(RETRIED)
            raise DeviceLost(LOST.format(why=why, blocks=len(self.blocks))) from None


def counted_blocks(blocks: Sequence[MeasuredBlock], left_out: Mapping[str, str]) -> list[MeasuredBlock]:
    """A baseline that is left out takes its twin along."""
    return [block for block in blocks if block.candidate.removesuffix(TWIN) not in left_out]


def _result_of(trial: TrialOutcome) -> CompileResult:
    assert trial.result
    return trial.result


def _arrays(path: Path) -> Outputs:
    """Empty for a run that left none."""
    if not path.exists():
        return {}
    with numpy.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _was_disturbed(block: Block) -> bool:
    """Somebody else used the NPU: the inference had to yield."""
    return any(sum(values) > 0 for event, values in block.counters.items() if "yield" in event.lower())
