"""One sweep on one device: the candidates in interleaved blocks, each kept as its process ends."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from devices.connecting import connect, runner_of
from devices.lifecycle import quarantine, went_away
from devices.models import Device, Reach
from devices.runners.base import RunnerError, Runtime, Timing
from devices.transports.base import sweep_leftovers
from devices.transports.errors import CommandCancelled, CommandStuck, TransportError, Unauthorized
from sweeps import lifecycle, measured
from sweeps.jobs.blocks import Bench, Paused
from sweeps.jobs.endings import ended_early
from sweeps.models import DeviceSession
from sweeps.profiling.blocks import Rules
from sweeps.profiling.plan import Finished
from sweeps.profiling.session import run_session
from tunerweb.work.keeper import Keeper
from tunerweb.work.leases import Lease, WorkState

AWAY = "{device} went away: {why} The measurement goes on by itself when it is back."
SET_ASIDE = "{device} is set aside: {why} The measurement goes on when somebody takes it back into use."


def measure(row: DeviceSession, lease: Lease, keeper: Keeper) -> None:
    """Whatever the device does, its row is settled or waits again, with a sentence."""
    device = row.device
    if device is None:
        lifecycle.settle(lease, WorkState.FAILED, reason="The device was deleted.")
        return
    keeper.hear_phase("connecting")
    try:
        finished = _session(row, lease, keeper, device)
    except CommandCancelled:
        ended_early(lease)
    except Paused:
        lifecycle.hand_back(lease)
    except TransportError as error:
        _lost(lease, device, error)
    except RunnerError as error:
        lifecycle.settle(lease, WorkState.FAILED, reason=error.message)
    else:
        _settle(row, lease, finished)


def _session(row: DeviceSession, lease: Lease, keeper: Keeper, device: Device) -> Finished:
    with ExitStack() as stack:
        transport = stack.enter_context(connect(device))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="session-"))
        sweep_leftovers(transport)
        runner = runner_of(device, transport)
        runtime = runner.find()
        bench = Bench(row, lease, keeper, transport, runner, runtime, Path(folder))
        bench.begin()
        return run_session(bench.names, rules_of(row, runtime), bench, bench.measure, bench.pause)


def rules_of(row: DeviceSession, runtime: Runtime) -> Rules:
    """As many rounds as were asked for; else as many as it takes, and one where times mean nothing."""
    if runtime.timing is Timing.EMULATED:
        return Rules(least_rounds=row.rounds or 1, most_rounds=row.rounds or 1, with_twin=False)
    return Rules(least_rounds=row.rounds, most_rounds=row.rounds) if row.rounds else Rules()


def _settle(row: DeviceSession, lease: Lease, finished: Finished) -> None:
    if measured.has_blocks(row):
        lifecycle.settle(lease, WorkState.DONE, reason=finished.why)
        return
    row.refresh_from_db(fields=["refused"])
    reasons = sorted(set(row.refused.values()))
    said = reasons[0] if len(reasons) == 1 else f"{finished.why}; each trial says why"
    lifecycle.settle(lease, WorkState.FAILED, reason=said)


def _lost(lease: Lease, device: Device, error: TransportError) -> None:
    """What is over in a moment and what a person has to put right both leave the session waiting for the device."""
    if isinstance(error, CommandStuck):
        quarantine(device, error.message[:300])
        lifecycle.wait_for_device(lease, SET_ASIDE.format(device=device.name, why=error.message))
        return
    if error.is_transient or isinstance(error, Unauthorized):
        reach = Reach.UNAUTHORIZED if isinstance(error, Unauthorized) else Reach.OFFLINE
        went_away(device, reach, error.message)
    else:
        lifecycle.settle(lease, WorkState.FAILED, reason=error.message)
        return
    lifecycle.wait_for_device(lease, AWAY.format(device=device.name, why=error.message))
