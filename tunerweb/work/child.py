"""Run one native job in a supervised child process: it may crash, hang or eat memory, its supervisor never does.

The child is a fresh Python in its own process group that dies with its parent. It works in a scratch folder that
belongs to it alone; its output goes to a log there, its result to a file, so that neither can be mistaken for the
other.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tunerweb.work.inside import JOB_FILE, PHASE_FILE, RESULT_FILE

LOG_FILE = "log.txt"
LOG_HEAD_BYTES = 64 * 1024
LOG_TAIL_BYTES = 192 * 1024
POLL_S = 0.05
STATUS_BYTES = 8192
LONGEST_PHASE = 40
MEMORY = re.compile(rb"^(VmHWM|VmRSS):\s*(\d+)", re.MULTILINE)
# Control characters and the invisible ones that change the direction or the lines of what follows.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
ROOT = Path(__file__).resolve().parents[2]
BOOT = "import sys; sys.path.insert(0, {root!r}); from tunerweb.work.inside import main; main()"
OWN_DEATHS = {
    signal.SIGSEGV,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGILL,
    signal.SIGFPE,
    signal.SIGTRAP,
    signal.SIGSYS,
}


def default_memory_bytes() -> int:
    """Four fifths of the machine's memory: a compile that wants more would take the machine with it."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 4 // 5


@dataclass(frozen=True)
class Limits:
    """The child is killed past any of these. `memory_bytes` is measured resident memory."""

    wall_s: float = 3600.0
    cpu_s: float = 4 * 3600.0
    memory_bytes: int | None = None


class Ending(StrEnum):
    DONE = "done"
    FAILED = "failed"
    CRASHED = "crashed"
    KILLED = "killed"
    WALL_LIMIT = "wall limit"
    CPU_LIMIT = "CPU limit"
    MEMORY_LIMIT = "memory limit"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class ChildOutcome:
    """`value` is what the entry returned and is there when `ending` is DONE.

    FAILED is a child that ended by itself without a result (an exception in our own code, a full disk); CRASHED one
    that died of its own signal; KILLED one that somebody outside ended. Times are microseconds.
    """

    ending: Ending
    value: Any
    exit_code: int | None
    signal: int | None
    wall_us: int
    cpu_us: int
    peak_memory_bytes: int | None
    log: str

    @property
    def log_tail(self) -> tuple[str, ...]:
        return tuple(self.log.splitlines()[-20:])


def run_child(
    entry: str,
    job: Mapping[str, Any],
    *,
    scratch: Path,
    limits: Limits | None = None,
    cancelled: Callable[[], bool] | None = None,
    hear_phase: Callable[[str], None] | None = None,
    site_packages: bool = False,
) -> ChildOutcome:
    """Run `module:function` of this project with `job` (JSON) in a child, its working directory being `scratch`.

    The child sees the standard library and this project only, unless `site_packages`. `hear_phase` is told what the
    child says it does, whenever that has changed. Raises `OSError` when it
    cannot be started at all; whatever the child does is an outcome.
    """
    limits = limits or Limits()
    write_job(scratch, job, limits)
    argv = [*child_command(site_packages=site_packages), str(os.getpid()), entry]
    started = time.monotonic()
    with (scratch / LOG_FILE).open("wb") as log:
        process = subprocess.Popen(
            argv,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=_environment(),
        )
    phases = _Phases(scratch / PHASE_FILE, hear_phase) if hear_phase else None
    watch = _Watch(process, started, limits, cancelled or (lambda: False), phases)
    return watch.until_end(scratch)


def write_job(scratch: Path, job: Mapping[str, Any], limits: Limits) -> None:
    (scratch / JOB_FILE).write_text(json.dumps({**job, "cpu_limit_s": max(1, round(limits.cpu_s))}))


def child_command(*, site_packages: bool) -> list[str]:
    """What starts a child in its scratch folder; the parent's process id and the entry follow."""
    flags = ["-I"] if site_packages else ["-I", "-S"]
    return [sys.executable, *flags, "-c", BOOT.format(root=str(ROOT))]


def _environment() -> dict[str, str]:
    """Nothing of the parent's environment but what finds programs, the home and a temporary folder."""
    kept = ("PATH", "HOME", "TMPDIR", "TUNERWEB_FAULT")
    return {"LANG": "C.UTF-8"} | {name: os.environ[name] for name in kept if name in os.environ}


