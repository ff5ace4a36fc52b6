"""Run a local program with limits: what the local transport and the adb client have in common."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devices.transports.base import Cancelled
from devices.transports.output import Reader

STEP_S = 0.05
STUCK = "stuck"


@dataclass(frozen=True)
class Ended:
    """`why` is "" for a process that ended by itself, else "timeout", "cancel" or `STUCK`. Times are microseconds."""

    exit_code: int
    stdout: str
    stderr: str
    wall_us: int
    why: str


def run_process(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: str | None = None,
    stdin: bytes = b"",
    timeout_s: float,
    cancelled: Cancelled | None = None,
) -> Ended:
    """In a process group of its own, which is gone when this returns. Raises OSError when it cannot be started."""
    started = time.monotonic()
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout
    assert process.stderr
    out, err = Reader(process.stdout), Reader(process.stderr)
    threading.Thread(target=_feed, args=(process, stdin), daemon=True).start()
    try:
        why = _wait(process, started + timeout_s, cancelled)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    wall_us = round((time.monotonic() - started) * 1e6)
    return Ended(code if code >= 0 else 128 - code, out.text(), err.text(), wall_us, why)


def _feed(process: subprocess.Popen[bytes], stdin: bytes) -> None:
    assert process.stdin
    with contextlib.suppress(OSError), process.stdin:
        process.stdin.write(stdin)


def _wait(process: subprocess.Popen[bytes], deadline: float, cancelled: Cancelled | None) -> str:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STEP_S)
            return ""
        if cancelled and cancelled():
            return "cancel"
        if time.monotonic() >= deadline:
            return "timeout"
