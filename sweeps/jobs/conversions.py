"""ONNX to DLC, once per model, target and free dimensions."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from devices.targets import find_target
from sweeps import lifecycle
from sweeps.jobs.endings import settle_error, through_outage
from sweeps.jobs.limits import limits_of
from sweeps.jobs.sources import lay_out
from sweeps.models import Conversion
from sweeps.toolchain.convert import convert_onnx, prepare_source
from sweeps.toolchain.errors import ToolchainError
from tunerweb.work.artifacts import keep
from tunerweb.work.keeper import Keeper
from tunerweb.work.leases import Lease, WorkState


def convert(row: Conversion, lease: Lease, folder: Path, keeper: Keeper) -> None:
    keeper.hear_phase("converting")
    target = find_target(row.soc_model, num_cores=row.num_cores)
    files = row.source_model.files.values_list("name", "artifact__sha256")
    with tempfile.TemporaryDirectory(prefix="conversion-", dir=folder) as place:
        work = Path(place)
        try:
            model = prepare_source(lay_out(files, work), work, search_beside=False)
            made = convert_onnx(
                model,
                target,
                free_dimensions=row.free_dimensions,
                work=work,
                limits=limits_of(row),
                cancelled=keeper.is_over,
            )
        except ToolchainError as error:
            through_outage(partial(settle_error, row, lease, error))
            return
        through_outage(
            lambda: lifecycle.settle(lease, WorkState.DONE, dlc=keep(row.team, made.dlc), notes=list(made.notes))
        )