class _Phases:
    def __init__(self, path: Path, hear: Callable[[str], None]) -> None:
        self.path = path
        self.hear = hear
        self._last = ""

    def look(self) -> None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            phase = self.path.read_text()[:LONGEST_PHASE]
            if phase and phase != self._last:
                self._last = phase
                self.hear(phase)


class _Watch:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        started: float,
        limits: Limits,
        cancelled: Callable[[], bool],
        phases: _Phases | None,
    ) -> None:
        self.phases = phases
        self.process = process
        self.started = started
        self.limits = limits
        self.cancelled = cancelled
        self.memory_limit = limits.memory_bytes or default_memory_bytes()
        self.peak_memory_bytes: int | None = None
        self.killed_for: Ending | None = None
        # Kept open: this file is read twenty times a second for each child.
        self.status = os.open(f"/proc/{process.pid}/status", os.O_RDONLY)

    def until_end(self, scratch: Path) -> ChildOutcome:
        try:
            status, usage = self._wait()
        except BaseException:
            # Ctrl+C lands here: the child must not outlive the call that started it.
            self._kill()
            self.process.wait()
            raise
        code = os.waitstatus_to_exitcode(status)
        return self._outcome(scratch, code, cpu_us=round((usage.ru_utime + usage.ru_stime) * 1e6))

    def _wait(self) -> tuple[int, Any]:
        descriptor = os.pidfd_open(self.process.pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            while not poll.poll(POLL_S * 1000):
                self._check()
            self._kill()  # what it may have started itself
            _, status, usage = os.wait4(self.process.pid, 0)
        finally:
            os.close(descriptor)
            os.close(self.status)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return status, usage

    def _check(self) -> None:
        resident = self._sample_memory()
        if self.phases:
            self.phases.look()
        if self.killed_for:
            return
        if self.cancelled():
            self.killed_for = Ending.CANCELLED
        elif time.monotonic() - self.started > self.limits.wall_s:
            self.killed_for = Ending.WALL_LIMIT
        elif resident is not None and resident > self.memory_limit:
            self.killed_for = Ending.MEMORY_LIMIT
        if self.killed_for:
            self._kill()

    def _sample_memory(self) -> int | None:
        """Resident bytes now; the high-water mark is kept. None once the process has no memory any more."""
        try:
            status = os.pread(self.status, STATUS_BYTES, 0)
        except ProcessLookupError:
            return None
        fields = {name: int(size) * 1024 for name, size in MEMORY.findall(status)}
        self._raise_peak(fields.get(b"VmHWM"))
        return fields.get(b"VmRSS")

    def _raise_peak(self, sample: int | None) -> None:
        if sample is not None:
            self.peak_memory_bytes = max(self.peak_memory_bytes or 0, sample)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def _outcome(self, scratch: Path, code: int, cpu_us: int) -> ChildOutcome:
        wall_us = round((time.monotonic() - self.started) * 1e6)
        result = _read_result(scratch) if code == 0 else None
        if result:
            self._raise_peak(result["peak_memory_bytes"])
        ending = Ending.DONE if result else self.killed_for or _ending(code, cpu_us, self.limits)
        return ChildOutcome(
            ending=ending,
            value=result["value"] if result else None,
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            wall_us=wall_us,
            cpu_us=cpu_us,
            peak_memory_bytes=self.peak_memory_bytes,
            log=read_log(scratch / LOG_FILE),
        )


def _ending(code: int, cpu_us: int, limits: Limits) -> Ending:
    if code >= 0:
        return Ending.FAILED
    if -code == signal.SIGXCPU or (-code == signal.SIGKILL and cpu_us >= limits.cpu_s * 1e6):
        return Ending.CPU_LIMIT
    return Ending.CRASHED if -code in OWN_DEATHS else Ending.KILLED


def _read_result(scratch: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError):
        result: dict[str, Any] = json.loads((scratch / RESULT_FILE).read_bytes())
        return result
    return None


def read_log(path: Path) -> str:
    """The log, its middle left out past 256 KiB, control characters made visible."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= LOG_HEAD_BYTES + LOG_TAIL_BYTES:
            return _printable(file.read())
        head = file.read(LOG_HEAD_BYTES)
        file.seek(size - LOG_TAIL_BYTES)
        left_out = size - LOG_HEAD_BYTES - LOG_TAIL_BYTES
        return f"{_printable(head)}\n... {left_out} bytes left out ...\n{_printable(file.read())}"
    return ""


def _printable(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
