"""The table of trials: one row each, from the columns of the work that it points to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page, Paginator
from django.utils import timezone

from sweeps import formats
from sweeps.formats import ByteColumn
from sweeps.models import Sweep, Trial, TrialKind, TrialState
from sweeps.models.work import SharedWork
from sweeps.querysets import TrialQuerySet
from sweeps.ranking import Metric, percent_difference
from sweeps.rows.facts import NOTHING_KNOWN, Facts, facts_of
from tunerweb.work.leases import CANCELLED, WorkState

PAGE_SIZE = 100
COLUMNS = {
    Metric.ROM: "rom_bytes",
    Metric.RAM: "ram_bytes",
    Metric.DRAM: "dram_bytes",
    Metric.CYCLES: "simulated_cycles",
}
LONG_TEXTS = (
    "compilation__result",
    "compilation__config",
    "compilation__error",
    "compilation__conversion__error",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as its column writes it; `difference_percent` is to the baseline."""

    text: str = ""
    title: str = ""
    difference_percent: float | None = None


@dataclass(frozen=True, slots=True)
class TrialRow:
    """What one line shows. Two equal rows look the same."""

    public_id: str
    sweep_id: str
    label: str
    is_baseline: bool
    state: str
    detail: str
    elapsed_s: float | None
    cells: tuple[Cell, ...]
    facts: Facts
    is_from_store: bool
    reason: str
    is_live: bool

    @property
    def is_done(self) -> bool:
        return self.state == TrialState.DONE

    @property
    def is_out(self) -> bool:
        return self.state in (TrialState.REJECTED, TrialState.FAILED, TrialState.CANCELLED)


@dataclass(frozen=True)
class TrialTable:
    """`units`: of the columns that have values."""

    rows: tuple[TrialRow, ...]
    units: dict[Metric, str]
    page: Page[Trial]


def label_of(trial: Trial) -> str:
    return "as given" if trial.kind == TrialKind.AS_GIVEN else f"P {trial.p_value}"


def rows_of(sweep: Sweep) -> TrialQuerySet:
    """Columns only: results, configs and logs stay in the database."""
    trials: TrialQuerySet = sweep.trials.select_related("compilation", "compilation__conversion")
    return trials.defer(*LONG_TEXTS)


def trial_table(sweep: Sweep, number: int) -> TrialTable:
    page = Paginator(rows_of(sweep), PAGE_SIZE).get_page(number)
    trials = list(page.object_list)
    baseline = next((trial for trial in trials if trial.kind == TrialKind.BASELINE), None) or baseline_of(sweep)
    columns: dict[Metric, ByteColumn] = {
        metric: formats.byte_column(value_of(trial, metric) for trial in trials)
        for metric in Metric
        if metric is not Metric.CYCLES
    }
    facts, now = facts_of(trials, sweep.target), timezone.now()
    rows = tuple(
        TrialRow(
            public_id=trial.public_id,
            sweep_id=sweep.public_id,
            label=label_of(trial),
            is_baseline=trial.kind == TrialKind.BASELINE,
            state=trial.state,
            detail=_detail(trial),
            elapsed_s=_elapsed_s(trial, now),
            cells=tuple(_cell(trial, metric, baseline, columns.get(metric)) for metric in Metric),
            facts=facts.get(trial.compilation_id, NOTHING_KNOWN),
            is_from_store=trial.from_store,
            reason=_reason(trial),
            is_live=trial.is_live,
        )
        for trial in trials
    )
    has_values = any(row.is_done for row in rows)
    return TrialTable(rows, {metric: column.unit for metric, column in columns.items() if has_values}, page)


def baseline_of(sweep: Sweep) -> Trial | None:
    found: Trial | None = rows_of(sweep).filter(kind=TrialKind.BASELINE).first()
    return found


def value_of(trial: Trial, metric: Metric) -> int | None:
    """None unless it is done: what was cancelled shows no values."""
    if trial.state != TrialState.DONE:
        return None
    value: int | None = getattr(trial.compilation, COLUMNS[metric])
    return value


def value_cell(value: int, metric: Metric, column: ByteColumn | None, difference: float | None) -> Cell:
    if column is None:
        return Cell(formats.grouped(value), f"{formats.grouped(value)} {metric.label}", difference)
    return Cell(column.text(value), formats.bytes_exact(value), difference)


def _cell(trial: Trial, metric: Metric, baseline: Trial | None, column: ByteColumn | None) -> Cell:
    value = value_of(trial, metric)
    if value is None:
        return Cell()
    reference = value_of(baseline, metric) if baseline else None
    return value_cell(value, metric, column, None if reference is None else percent_difference(value, reference))


def _detail(trial: Trial) -> str:
    """The phase, and which try it is when it is not the first."""
    if not trial.is_live:
        return ""
    work = running_work(trial)
    number = work.attempts + (work.state == WorkState.QUEUED)
    return ", ".join(part for part in (work.phase, f"try {number}" if number > 1 else "") if part)


def running_work(trial: Trial) -> SharedWork:
    """What the trial waits for now: its conversion, then its compilation."""
    conversion: SharedWork | None = trial.compilation.conversion
    return conversion if conversion and trial.state == TrialState.CONVERTING else trial.compilation


def _elapsed_s(trial: Trial, now: datetime) -> float | None:
    """Of what runs, whole seconds; of what has ended, its own wall time."""
    work = running_work(trial)
    if trial.state in (TrialState.CONVERTING, TrialState.COMPILING):
        return float(max(0, int((now - work.started_at).total_seconds()))) if work.started_at else None
    if trial.state in (TrialState.QUEUED, TrialState.CANCELLED) or work.wall_us is None:
        return None
    return work.wall_us / 1e6


def _reason(trial: Trial) -> str:
    if trial.cancelled_at:
        return CANCELLED
    return "" if trial.is_live or trial.state == TrialState.DONE else trial.compilation.reason or CANCELLED
