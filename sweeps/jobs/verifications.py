"""Does a binary compute what the baseline computes? Run on this host, which emulates the NPU exactly in values."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from devices.runners.base import Job, RunFailed, RunKilled, RunnerError, RunSettings, Runtime
from devices.runners.ort import OrtRunner
from devices.transports.errors import CommandCancelled, CommandTimedOut, TransportError
from devices.transports.local import LocalTransport
from sweeps import lifecycle
from sweeps.jobs.binaries import info_of
from sweeps.jobs.compared import judged, kept_outputs, outputs_of
from sweeps.jobs.endings import ended_early
from sweeps.models import Compilation, Sweep, TrialKind, Verdict, Verification
from sweeps.toolchain.errors import ToolchainError
from tunerweb.work.artifacts import server_store
from tunerweb.work.keeper import Keeper
from tunerweb.work.leases import Lease, WorkState

SEVERAL_CORES = "Binaries for several cores do not load on this host, so the outputs are not verified."
TOO_LONG = "It did not end within {seconds} s on this host's emulator, so the outputs are not verified."


def verify(row: Verification, lease: Lease, folder: Path, keeper: Keeper) -> None:
    sweep, compilation = row.trial.sweep, row.trial.compilation
    keeper.hear_phase("running")
    if sweep.num_cores > 1:
        _settle_without(lease, SEVERAL_CORES)
        return
    with tempfile.TemporaryDirectory(prefix="verification-", dir=folder) as place:
        try:
            outputs = _run(row, compilation, Path(place), keeper)
        except CommandCancelled:
            ended_early(lease)
        except CommandTimedOut:
            _settle_without(lease, TOO_LONG.format(seconds=sweep.timeout_s))
        except RunKilled:
            lifecycle.killed_from_outside(lease)
        except (RunnerError, TransportError, ToolchainError) as error:
            _settle_without(lease, error.message)
        else:
            _settle(row, lease, outputs)


def _settle_without(lease: Lease, reason: str) -> None:
    lifecycle.settle(lease, WorkState.DONE, verdict=Verdict.NOT_VERIFIED, reason=reason)


def _settle(row: Verification, lease: Lease, outputs: Path) -> None:
    arrays, fields = kept_outputs(row.team, outputs)
    if row.trial.kind == TrialKind.BASELINE:
        fields |= {"verdict": Verdict.REFERENCE}
    else:
        baseline = _baseline_of(row.trial.sweep)
        verdict, reason = judged(outputs_of(baseline), arrays, _why_none(baseline))
        # Only the baseline's are read again.
        fields |= {**verdict, "reason": reason, "outputs": None}
    lifecycle.settle(lease, WorkState.DONE, **fields)


def _baseline_of(sweep: Sweep) -> Verification | None:
    found = Verification.objects.filter(trial__sweep=sweep, trial__kind=TrialKind.BASELINE)
    baseline: Verification | None = found.select_related("outputs").first()
    return baseline


def _why_none(baseline: Verification | None) -> str:
    return baseline.reason if baseline and baseline.reason else "it was not run."


def _run(row: Verification, compilation: Compilation, place: Path, keeper: Keeper) -> Path:
    if compilation.binary is None:
        raise RunFailed("The compile left no binary.")
    binary = server_store().path(compilation.binary.sha256)
    info = info_of(compilation.binary.sha256)
    settings = RunSettings(runs=1, warmup_runs=0, seed=row.trial.sweep.input_seed, timeout_s=row.trial.sweep.timeout_s)
    outputs = place / "outputs.npz"
    job = Job(binary, info, settings, outputs=outputs, cancelled=keeper.is_over)
    with LocalTransport(place, owner=f"verification-{row.pk}-{row.fence}") as transport:
        runner = OrtRunner(transport, sys.executable)
        runner.run(job, _runtime(runner))
    return outputs


_known_runtime: dict[str, Runtime] = {}


def _runtime(runner: OrtRunner) -> Runtime:
    """Asked once by each worker: it takes a second."""
    if runner.python not in _known_runtime:
        _known_runtime[runner.python] = runner.find()
    return _known_runtime[runner.python]
