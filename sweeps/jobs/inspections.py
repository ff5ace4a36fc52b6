"""What uploaded files are, found out by a worker: nothing of them is parsed in the web process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sweeps import lifecycle
from sweeps.inspecting import describe
from sweeps.jobs.sources import lay_out
from sweeps.models import Inspection
from sweeps.toolchain.errors import FailureKind, ToolchainError
from tunerweb.work.child import Limits
from tunerweb.work.keeper import Keeper, stopping
from tunerweb.work.leases import Lease, WorkState

LIMITS = Limits(wall_s=300.0, cpu_s=600.0)


def inspect(row: Inspection, lease: Lease, folder: Path, keeper: Keeper) -> None:
    files = list(row.uploads.order_by("pk").values_list("name", "artifact__sha256"))
    with tempfile.TemporaryDirectory(prefix="inspection-", dir=folder) as place:
        paths = lay_out(files, Path(place))
        try:
            named = [(name, path) for (name, _), path in zip(files, paths, strict=True)]
            description = describe(named, LIMITS, keeper.is_over)
        except ToolchainError as error:
            if error.kind is FailureKind.CANCELLED and stopping.is_set():
                lifecycle.hand_back(lease)
            elif error.kind is FailureKind.KILLED:
                lifecycle.killed_from_outside(lease)
            elif error.kind is FailureKind.CRASH:
                lifecycle.crashed(lease, error.message)
            else:
                lifecycle.settle(lease, WorkState.FAILED, reason=error.message)
            return
    lifecycle.settle(lease, WorkState.DONE, description=description)
