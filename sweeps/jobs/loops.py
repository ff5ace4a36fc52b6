"""A hint's work: claim and do until nothing is eligible, or a minute has passed."""

from __future__ import annotations

import errno
import logging
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connection

from sweeps import claiming, lifecycle
from sweeps.jobs import compiles
from sweeps.jobs.conversions import convert
from sweeps.jobs.inspections import inspect
from sweeps.jobs.verifications import verify
from sweeps.models import Compilation, Conversion, Inspection, Verification
from tunerweb.environment import load_environment
from tunerweb.work import hints
from tunerweb.work.keeper import Keeper, stopping
from tunerweb.work.leases import Lease, LeasedWork, WorkState
from tunerweb.work.scratch import scratch_root

LONGEST_S = 60.0
BROKEN = "Tunerweb itself failed while it worked on this ({name}: {error}). The worker's log has the details; retry."
DISK_FULL = "The disk of the data folder is full: the result could not be stored. Free some space, then retry."
log = logging.getLogger(__name__)
Work = TypeVar("Work", bound=LeasedWork)


def work_on_compiles() -> None:
    with ExitStack() as stack:
        keeper = stack.enter_context(Keeper())
        folder = stack.enter_context(scratch_root(_scratch_parent()))
        compiler = stack.enter_context(compiles.Compiler(folder, keeper))

        def work(row: LeasedWork, lease: Lease) -> None:
            if isinstance(row, Conversion):
                convert(row, lease, folder, keeper)
            elif isinstance(row, Compilation):
                compiler.compile(row, lease)
            elif isinstance(row, Verification):
                verify(row, lease, folder, keeper)

        _until_nothing_is_left(Compilation.queue, _claim_native_work, work, keeper)


def _claim_native_work(worker: str) -> tuple[LeasedWork, Lease] | None:
    """Compiles first: verifications wait for them, and rankings by size do not wait for verifications."""
    return claiming.claim_compile(worker) or claiming.claim_verification(worker)


def work_on_inspections() -> None:
    with Keeper() as keeper, scratch_root(_scratch_parent()) as folder:

        def work(row: Inspection, lease: Lease) -> None:
            inspect(row, lease, folder, keeper)

        _until_nothing_is_left(Inspection.queue, claiming.claim_inspection, work, keeper)


def _until_nothing_is_left(
    queue: str,
    claim: Callable[[str], tuple[Work, Lease] | None],
    work: Callable[[Work, Lease], None],
    keeper: Keeper,
) -> None:
    started = time.monotonic()
    worker = f"{os.environ.get('RQ_WORKER_ID', queue)}@{socket.gethostname()}"[:100]
    while not stopping.is_set():
        if time.monotonic() - started > LONGEST_S:
            hints.leave_one(queue)
            return
        close_old_connections()
        claimed = claim(worker)
        if claimed is None:
            return
        _do(*claimed, work, keeper)


def _do(row: Work, lease: Lease, work: Callable[[Work, Lease], None], keeper: Keeper) -> None:
    """Whatever happens, the row is settled or handed back: an error of ours is a failure with its reason.

    Only the database's are not: without it nothing can be said, the lease runs out, and the work is done again.
    """
    try:
        with keeper.keeping(lease):
            work(row, lease)
    except (OperationalError, InterfaceError):
        log.exception("%s was left without a database", row)
        connection.close()
    except Exception as error:
        log.exception("%s failed", row)
        lifecycle.settle(lease, WorkState.FAILED, reason=_sentence(error))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    return BROKEN.format(name=type(error).__name__, error=str(error)[:200])


def _scratch_parent() -> Path:
    parent = load_environment().scratch
    parent.mkdir(parents=True, exist_ok=True)
    return parent
