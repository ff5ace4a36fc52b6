"""Child processes that cannot outlive the supervisor, and the one place that collects how they ended.

Each child has its own session and is killed by the kernel when the supervisor dies, however it dies. What a dead child
leaves behind is adopted here, so that it can be ended as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tunerweb.supervisor.specs import ProcessSpec

ROOT = Path(__file__).resolve().parents[2]
BOOT = (
    "import os, sys; sys.path.insert(0, {root!r}); from tunerweb.work.inside import die_with_parent; "
    "die_with_parent(int(sys.argv[1])); os.nice(int(sys.argv[2])); os.execv(sys.argv[3], sys.argv[3:])"
)
PR_SET_CHILD_SUBREAPER = 36
LAST_SIGNAL_S = 5.0


def tied_command(argv: Sequence[str], nice: int = 0) -> list[str]:
    """`argv` started so that the kernel kills it when this process dies. Needs no code between fork and exec."""
    return [sys.executable, "-I", "-S", "-c", BOOT.format(root=str(ROOT)), str(os.getpid()), str(nice), *argv]


class Child:
    """One process, from its start to its end."""

    def __init__(self, pid: int, ended: asyncio.Future[int]) -> None:
        self.pid = pid
        self.ended = ended

    def send(self, number: signal.Signals) -> None:
        # Nobody else collects our children: until `ended` is set the number cannot belong to another process.
        if not self.ended.done():
            os.kill(self.pid, number)

    async def ends_within(self, seconds: float | None) -> bool:
        await asyncio.wait({self.ended}, timeout=seconds)
        return self.ended.done()

    async def end(self, *patience_s: float) -> None:
        """Ask it to stop once for each patience, then kill it."""
        for seconds in patience_s:
            self.send(signal.SIGTERM)
            if await self.ends_within(seconds):
                return
        self.send(signal.SIGKILL)
        await self.ends_within(LAST_SIGNAL_S)


class Family:
    """All processes below this one. Used inside a running event loop, in the main thread."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._changed = asyncio.Event()
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._collect)

    def start(self, spec: ProcessSpec, output: IO[bytes], errors: IO[bytes]) -> Child:
        process = subprocess.Popen(
            tied_command(spec.argv, spec.nice),
            cwd=ROOT,
            env=spec.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            pass_fds=spec.pass_fds,
        )
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[process.pid] = ended
        process.returncode = 0  # how it ended is collected below
        return Child(process.pid, ended)

    def _collect(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                ended = self._waiting.pop(pid, None)
                if ended and not ended.done():
                    ended.set_result(os.waitstatus_to_exitcode(status))
        self._changed.set()

    def kill_session(self, session: int) -> None:
        """What a dead child left behind in its own session."""
        for pid, its_session in living_children():
            if its_session == session:
                os.kill(pid, signal.SIGKILL)

    async def kill_all(self) -> None:
        """Kill until nobody is left: the children of those who die become ours."""
        deadline = asyncio.get_running_loop().time() + LAST_SIGNAL_S
        while (pids := living_children()) and asyncio.get_running_loop().time() < deadline:
            self._changed.clear()
            for pid, _ in pids:
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout=0.1)


def living_children() -> list[tuple[int, int]]:
    """Process and session of each living child of this process, adopted ones too."""
    found: list[tuple[int, int]] = []
    me = os.getpid()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == me and fields[0] not in (b"Z", b"X"):
                found.append((int(entry.name), int(fields[3])))
    return found
