"""One supervised process: it is started again whenever it dies, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from pathlib import Path

from tunerweb.supervisor.children import Child, Family
from tunerweb.supervisor.logs import last_line, open_log
from tunerweb.supervisor.specs import ProcessSpec

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
STEADY_S = 30.0


def pause_s(quick_deaths: int) -> float:
    """At once the first time, then longer and longer."""
    return min(FIRST_PAUSE_S * 2.0 ** (quick_deaths - 1), LONGEST_PAUSE_S) if quick_deaths else 0.0


def reason(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


class Supervised:
    def __init__(
        self,
        spec: ProcessSpec,
        family: Family,
        logs: Path,
        say: Callable[[str], None],
        started: Callable[[], None] = lambda: None,
    ) -> None:
        self.spec = spec
        self.log = logs / f"{spec.name}.log"
        self.child: Child | None = None
        self.runs: asyncio.Task[None] | None = None
        self._family = family
        self._say = say
        self._started = started
        self._stopping = False
        self._renewing = False
        self._wake = asyncio.Event()

    def begin(self) -> None:
        self.runs = asyncio.create_task(self._run(), name=self.spec.name)

    def renew(self) -> None:
        """Ask it to stop, to be started again at once; no pause is waited for."""
        self._renewing = True
        self._wake.set()
        if self.child:
            self.child.send(signal.SIGTERM)

    def give_up(self) -> None:
        """Do not start it again."""
        self._stopping = True
        self._wake.set()

    async def stop(self) -> None:
        self.give_up()
        if self.child:
            await self.child.end(*self.spec.patience_s)
        if self.runs:
            await self.runs

    async def _run(self) -> None:
        quick_deaths = 0
        clock = asyncio.get_running_loop().time
        while not self._stopping:
            self._renewing = False
            started = clock()
            try:
                death = await self._one_life()
            except OSError as error:
                death = error.strerror or str(error)
            if clock() - started >= STEADY_S:
                quick_deaths = 0
            if not self._is_expected():
                await self._pause(death, pause_s(quick_deaths))
                quick_deaths += 1

    def _is_expected(self) -> bool:
        return self._stopping or self._renewing

    async def _one_life(self) -> str:
        with open_log(self.log) as log:
            log_start = log.tell()
            child = self._family.start(self.spec, log, log)
        self.child = child
        self._started()
        code = await child.ended
        self.child = None
        self._family.kill_session(child.pid)
        said = last_line(self.log, log_start)
        return f"{reason(code)}: {said}" if code > 0 and said else reason(code)

    async def _pause(self, death: str, seconds: float) -> None:
        again = f"again in {seconds:g} s" if seconds else "again"
        self._say(f"{self.spec.name} died ({death}) and is started {again}. Its log: {self.log}")
        self._wake.clear()
        if seconds:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), seconds)
