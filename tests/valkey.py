"""A real broker where the settings look for one."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.processes import PATIENCE_S, STEP_S
from tunerweb.supervisor.broker import answers, broker_command


class Valkey:
    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.start()

    def start(self) -> None:
        """It keeps nothing: started again, it is empty."""
        self._process = subprocess.Popen(broker_command(self.socket), stdout=subprocess.DEVNULL, cwd=self.socket.parent)
        deadline = time.monotonic() + PATIENCE_S
        while not answers(self.socket):
            assert time.monotonic() < deadline, "the broker does not answer"
            time.sleep(STEP_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def running_valkey(socket: Path) -> Iterator[Valkey]:
    broker = Valkey(socket)
    try:
        yield broker
    finally:
        broker.kill()
        socket.unlink(missing_ok=True)
