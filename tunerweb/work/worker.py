"""An RQ worker for one queue. Its horse dies with it, hands its work back when asked to stop, and runs hints only."""

from __future__ import annotations

import argparse
import contextlib
import gc
import logging
import os
import secrets
import signal
import tempfile
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402
from django.utils.module_loading import import_string  # noqa: E402
from redis.exceptions import RedisError  # noqa: E402
from rq import Worker, worker_registration  # noqa: E402
from rq.job import Job  # noqa: E402
from rq.serializers import JSONSerializer  # noqa: E402

from tunerweb.work.hints import kind_of, queue_named  # noqa: E402
from tunerweb.work.inside import die_with_parent  # noqa: E402
from tunerweb.work.keeper import stopping  # noqa: E402

LONGEST_WAIT_FOR_BROKER_S = 1.0
# An idle worker sends a heartbeat 15 s before this has passed.
WORKER_TTL_S = 20
log = logging.getLogger(__name__)


class HintRefused(Exception):
    """Somebody wrote something else than a hint into the broker."""


class Hint(Job):
    """Whoever can write to the broker could name any function: only those of the settings are called."""

    def perform(self) -> Any:
        is_named = self.func_name in settings.WORK_QUEUES.values()
        if not is_named or self.args or self.kwargs or self.instance is not None:
            raise HintRefused(f"{self.func_name!r} is not among the functions that a hint may call.")
        return super().perform()


class HintWorker(Worker):
    job_class = Hint
    max_connection_wait_time = LONGEST_WAIT_FOR_BROKER_S

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """A broker that was started again knows nobody: each heartbeat is an introduction."""
        super().heartbeat(timeout, pipeline)
        worker_registration.register(self, pipeline)

    def maintain_heartbeats(self, job: Job, execution: Any) -> None:
        """Without a broker the work at hand goes on: its lease is in the database."""
        with contextlib.suppress(RedisError):
            super().maintain_heartbeats(job, execution)

    def fork_work_horse(self, job: Job, queue: Any) -> None:
        """Asked to stop at this very moment, the worker did not know yet whom to tell."""
        super().fork_work_horse(job, queue)
        if self._stop_requested:
            self.handle_warm_shutdown_request()

    def setup_work_horse_signals(self) -> None:
        die_with_parent(os.getppid())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda _signal, _frame: stopping.set())
        connections.close_all()
        if self._stop_requested:
            stopping.set()

    def handle_warm_shutdown_request(self) -> None:
        """The horse hands its work back, which takes a moment, instead of working on for minutes."""
        if self.horse_pid:
            os.kill(self.horse_pid, signal.SIGTERM)


def use_scratch_of_data_folder() -> None:
    """For temporary files of this process and all below: on one file system with the store, and gone with the data."""
    scratch = settings.ENVIRONMENT.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)


def run(queue: str, name: str) -> None:
    die_with_parent(os.getppid())
    use_scratch_of_data_folder()
    if startup := settings.WORKER_STARTUP.get(kind_of(queue)):
        import_string(startup)()
        connections.close_all()
    # Horses are copies of this process: what is there already is neither made again nor copied by a collection.
    gc.collect()
    gc.freeze()
    worker = HintWorker(
        [queue_named(queue)],
        name=f"{name}-{secrets.token_hex(4)}",
        connection=queue_named(queue).connection,
        serializer=JSONSerializer,
        job_class=Hint,
        job_monitoring_interval=5,
        maintenance_interval=60,
        worker_ttl=WORKER_TTL_S,
    )
    worker.work(logging_level="WARNING")


def main() -> None:
    parser = argparse.ArgumentParser(description="Work on one queue until told to stop.")
    parser.add_argument("--queue", required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args()
    if kind_of(options.queue) not in settings.WORK_QUEUES:
        parser.error(f"there is no queue {options.queue!r}; there are {', '.join(settings.WORK_QUEUES)}")
    run(options.queue, options.name)


if __name__ == "__main__":
    main()
