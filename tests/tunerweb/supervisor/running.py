"""A supervisor that runs as a process of its own: what it prints, and who lives because of it."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.processes import descendants, gone

PATIENCE_S = 60.0
SMALL_STACK = (sys.executable, "-m", "tests.tunerweb.supervisor.small_stack")


class Running:
    def __init__(self, command: Sequence[str | Path], data: Path, env: Mapping[str, str] | None = None) -> None:
        self.data = data
        self.printed = ""
        self._seen: set[int] = set()
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def until(self, pattern: str) -> re.Match[str]:
        """Read what it prints until the pattern is there; what was read up to its end is consumed."""
        deadline = time.monotonic() + PATIENCE_S
        while not (match := re.search(pattern, self.printed)):
            assert self._read(deadline), f"{pattern!r} was never printed:\n{self.printed}"
        self.printed = self.printed[match.end() :]
        return match

    def _read(self, deadline: float) -> bool:
        assert self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return False
        piece = os.read(self._process.stdout.fileno(), 65536)
        self.printed += piece.decode()
        return bool(piece)

    def send(self, number: signal.Signals) -> None:
        self._seen |= descendants(self.pid)
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for its end; the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        return self._process.wait(PATIENCE_S)

    def nobody_is_left(self) -> bool:
        """Of all that ran when a signal was sent."""
        return bool(self._seen) and all(gone(pid) for pid in self._seen)

    def log(self, name: str) -> str:
        path = self.data / "logs" / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def pid_of(self, name: str) -> int:
        """Of a stand-in that writes its process id, or its child's, as its last line."""
        deadline = time.monotonic() + PATIENCE_S
        while not (text := self.log(name)).endswith("\n"):
            assert time.monotonic() < deadline, f"{name} wrote nothing"
            time.sleep(0.005)
        return int(text.split()[-1])
