"""Whether a device can be worked with, step by step, each with a sentence on what was found or is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from devices import discovery
from devices.runners.base import Block, Job, RunnerError, Runtime, Timing, check_binary
from devices.transports.base import Transport, sweep_leftovers
from devices.transports.errors import TransportError, Unauthorized

LEAST_FREE_BYTES = 256 * 1024 * 1024
MIB = 1024 * 1024


class StepState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Step:
    """`sentence`: what was found, or what is wrong and what to do. Times are microseconds."""

    name: str
    state: StepState = StepState.WAITING
    sentence: str = ""
    took_us: int = 0


class Runner(Protocol):
    def find(self) -> Runtime: ...

    def run(self, job: Job, runtime: Runtime) -> Block: ...


@dataclass(frozen=True)
class Bench:
    """What a check works with. `connect` raises `TransportError`; `tiny_job` gives a binary for a SoC number."""

    connect: Callable[[], Transport]
    runner: Callable[[Transport], Runner]
    tiny_job: Callable[[int], Job]
    soc_model: int | None
    default_soc_model: int


@dataclass
class Found:
    """What a check found out, as far as it came."""

    failure: TransportError | RunnerError | None = None
    soc_model: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class CheckFailed(Exception):
    """A step's sentence says why."""


NAMES = ("reached and let in", "SoC", "free space", "runtime", "a tiny binary runs")


class Check:
    """`hear` is told all steps whenever one of them changes."""

    def __init__(self, bench: Bench, hear: Callable[[list[Step]], None]) -> None:
        self.bench = bench
        self.found = Found()
        self.steps = [Step(name) for name in NAMES]
        self._hear = hear

    @property
    def is_healthy(self) -> bool:
        return all(step.state is StepState.DONE for step in self.steps)

    @property
    def reason(self) -> str:
        return next((step.sentence for step in self.steps if step.state is StepState.FAILED), "")

    def run(self) -> None:
        """Whatever the device does is a step's sentence."""
        try:
            self._run()
        except CheckFailed:
            self.steps = [
                replace(step, state=StepState.SKIPPED) if step.state is StepState.WAITING else step
                for step in self.steps
            ]
            self._hear(self.steps)

    def _run(self) -> None:
        with self._step(0) as say:
            transport = self.bench.connect()
            say("It answers.")
        with transport:
            self._identify(transport)
            self._free_space(transport)
            runner = self.bench.runner(transport)
            runtime = self._runtime(runner)
            self._tiny_binary(runner, runtime)

    def _identify(self, transport: Transport) -> None:
        with self._step(1) as say:
            identity = discovery.identify(transport)
            self.found.facts |= {
                "machine": identity.machine,
                "system": identity.system,
                "is_emulated": identity.is_emulated,
                "soc_source": identity.source,
            }
            self.found.soc_model = identity.soc_model
            say(self._soc_sentence(identity, transport.kind))

    def _soc_sentence(self, identity: discovery.Identity, kind: str) -> str:
        if kind == "simulated":
            return "A simulated device: its times are made up."
        if identity.is_emulated:
            return (
                f"{identity.machine}: no NPU. Binaries run on the emulator: their values are exact, their times "
                "mean nothing."
            )
        if identity.soc_model is not None:
            return f"{identity.soc_name}, by {identity.source}."
        if self.bench.soc_model is not None:
            return "It does not say; the SoC that was chosen is taken."
        raise CheckFailed("It does not say which SoC it has. Choose the SoC in the form, then test again.")

    def _free_space(self, transport: Transport) -> None:
        with self._step(2) as say:
            sweep_leftovers(transport)
            free = transport.free_bytes(transport.scratch_parent())
            if free < LEAST_FREE_BYTES:
                raise CheckFailed(
                    f"Only {free // MIB:,} MiB are free in {transport.scratch_parent()}; {LEAST_FREE_BYTES // MIB} "
                    "MiB are needed. Free some space on the device."
                )
            self.found.facts["npu_millicelsius"] = discovery.read_noise(transport).npu_millicelsius
            say(f"{free // MIB:,} MiB are free.")

    def _runtime(self, runner: Runner) -> Runtime:
        with self._step(3) as say:
            runtime = runner.find()
            self.found.facts |= {
                "runtime": f"{runtime.name} {runtime.version}",
                "build_id": runtime.build_id,
                "timing": runtime.timing,
            }
            say(f"{runtime.name} {runtime.version} {runtime.build_id}".strip() + ".")
            return runtime

    def _tiny_binary(self, runner: Runner, runtime: Runtime) -> None:
        with self._step(4) as say:
            soc_model = self.bench.soc_model or self.found.soc_model or self.bench.default_soc_model
            job = self.bench.tiny_job(soc_model)
            check_binary(job.info, self.bench.soc_model or self.found.soc_model, runtime)
            block = runner.run(job, runtime)
            median_us = sorted(block.samples_us)[len(block.samples_us) // 2]
            note = "" if block.timing is Timing.MEASURED else f" ({block.timing})"
            say(f"{block.event}: {median_us:,.0f} µs{note}.")

    @contextmanager
    def _step(self, number: int) -> Iterator[Callable[[str], None]]:
        started, said = time.monotonic(), [""]
        self._set(number, StepState.RUNNING)
        try:
            yield lambda sentence: said.__setitem__(0, sentence)
        except (TransportError, RunnerError) as error:
            self.found.failure = error
            self._set(number, StepState.FAILED, error.message, started)
            raise CheckFailed(error.message) from None
        except CheckFailed as error:
            self._set(number, StepState.FAILED, str(error), started)
            raise
        self._set(number, StepState.DONE, said[0], started)

    def _set(self, number: int, state: StepState, sentence: str = "", started: float | None = None) -> None:
        took_us = round((time.monotonic() - started) * 1e6) if started is not None else 0
        self.steps[number] = Step(NAMES[number], state, sentence, took_us)
        self._hear(self.steps)


def reach_of(check: Check) -> str:
    """In the words of `Reach`: whether the device could be talked to."""
    if check.steps[0].state is StepState.DONE and not isinstance(check.found.failure, TransportError):
        return "online"
    return "unauthorized" if isinstance(check.found.failure, Unauthorized) else "offline"
