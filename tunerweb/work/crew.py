"""One worker process for each queue that comes and goes: started, restarted and ended as the list of them changes."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import DatabaseError, connection  # noqa: E402
from django.utils.module_loading import import_string  # noqa: E402

from tunerweb.work.inside import die_with_parent  # noqa: E402

LOOK_S = 1.0
SHORTEST_LIFE_S = 2.0
PATIENCE_S = 8.0
log = logging.getLogger(__name__)


@dataclass
class Member:
    process: subprocess.Popen[bytes]
    started_at: float


class Crew:
    """Workers die with this process, and with a queue that is gone."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.members: dict[str, Member] = {}

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self.one_round(import_string(settings.CREW_QUEUES)())
            except DatabaseError as error:
                log.warning("the list of queues could not be read: %s", error)
                connection.close()
            self.stop.wait(LOOK_S)
        self.end()

    def one_round(self, queues: list[str]) -> None:
        for queue in self.members.keys() - set(queues):
            log.info("%s is gone, and its worker goes too", queue)
            _end([self.members.pop(queue)])
        for queue in queues:
            if self._is_missing(queue):
                self.members[queue] = Member(_started(queue), time.monotonic())

    def end(self) -> None:
        _end(list(self.members.values()))
        self.members = {}

    def _is_missing(self, queue: str) -> bool:
        member = self.members.get(queue)
        if member is None:
            return True
        if member.process.poll() is None:
            return False
        log.warning("the worker of %s ended (%s) and is started again", queue, member.process.returncode)
        return time.monotonic() - member.started_at >= SHORTEST_LIFE_S


def command_of(queue: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", "tunerweb.work.worker", "--queue", queue, "--name", queue)


def _started(queue: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command_of(queue), stdin=subprocess.DEVNULL)


def _end(members: list[Member]) -> None:
    """Each hands its work back, or is killed."""
    for member in members:
        member.process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_S
    for member in members:
        try:
            member.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            member.process.kill()
            member.process.wait()


def main() -> None:
    die_with_parent(os.getppid())
    crew = Crew()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _signal, _frame: crew.stop.set())
    crew.run()


if __name__ == "__main__":
    main()
