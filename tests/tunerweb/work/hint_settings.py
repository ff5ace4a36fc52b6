"""For a worker that runs as a process of its own and whose hints call what tests want."""

from __future__ import annotations

from tests.settings import *  # noqa: F403

WORK_QUEUES = {"compile": "tests.tunerweb.work.hint_jobs.work"}
WORKER_STARTUP: dict[str, str] = {}
