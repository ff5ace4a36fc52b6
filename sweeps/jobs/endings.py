"""From how the toolchain ended to the state of the row that it worked for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError, connection

from sweeps import lifecycle
from sweeps.models.work import SharedWork
from sweeps.toolchain.errors import ConfigRejected, Diagnosis, FailureKind, ModelRejected, ToolchainError
from tunerweb.work.artifacts import keep
from tunerweb.work.keeper import stopping
from tunerweb.work.leases import CANCELLED, Lease, WorkState

OUTAGE_S = 60.0
OUTAGE_STEP_S = 0.5
log = logging.getLogger(__name__)


def through_outage(settle: Callable[[], object]) -> None:
    """A database that is away for a moment costs no work that is done: nobody takes it over meanwhile either."""
    for _ in range(round(OUTAGE_S / OUTAGE_STEP_S)):
        try:
            settle()
            return
        except (OperationalError, InterfaceError) as error:
            log.warning("a result could not be written yet: %s", error)
            connection.close()
        if stopping.wait(OUTAGE_STEP_S):
            break
    settle()


def settle_error(row: SharedWork, lease: Lease, error: ToolchainError) -> None:
    """A refusal is an answer; a kill from outside and a stopping worker leave the work to somebody else."""
    if error.kind is FailureKind.CANCELLED:
        ended_early(lease)
        return
    if error.kind is FailureKind.KILLED:
        lifecycle.killed_from_outside(lease)
        return
    fields = _fields(row, error)
    if isinstance(error, ConfigRejected | ModelRejected):
        lifecycle.settle(lease, WorkState.REJECTED, **fields)
    elif error.kind is FailureKind.CRASH:
        lifecycle.crashed(lease, fields.pop("reason"), **fields)
    else:
        lifecycle.settle(lease, WorkState.FAILED, **fields)


def ended_early(lease: Lease) -> None:
    if stopping.is_set():
        lifecycle.hand_back(lease)
    else:
        lifecycle.settle(lease, WorkState.CANCELLED, reason=CANCELLED)


def _fields(row: SharedWork, error: ToolchainError) -> dict[str, Any]:
    known = error.diagnosis
    return {
        "reason": error.message,
        "error": error_json(error),
        "log": keep(row.team, known.log.encode()) if known.log else None,
        "wall_us": known.wall_us,
        "cpu_us": known.cpu_us,
        "peak_memory_bytes": known.peak_memory_bytes,
    }


def error_json(error: ToolchainError) -> dict[str, Any]:
    known: Diagnosis = error.diagnosis
    return {
        "sentence": error.message,
        "kind": error.kind,
        "log_tail": list(known.log_tail),
        "native_errors": list(known.native_errors),
        "exit_code": known.exit_code,
        "signal": known.signal,
        "error_code": known.error_code,
    }
