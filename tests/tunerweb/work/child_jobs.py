"""Jobs that misbehave in every way a supervised child can; the tests run them in real children."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from typing import Any

Job = dict[str, Any]


def add(job: Job) -> int:
    return int(job["left"]) + int(job["right"])


def environment(_job: Job) -> dict[str, str]:
    return dict(os.environ)


def modules(_job: Job) -> list[str]:
    return sorted(sys.modules)


def die_of(job: Job) -> None:
    os.kill(os.getpid(), job["signal"])


def fail(_job: Job) -> None:
    raise RuntimeError("the job found a reason to stop")


def fill_the_disk(_job: Job) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def hang(job: Job) -> None:
    _announce(job)
    signal.pause()


def spin(_job: Job) -> None:
    while True:
        pass


def grow(_job: Job) -> None:
    hoard = []
    while True:
        hoard.append(b"\1" * 2**23)
        time.sleep(0.005)


def print_much(job: Job) -> str:
    for number in range(job["lines"]):
        print(f"line {number:09d}")
    return "printed"


def print_control_characters(_job: Job) -> None:
    print("red: \x1b[31m bell: \x07 text")


def start_a_grandchild(job: Job) -> None:
    grandchild = subprocess.Popen(["sleep", "1000"])
    with open(job["announce"], "w") as file:
        file.write(f"{os.getpid()} {grandchild.pid}")


def _announce(job: Job) -> None:
    if "announce" in job:
        with open(job["announce"] + ".partial", "w") as file:
            file.write(str(os.getpid()))
        os.rename(job["announce"] + ".partial", job["announce"])
