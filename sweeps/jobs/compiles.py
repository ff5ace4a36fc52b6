"""One compilation: open the model, compile its point, keep the binary, settle the row."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Self

from devices.targets import find_target
from sweeps import lifecycle
from sweeps.configs import ConfigDocument, HtpConfig, check_config
from sweeps.jobs.endings import settle_error, through_outage
from sweeps.jobs.limits import limits_of
from sweeps.jobs.toolchains import row_of, toolchain
from sweeps.models import Compilation, Toolchain
from sweeps.planning import graph_names_of
from sweeps.toolchain.base import CompileResult, Point, Session
from sweeps.toolchain.errors import ConfigRejected, ToolchainError, ToolFailed
from tunerweb.work.artifacts import keep, server_store
from tunerweb.work.keeper import Keeper
from tunerweb.work.leases import Lease, WorkState

OTHER_TOOLCHAIN = (
    "This sweep was sent for the toolchain {wanted}, and the workers have {there}: results of two builds do not "
    "compare. Send it again as a clone."
)


class Compiler:
    """Keeps the last model open: the points of a sweep come one after the other."""

    def __init__(self, folder: Path, keeper: Keeper) -> None:
        self._keeper = keeper
        self._folder = folder
        self._open: tuple[tuple[int, int | None, int, int], Session] | None = None
        self._closing = ExitStack()
        self._toolchain: Toolchain | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.close()

    def compile(self, row: Compilation, lease: Lease) -> None:
        self._keeper.hear_phase("reading")
        try:
            session = self._session(row)
            self._check_toolchain(row, session)
            config = _bound_config(row, session)
            result = session.compile(
                Point(config=config, p_value=row.p_value, as_given=row.as_given),
                limits=limits_of(row),
                cancelled=self._keeper.is_over,
                hear_phase=self._keeper.hear_phase,
            )
        except ToolchainError as error:
            through_outage(partial(settle_error, row, lease, error))
            return
        self._keeper.hear_phase("storing")
        through_outage(lambda: lifecycle.settle(lease, WorkState.DONE, **_fields(row, config, result)))
        result.binary.unlink()

    def _session(self, row: Compilation) -> Session:
        """The open one, when it is of this model on this target."""
        wanted = (row.source_model_id, row.conversion_id, row.soc_model, row.num_cores)
        if self._open and self._open[0] == wanted:
            return self._open[1]
        self._open = None
        self._closing.close()
        target = find_target(row.soc_model, num_cores=row.num_cores)
        opened = toolchain().open(
            server_store().path(_dlc_sha256(row)),
            target,
            graph_names=None if row.conversion_id else graph_names_of(row.source_model),
            limits=limits_of(row),
            cancelled=self._keeper.is_over,
        )
        session = self._closing.enter_context(opened)
        self._open = (wanted, session)
        return session

    def _check_toolchain(self, row: Compilation, session: Session) -> None:
        if self._toolchain is None:
            self._toolchain = row_of(session.identity)
        if self._toolchain.pk != row.toolchain_id:
            raise ToolFailed(OTHER_TOOLCHAIN.format(wanted=row.toolchain, there=self._toolchain))


def _dlc_sha256(row: Compilation) -> str:
    if row.conversion and row.conversion.dlc:
        return str(row.conversion.dlc.sha256)
    return str(row.source_model.files.values_list("artifact__sha256", flat=True)[0])


def _bound_config(row: Compilation, session: Session) -> HtpConfig:
    """The graph of a converted model has a name of ours: the config, planned without it, is bound to it now."""
    target = find_target(row.soc_model, num_cores=row.num_cores)
    document = ConfigDocument(tree=row.config)
    checked = check_config(
        document, target=target, graph_names=session.graph_names, rebind=row.conversion_id is not None
    )
    if checked.config is None:
        raise ConfigRejected(" ".join(found.sentence for found in checked.problems))
    return checked.config


def _fields(row: Compilation, config: HtpConfig, result: CompileResult) -> dict[str, Any]:
    return {
        "result": {
            "config": config.model_dump(mode="json", exclude_none=True),
            "compile": result.model_dump(mode="json", exclude={"binary", "log"}),
        },
        "binary": keep(row.team, result.binary),
        "log": keep(row.team, result.log.encode()) if result.log else None,
        "rom_bytes": result.rom_bytes,
        "ram_bytes": result.footprint.ram_bytes if result.footprint else None,
        "dram_bytes": result.traffic.total_bytes if result.traffic else None,
        "simulated_cycles": result.simulated_cycles,
        "wall_us": result.wall_us,
        "cpu_us": result.cpu_us,
        "peak_memory_bytes": result.peak_memory_bytes,
    }
