"""Everything there is to say of one trial."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from sweeps.configs import GraphConfig, HtpConfig
from sweeps.granted import BYTES_PER_MB
from sweeps.models import Compilation, Sweep, Trial, TrialState
from sweeps.outcomes import outcome_of
from sweeps.ranking import TrialOutcome, granted_differences
from sweeps.rows.charts import KINDS
from sweeps.rows.trials import label_of
from sweeps.toolchain.base import GraphResult
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import CANCELLED
from tunerweb.work.store import StoreDamaged

MOST_SHARING = 10
MOST_LOG_BYTES = 400_000
CODES = {"exit_code": "exit code", "signal": "killed by signal", "error_code": "compiler's error code"}


@dataclass(frozen=True)
class Option:
    """One setting of a graph. `note` says what a value that nobody asked for means."""

    name: str
    requested: str
    granted: str
    note: str = ""

    @property
    def differs(self) -> bool:
        return bool(self.requested and self.granted) and self.requested != self.granted


@dataclass(frozen=True)
class Phase:
    name: str
    us: int
    percent: int


@dataclass(frozen=True)
class GraphPart:
    """A graph of the binary: what it was built with and what it needs."""

    result: GraphResult
    options: tuple[Option, ...]
    kinds: tuple[tuple[str, int], ...]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class Log:
    text: str = ""
    is_cut: bool = False
    problem: str = ""


def drawer_context(sweep: Sweep, trial: Trial) -> dict[str, Any]:
    outcome, work = outcome_of(trial), trial.compilation
    error: dict[str, Any] = (work.error if reason_of(trial) else None) or {}
    sharing = others_sharing(trial)
    return {
        "sweep": sweep,
        "trial": trial,
        "label": label_of(trial),
        "work": work,
        "state": trial.state,
        "result": outcome.result,
        "graphs": graph_parts(outcome, sweep),
        "differences": granted_differences(outcome, sweep.target),
        "config_json": json.dumps(outcome.point.config.to_json(), indent=2, ensure_ascii=False),
        "reason": reason_of(trial),
        "native_errors": "\n".join(error.get("native_errors", ())),
        "log_tail": "\n".join(error.get("log_tail", ())),
        "codes": [(name, error[key]) for key, name in CODES.items() if error.get(key)],
        "waited_s": waited_s(work),
        "elapsed_s": elapsed_s(trial, timezone.now()),
        "sharing": sharing[:MOST_SHARING],
        "sharing_count": len(sharing),
        "retryable": trial.state in (TrialState.FAILED, TrialState.CANCELLED),
    }


def reason_of(trial: Trial) -> str:
    if trial.cancelled_at:
        return CANCELLED
    has_failed = trial.state in (TrialState.REJECTED, TrialState.FAILED, TrialState.CANCELLED)
    return trial.compilation.reason or CANCELLED if has_failed else ""


def others_sharing(trial: Trial) -> list[Trial]:
    """Trials of the team that stand on the same compilation."""
    others = Trial.objects.filter(compilation=trial.compilation_id).exclude(pk=trial.pk)
    return list(others.select_related("sweep").order_by("-created_at", "pk")[: MOST_SHARING * 10])


def waited_s(work: Compilation) -> float | None:
    return (work.started_at - work.created_at).total_seconds() if work.started_at else None


def elapsed_s(trial: Trial, now: datetime) -> float | None:
    started = trial.compilation.started_at
    return (now - started).total_seconds() if started and trial.state == TrialState.COMPILING else None


def graph_parts(outcome: TrialOutcome, sweep: Sweep) -> tuple[GraphPart, ...]:
    if outcome.result is None:
        return ()
    return tuple(
        GraphPart(
            result=graph,
            options=_options(outcome.point.config, graph, sweep),
            kinds=_kinds(graph),
            phases=_phases(graph),
        )
        for graph in outcome.result.graphs
    )


def requested_of(config: HtpConfig, graph_name: str) -> GraphConfig:
    """The settings of one graph: those of every entry that names it, or names none; the last one counts."""
    merged: dict[str, Any] = {}
    for graph in config.graphs:
        if not graph.graph_names or graph_name in graph.graph_names:
            merged |= graph.model_dump(exclude_none=True, exclude={"graph_names"})
    return GraphConfig.model_validate(merged)


def _options(config: HtpConfig, graph: GraphResult, sweep: Sweep) -> tuple[Option, ...]:
    asked, got = requested_of(config, graph.graph_name), graph.granted
    vtcm_mb = None if got.vtcm_bytes is None else got.vtcm_bytes / BYTES_PER_MB
    unset_vtcm = "" if asked.vtcm_mb is not None else f"unset stands for the SoC's {sweep.target.vtcm_mb} MB"
    asked_mb = sweep.target.vtcm_mb if asked.vtcm_mb == 0 else asked.vtcm_mb
    hvx_threads = sweep.target.soc.hvx_threads if asked.hvx_threads == 0 else asked.hvx_threads
    return (
        Option("Optimization level O", _text(asked.O), _text(got.optimization_level)),
        Option("P value", _text(asked.p_value), _text(got.p_value)),
        Option(
            "VTCM",
            _mb(asked_mb),
            _mb(vtcm_mb),
            unset_vtcm,
        ),
        Option("HVX threads", _text(hvx_threads), _text(got.hvx_threads)),
        Option("DLBC", _switch(asked.dlbc), _switch(got.dlbc)),
    )


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _mb(value: float | None) -> str:
    return "" if value is None else f"{value:g} MB"


def _switch(value: int | bool | None) -> str:
    return "" if value is None else "on" if value else "off"


def _kinds(graph: GraphResult) -> tuple[tuple[str, int], ...]:
    if graph.footprint is None:
        return ()
    return tuple((label, getattr(graph.footprint, name)) for name, label in KINDS.items())


def _phases(graph: GraphResult) -> tuple[Phase, ...]:
    longest = max(graph.finalize_phases_us.values(), default=0) or 1
    return tuple(Phase(name, us, round(100 * us / longest)) for name, us in graph.finalize_phases_us.items())


def log_of(work: Compilation) -> Log:
    """The last part of a log that is too long for a page."""
    if work.log is None:
        return Log(problem="No log was kept.")
    try:
        data = server_store().read(work.log.sha256)
    except FileNotFoundError:
        return Log(problem="The log is not in the store any more.")
    except StoreDamaged:
        return Log(problem="The log in the store is damaged: the disk lost a part of it.")
    return Log(data[-MOST_LOG_BYTES:].decode(errors="replace"), len(data) > MOST_LOG_BYTES)
