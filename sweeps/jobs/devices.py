"""What a hint on a device's queue calls: the work of that device, one piece after the other."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack

from django.db import DatabaseError, close_old_connections, connection
from rq import get_current_job

from devices import lifecycle
from devices.checking import Bench, Check, reach_of
from devices.connecting import connect, runner_of
from devices.models import Device, DeviceCheck, Reach, TransportKind
from devices.queues import device_of
from devices.runners.base import Job, RunSettings
from devices.transports.errors import CommandCancelled
from sweeps import claiming
from sweeps.jobs.binaries import tiny_binary
from sweeps.jobs.sessions import measure
from sweeps.lifecycle import LeaseLost, settle
from sweeps.models import DeviceSession
from tunerweb.work.keeper import Keeper, stopping
from tunerweb.work.leases import Lease, WorkState

DEFAULT_SOC_MODEL = 57
BROKEN = "Tunerweb itself failed while it checked the device ({name}: {error}). The worker's log has the details."
BROKEN_SESSION = "Tunerweb itself failed while it measured ({name}: {error}). The worker's log has the details; retry."
EMULATED_RUNS = RunSettings(runs=1, warmup_runs=0, timeout_s=120.0)
MANY_RUNS = RunSettings(runs=20, warmup_runs=3, timeout_s=120.0)
log = logging.getLogger(__name__)


def work_on_a_device() -> None:
    job = get_current_job()
    device = device_of(job.origin) if job else None
    if device is None:
        return
    worker = f"{os.environ.get('RQ_WORKER_ID', device.queue)}@{socket.gethostname()}"[:100]
    with Keeper() as keeper:
        while not stopping.is_set():
            close_old_connections()
            if check := lifecycle.claim_check(device, worker):
                _do(*check, keeper)
            elif session := claiming.claim_session(device, worker):
                do_session(*session, keeper)
            else:
                return


def do_session(row: DeviceSession, lease: Lease, keeper: Keeper) -> None:
    """Whatever happens, the row is settled or waits again, and the device is free afterwards."""
    try:
        with keeper.keeping(lease):
            measure(row, lease, keeper)
    except DatabaseError:
        log.exception("%s was left without a database", row)
        connection.close()
    except LeaseLost as error:
        log.warning("%s", error)
    except Exception as error:
        log.exception("%s failed", row)
        settle(lease, WorkState.FAILED, reason=BROKEN_SESSION.format(name=type(error).__name__, error=str(error)[:200]))


def do_check(row: DeviceCheck, lease: Lease) -> None:
    """One check that was claimed, in this process."""
    with Keeper() as keeper:
        _do(row, lease, keeper)


def _do(row: DeviceCheck, lease: Lease, keeper: Keeper) -> None:
    """Whatever happens, the device is free afterwards."""
    try:
        with keeper.keeping(lease):
            _check(row.device, lease, keeper)
    except DatabaseError:
        log.exception("%s was left without a database", row)
        connection.close()
    except Exception as error:
        log.exception("%s failed", row)
        lifecycle.fail_check(lease, BROKEN.format(name=type(error).__name__, error=str(error)[:200]))


def _check(device: Device, lease: Lease, keeper: Keeper) -> None:
    with ExitStack() as stack:
        check = Check(
            bench_of(device, stack, keeper.is_over), hear=lambda steps: lifecycle.record_steps(lease, list(steps))
        )
        check.run()
    if stopping.is_set() and isinstance(check.found.failure, CommandCancelled):
        lifecycle.hand_check_back(lease)
        return
    checked = lifecycle.Checked(
        is_healthy=check.is_healthy,
        reason=check.reason,
        reach=Reach(reach_of(check)),
        soc_model=check.found.soc_model,
        facts=check.found.facts,
    )
    lifecycle.settle_check(lease, check.steps, checked)


def bench_of(device: Device, stack: ExitStack, cancelled: Callable[[], bool]) -> Bench:
    settings = MANY_RUNS if device.transport == TransportKind.SIMULATED else EMULATED_RUNS

    def tiny_job(soc_model: int) -> Job:
        binary, info = stack.enter_context(tiny_binary(soc_model))
        return Job(binary, info, settings, cancelled=cancelled)

    return Bench(
        connect=lambda: connect(device),
        runner=lambda transport: runner_of(device, transport),
        tiny_job=tiny_job,
        soc_model=device.soc_model if device.soc_is_chosen else None,
        default_soc_model=DEFAULT_SOC_MODEL,
    )
