"""The first thing that runs inside a supervised child: tie it to its parent, apply its limits, run its job.

Standard library only: every import here is paid at the start of each compile.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import json
import os
import resource
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1
JOB_FILE = "job.json"
RESULT_FILE = "result.json"
PHASE_FILE = "phase.txt"
PARENT_GONE = 113
DISK_FULL = 114
POLITENESS = 5


def die_with_parent(parent_pid: int) -> None:
    """The kernel kills this process when its parent dies, also when that happened before this call."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(PARENT_GONE)


def apply_limits(cpu_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The hard limit comes later, so that the first signal is SIGXCPU and the cause can be told.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 2))
    # Whoever looks at a page or hands out work waits for milliseconds, a native job takes seconds.
    os.nice(POLITENESS)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def peak_memory_bytes() -> int | None:
    """The high-water mark of this program image; `ru_maxrss` would include the parent's from before exec."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def report_phase(phase: str) -> None:
    """What the job does now, for whoever watches. A disk without room must not end the job here."""
    try:
        with open(PHASE_FILE, "w") as file:
            file.write(phase)
    except OSError:
        pass


def write_result(result: dict[str, Any]) -> None:
    """Publish the result whole or not at all; the supervisor reads it from the working directory."""
    partial = RESULT_FILE + ".partial"
    with open(partial, "w") as file:
        json.dump(result, file)
    os.rename(partial, RESULT_FILE)


def run(entry: str, job: dict[str, Any]) -> None:
    module, function = entry.split(":")
    result = getattr(importlib.import_module(module), function)(job)
    write_result({"value": result, "peak_memory_bytes": peak_memory_bytes()})


def main() -> None:
    parent_pid, entry = int(sys.argv[1]), sys.argv[2]
    die_with_parent(parent_pid)
    with open(JOB_FILE) as file:
        job = json.load(file)
    apply_limits(job.pop("cpu_limit_s"))
    try:
        run(entry, job)
    except OSError as error:
        # The log may be on the full disk too, so the exit code has to tell.
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            os._exit(DISK_FULL)
        raise
    sys.stdout.flush()
    sys.stderr.flush()
    # Native destructors and exit handlers can crash after the work is done: leave without them.
    os._exit(0)
