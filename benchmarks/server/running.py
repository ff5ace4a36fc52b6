"""A real `tunerweb up` on a data folder of its own, and Django in this process on the same database."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TUNERWEB = Path(sys.executable).with_name("tunerweb")
READY = re.compile(r"Tunerweb is at (\S+)/")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    url: str
    data: Path
    process: subprocess.Popen[str]

    def cpu_s(self) -> float:
        """Of every process below the supervisor, those that it has collected included."""
        return sum(_cpu_s(pid) for pid in [self.process.pid, *_below(self.process.pid)])


@contextlib.contextmanager
def server(data: Path, workers: int) -> Iterator[Server]:
    command = [str(TUNERWEB), "up", "--data", str(data), "--port", "0", "--workers", str(workers)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(_address(process), data, process)
        finally:
            process.terminate()
            process.communicate(timeout=60)


def _address(process: subprocess.Popen[str]) -> str:
    for line in process.stdout or ():
        if found := READY.search(line):
            return found[1]
    raise SystemExit("The server did not start; its lines are above.")


def set_up_django(data: Path) -> None:
    os.environ["TUNERWEB_DATA"] = str(data)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
    # Playwright's own event loop runs in this thread, and Django would take it for ours.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    import django

    django.setup()
    logging.getLogger("httpx").setLevel(logging.WARNING)


def _below(pid: int) -> list[int]:
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += [int(child) for child in task.read_text().split()]
    return [*children, *(each for child in children for each in _below(child))]


def _cpu_s(pid: int) -> float:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:15]) / TICKS
    return 0.0
