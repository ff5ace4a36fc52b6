"""A sweep that runs on a server, and who is killed while it does."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from typing import Any

from tests.server import Process, Server

P_VALUES = "0-2"
LONGEST_WAIT_S = 0.6


class RunningSweep:
    """Of a model that nobody has compiled yet. `moment` decides when and who."""

    def __init__(self, server: Server, moment: random.Random, file: str = "small.dlc", **fields: Any) -> None:
        self.server = server
        self.moment = moment
        self._file = file
        self._fields = {"p_values": P_VALUES, **fields}
        self._launch()

    def _launch(self) -> None:
        self.pk = self.server.ask("launch", model=self.server.ask("seed", file=self._file), **self._fields)

    def running(self, phase: str = "") -> list[list[int]]:
        """The ids and fences of its running rows. When it ended before one was seen, another one takes its place."""
        while not (rows := self.server.ask("until_running", sweep=self.pk, phase=phase)):
            self._launch()
        return list(rows)

    def goes_on_for_a_while(self) -> None:
        """Until a random moment, or its end when that comes first."""
        self.running()
        self.server.ask("until_finished", sweep=self.pk, timeout_s=self.moment.uniform(0, LONGEST_WAIT_S))

    def kill(self, *kinds: str) -> tuple[list[list[int]], float]:
        """One process of each kind; the rows that were running then, and when it was."""
        victims = [self.victim(kind) for kind in kinds]
        rows = self.running()
        since = time.monotonic()
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim.pid, signal.SIGKILL)
        return rows, since

    def victim(self, kind: str) -> Process:
        """Some live only while there is work."""
        while not (found := self.server.of(kind)):
            self.running()
        return self.moment.choice(found)

    def recovery_s(self, rows: list[list[int]], since: float) -> float:
        """-1: never."""
        timeout_s = 2 * self.server.recovery_s
        return float(self.server.ask("until_recovered", rows=rows, since=since, timeout_s=timeout_s))

    def trials(self) -> list[dict[str, Any]]:
        return list(self.server.ask("trials", sweep=self.pk))

    def counted_attempts(self) -> int:
        """Of all its trials, but for those whose lease ran out, which a very busy machine can do alone."""
        return sum(trial["attempts"] - trial["rescues"] for trial in self.trials())

    def is_finished(self, timeout_s: float = 60.0) -> bool:
        """Wait for it."""
        return bool(self.server.ask("until_finished", sweep=self.pk, timeout_s=timeout_s))

    def retry(self) -> int:
        return int(self.server.ask("retry", sweep=self.pk))

    def ends_well(self) -> bool:
        """With every result there and right."""
        assert self.is_finished()
        assert self.server.ask("faults_of", sweep=self.pk) == []
        return True
