"""The order of things: broker and preparation, then everything else at once; a stop takes them down in turn."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunerweb.supervisor import broker
from tunerweb.supervisor.children import Family
from tunerweb.supervisor.errors import CannotStart
from tunerweb.supervisor.logs import last_line, open_log
from tunerweb.supervisor.processes import Supervised, reason
from tunerweb.supervisor.signals import Requests
from tunerweb.supervisor.specs import ProcessSpec

BROKER_START_S = 15.0
BROKER_LOOK_S = 0.01
ENDED_AT_ONCE = 130


@dataclass(frozen=True)
class Plan:
    """`stages` run for good and stop one stage after the other, the broker last.

    `prepare` runs to its end before they start; what it prints is told to whoever waits for all to run.
    """

    broker: ProcessSpec | None
    socket: Path
    prepare: ProcessSpec
    stages: tuple[tuple[ProcessSpec, ...], ...]
    need_broker: frozenset[str]


class Supervisor:
    def __init__(
        self,
        plan: Plan,
        logs: Path,
        say: Callable[[str], None],
        stopping: Callable[[], None] = lambda: None,
    ) -> None:
        self.plan = plan
        self.logs = logs
        self.say = say
        self.stopping = stopping
        self.family = Family()
        self.requests = Requests()
        self.stages = [[self._supervised(spec) for spec in stage] for stage in plan.stages]
        self.broker = self._supervised(plan.broker, self._broker_started) if plan.broker else None
        self._broker_starts = 0
        self._waits_for_broker: asyncio.Task[None] | None = None

    def _supervised(self, spec: ProcessSpec, started: Callable[[], None] = lambda: None) -> Supervised:
        return Supervised(spec, self.family, self.logs, self.say, started)

    async def run(self, started: Callable[[str], Coroutine[Any, Any, None]]) -> int:
        """Until somebody asks to stop. Raises what `started` raises, and `CannotStart`; no process is ever left.

        `started` is called with what the preparation printed, once everything has been started.
        """
        life = asyncio.create_task(self._live(started))
        try:
            await first_of(life, asyncio.create_task(self.requests.stop.wait()))
            if self.requests.stop.is_set():
                self.say("Stopping. Ctrl+C once more ends everything at once.")
            self.requests.stop.set()
            return await self._end()
        finally:
            life.cancel()
            for member in self._everybody():
                member.give_up()
            await self.family.kill_all()
            # Raises what ended it; a cancelled life was ended by a signal.
            with contextlib.suppress(asyncio.CancelledError):
                await life

    async def _live(self, started: Callable[[str], Coroutine[Any, Any, None]]) -> None:
        if self.broker:
            self.broker.begin()
        prepared, _ = await asyncio.gather(self.run_once(self.plan.prepare), self._broker_answers())
        for stage in self.stages:
            for member in stage:
                member.begin()
        runs = [member.runs for member in self._everybody() if member.runs]
        await asyncio.gather(started(prepared), *runs)

    async def run_once(self, spec: ProcessSpec) -> str:
        """To its end; what it printed. Raises `CannotStart` with the last line of its log when it failed."""
        path = self.logs / f"{spec.name}.log"
        with tempfile.TemporaryFile() as output, open_log(path) as log:
            start = log.tell()
            code = await self.family.start(spec, output, log).ended
            if code:
                raise CannotStart(f"{spec.failure}: {last_line(path, start) or reason(code)}. Its log: {path}")
            output.seek(0)
            return output.read().decode().strip()

    def _everybody(self) -> list[Supervised]:
        members = [member for stage in self.stages for member in stage]
        return [*members, self.broker] if self.broker else members

    async def _end(self) -> int:
        self.stopping()
        if self._waits_for_broker:
            self._waits_for_broker.cancel()
        orderly = asyncio.create_task(self._stop_all())
        await first_of(orderly, asyncio.create_task(self.requests.at_once.wait()))
        if not orderly.done():
            orderly.cancel()
            return ENDED_AT_ONCE
        await orderly
        return 0

    async def _stop_all(self) -> None:
        for stage in self.stages:
            await asyncio.gather(*(member.stop() for member in stage))
        if self.broker:
            await self.broker.stop()

    async def _broker_answers(self) -> None:
        """Looks until it does: a broker's start takes some hundredths of a second."""
        if not self.broker:
            return
        try:
            async with asyncio.timeout(BROKER_START_S):
                while not broker.answers(self.plan.socket):
                    await asyncio.sleep(BROKER_LOOK_S)
        except TimeoutError:
            said = last_line(self.broker.log)
            raise CannotStart(f"The broker does not start: {said}. Its log: {self.broker.log}") from None

    def _broker_started(self) -> None:
        self._broker_starts += 1
        if self._waits_for_broker:
            self._waits_for_broker.cancel()
        if self._broker_starts > 1:
            self._waits_for_broker = asyncio.create_task(self._renew_workers())

    async def _renew_workers(self) -> None:
        """The new broker knows no worker: those that run introduce themselves by being started again."""
        with contextlib.suppress(CannotStart):
            await self._broker_answers()
        for member in self._everybody():
            if member.spec.name in self.plan.need_broker and member.runs:
                member.renew()


async def first_of(*tasks: asyncio.Task[Any]) -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
