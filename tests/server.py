"""A real `tunerweb up` on a data folder of its own: its processes by kind, kills, restarts, and what is left of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.processes import PATIENCE_S, STEP_S, descendants
from tests.tunerweb.supervisor.running import Running

TUNERWEB = Path(sys.executable).with_name("tunerweb")
ROOT = Path(__file__).parents[1]
ADDRESS = r"Tunerweb is at (http://127\.0\.0\.1:\d+)/"
LEASE_S = 1.0
IDLE_START_S = 4.0
ANSWER_S = 120.0
KINDS = {
    "valkey": r"^\S*valkey-server",
    "web": r"-m uvicorn ",
    "reconciler": r"-m tunerweb\.work\.reconciler",
    "light": r"-m tunerweb\.work\.worker --queue light",
    "worker": r"-m tunerweb\.work\.worker --queue compile",
    "device worker": r"-m tunerweb\.work\.worker --queue device-",
    "crew": r"-m tunerweb\.work\.crew",
    "child": r"import main; main\(\)\s+\d+ sweeps\.",
}


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    command: str

    @property
    def kind(self) -> str:
        return next((kind for kind, pattern in KINDS.items() if re.search(pattern, self.command)), "other")

    @property
    def member(self) -> str:
        """The name of a worker, as the supervisor calls it."""
        found = re.search(r"--name (\S+)", self.command)
        return found[1] if found else ""

    def environment(self) -> bytes:
        return Path(f"/proc/{self.pid}/environ").read_bytes()

    def names(self, folder: Path) -> bool:
        """In its command, its environment or as where it works. False also for one that has just ended."""
        mark = os.fsencode(folder)
        with contextlib.suppress(OSError):
            working = os.fsencode(os.readlink(f"/proc/{self.pid}/cwd"))
            return any(mark in text for text in (os.fsencode(self.command), working, self.environment()))
        return False


def processes() -> list[Process]:
    """All that live, as the kernel shows them."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{name}/stat") as stat,
                open(f"/proc/{name}/cmdline") as line,
            ):
                state, parent = stat.read().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    found.append(Process(int(name), int(parent), line.read().replace("\0", " ")))
    return found


class Driver:
    """The other end of `tests.server_driver`: the server's database and actions, from outside its processes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.server_driver"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, what: str, **arguments: Any) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"do": what, **arguments}).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._line())
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def _line(self) -> bytes:
        assert self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            assert selector.select(ANSWER_S), "the driver does not answer"
        line = self._process.stdout.readline()
        assert line, "the driver has ended"
        return line

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()


class Server:
    """`environment` is what it gets beside the test's own; a lease of one second, if not said otherwise.

    `start_s` is how long its last start took, which tells how busy the machine is with other things.
    """

    def __init__(self, data: Path, environment: Mapping[str, str] | None = None, workers: int = 2) -> None:
        self.data = data
        self.workers = workers
        self.environment = {"TUNERWEB_LEASE_S": str(LEASE_S), **(environment or {})}
        self._driver: Driver | None = None
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._driver:
            self._driver.close()
        self.up.__exit__(kind, error, at)
        assert _comes_true(lambda: not self.strangers())

    def _start(self) -> None:
        command = [TUNERWEB, "up", "--port", "0", "--workers", str(self.workers), "--data", self.data]
        self.started_at = time.monotonic()
        self.up = Running(command, self.data, self.environment)
        try:
            self.url = self.up.until(ADDRESS)[1]
        except BaseException:
            self.up.__exit__(None, None, None)
            raise
        self.start_s = time.monotonic() - self.started_at

    @property
    def recovery_s(self) -> float:
        """The budget of a recovery: the lease, and five seconds of a machine that does nothing else."""
        return LEASE_S + 5.0 * self.slowness

    @property
    def slowness(self) -> float:
        """How many times longer things take now than on a machine that does nothing else."""
        return max(1.0, self.start_s / IDLE_START_S)

    def restart(self, number: signal.Signals) -> None:
        """End it by this signal, which leaves no process, and start it on the same data."""
        self.up.send(number)
        self.up.end()
        assert self.up.nobody_is_left()
        assert _comes_true(lambda: not self.strangers())
        self.up.__exit__(None, None, None)
        self._start()

    def ask(self, what: str, **arguments: Any) -> Any:
        """Of the driver, which lives as long as this server's data."""
        if self._driver is None:
            self._driver = Driver({**self.environment, "TUNERWEB_DATA": str(self.data), "REDIS_URL": self.broker_url})
        return self._driver.ask(what, **arguments)

    @property
    def broker_url(self) -> str:
        web = next(each for each in self.members() if each.kind == "web")
        found = re.search(rb"(?:^|\0)REDIS_URL=([^\0]*)", web.environment())
        assert found
        return found[1].decode()

    def members(self) -> list[Process]:
        """Every process below the supervisor."""
        below = descendants(self.up.pid)
        return [each for each in processes() if each.pid in below]

    def of(self, kind: str) -> list[Process]:
        """A horse is what an RQ worker forks to work on a hint: its command is the worker's."""
        members = self.members()
        if kind in ("worker", "horse"):
            workers = [each for each in members if each.kind == "worker"]
            return [each for each in workers if (each.parent == self.up.pid) is (kind == "worker")]
        return [each for each in members if each.kind == kind]

    def strangers(self) -> list[Process]:
        """Processes that have to do with this data folder and live outside the supervisor's family."""
        family = {self.up.pid, os.getpid(), *descendants(self.up.pid), *descendants(os.getpid())}
        return [each for each in processes() if each.pid not in family and each.names(self.data)]

    def children_end(self) -> None:
        """Wait until those that run now have ended."""
        assert _comes_true(lambda: not self.of("child"))

    def is_at_rest(self) -> bool:
        """Wait until nobody but the members themselves runs, each of them once."""
        devices = ["device worker"] * self.ask("count_devices")
        expected = sorted(["valkey", "web", "reconciler", "light", "crew", *devices, *["worker"] * self.workers])
        return _comes_true(
            lambda: len(descendants(self.up.pid)) == len(expected) and self._members_are(expected),
        )

    def _members_are(self, kinds: list[str]) -> bool:
        return sorted(each.kind for each in self.members()) == kinds and not self.strangers()

    def log(self, name: str) -> str:
        return self.up.log(name)


def _comes_true(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP_S)
    return True
