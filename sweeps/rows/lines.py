"""The lines of the ranking: one for each rank, which opens where several trials share it, then what is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sweeps import formats
from sweeps.formats import ByteColumn
from sweeps.models import Sweep, TrialState
from sweeps.ranking import Metric
from sweeps.rows.judging import Judged, JudgedTrial, Judgement
from sweeps.rows.trials import Cell, value_cell
from sweeps.rows.views import PageView

MOST_LINES = 50
MOST_INNER = 30
LEFT_OUT = "left out"
NUMBER_IN_FRONT = re.compile(r"^(P=)?[0-9]+ ")
AS_GIVEN = "as given"
NAMES_IN_SUMMARY = 5
HEADS = {Metric.ROM: "ROM", Metric.RAM: "RAM", Metric.DRAM: "DRAM", Metric.CYCLES: "~ cycles"}
DASH = "\N{EN DASH}"
NO_BASELINE = "there is no baseline to compare with"
SEVERAL = "not the same for all of them: open the line"


@dataclass(frozen=True, slots=True)
class LineCell:
    """One metric in one line. `reason`: why there is no value, or no difference to the baseline."""

    metric: Metric
    cell: Cell | None
    unit: str = ""
    reason: str = ""
    is_range: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Trials that are equal in what the line shows.

    `inner`: the same trials told apart, when the line opens; `hidden`: how many of those are too many to show.
    """

    trials: tuple[JudgedTrial, ...]
    rank_label: str
    cells: tuple[LineCell, ...]
    has_shared_weights: bool
    inner: tuple[Line, ...] = ()
    hidden: int = 0
    reason: str = ""

    @property
    def ids(self) -> str:
        return " ".join(trial.public_id for trial in self.trials)

    @property
    def holds_baseline(self) -> bool:
        return any(trial.is_baseline for trial in self.trials)

    @property
    def summary(self) -> str:
        """`0 1 2 3 4 … (15)`."""
        names = [trial.label.removeprefix("P ") for trial in self.trials]
        if len(names) <= NAMES_IN_SUMMARY + 1:
            return ", ".join(names) if AS_GIVEN in names else " ".join(names)
        return f"{' '.join(names[:NAMES_IN_SUMMARY])} … ({len(names)})"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Points without a place for one and the same reason. Those that were never compiled have no trial."""

    state: str
    labels: tuple[str, ...]
    trials: tuple[JudgedTrial, ...]
    reason: str


@dataclass(frozen=True)
class RankingTable:
    view: PageView
    columns: dict[Metric, ByteColumn]
    lines: tuple[Line, ...]
    hidden: int
    not_ranked: tuple[Line, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def heads(self) -> list[tuple[Metric, str, str, bool]]:
        """Each metric with the words and the unit of its column, and whether it is the one that is ranked by."""
        units = {metric: column.unit for metric, column in self.columns.items()}
        return [(metric, HEADS[metric], units.get(metric, ""), metric is self.view.by) for metric in Metric]

    @property
    def trials(self) -> list[JudgedTrial]:
        """Those with values that the table shows, for the plots beside it."""
        return [trial for line in (*self.lines, *self.not_ranked) for trial in line.trials]

    @property
    def has_shared_weights(self) -> bool:
        return any(line.has_shared_weights for line in self.lines)


def ranking_table(sweep: Sweep, judgement: Judgement, view: PageView) -> RankingTable:
    done = judgement.done
    columns = _columns(done)
    ranked = [trial for trial in done if trial.metrics[view.by].rank is not None]
    out = [trial for trial in done if trial.metrics[view.by].rank is None]
    groups = _sorted_groups(ranked, view)
    incomparable = _alike(sorted(out, key=lambda trial: trial.order))
    most = None if view.show_all else MOST_LINES
    return RankingTable(
        view=view,
        columns=columns,
        lines=tuple(_line(group, view.by, columns) for group in groups[:most]),
        hidden=sum(max(0, len(each) - MOST_LINES) for each in (groups, incomparable)) if most else 0,
        not_ranked=tuple(_not_ranked(group, view, columns) for group in incomparable[:most]),
        left_out=(*_without_result(judgement.trials), *_never_compiled(sweep)),
    )


def _columns(done: Sequence[JudgedTrial]) -> dict[Metric, ByteColumn]:
    return {
        metric: formats.byte_column(trial.metrics[metric].value for trial in done)
        for metric in Metric
        if metric is not Metric.CYCLES
    }


def _sorted_groups(ranked: list[JudgedTrial], view: PageView) -> list[tuple[JudgedTrial, ...]]:
    if view.is_ranked:
        groups = _grouped(sorted(ranked, key=lambda trial: _place(trial, view.by)), view.by)
        return groups[::-1] if view.is_descending else groups
    return [(trial,) for trial in _sorted_trials(ranked, view)]


def _place(trial: JudgedTrial, metric: Metric) -> tuple[int, tuple[bool, int]]:
    return trial.metrics[metric].rank or 0, trial.order


def _sorted_trials(trials: list[JudgedTrial], view: PageView) -> list[JudgedTrial]:
    """Without a value: last, whichever way the others go."""
    if view.sort_key == "p":
        return sorted(trials, key=lambda trial: trial.order, reverse=view.is_descending)
    metric = Metric(view.sort_key)
    known = [trial for trial in trials if trial.metrics[metric].value is not None]
    known.sort(key=lambda trial: trial.order)
    known.sort(key=lambda trial: trial.metrics[metric].value or 0, reverse=view.is_descending)
    return known + [trial for trial in trials if trial.metrics[metric].value is None]


def _grouped(trials: Iterable[JudgedTrial], metric: Metric) -> list[tuple[JudgedTrial, ...]]:
    groups: dict[int | None, list[JudgedTrial]] = {}
    for trial in trials:
        groups.setdefault(trial.metrics[metric].value, []).append(trial)
    return [tuple(group) for group in groups.values()]


def _line(trials: tuple[JudgedTrial, ...], by: Metric, columns: dict[Metric, ByteColumn]) -> Line:
    groups = _alike(trials) if len(trials) > 1 else []
    return Line(
        trials=trials,
        rank_label=trials[0].metrics[by].rank_label,
        cells=_cells(trials, columns),
        has_shared_weights=any(trial.shared_weights_bytes for trial in trials),
        inner=tuple(_inner_line(group, columns) for group in groups[:MOST_INNER]),
        hidden=sum(len(group) for group in groups[MOST_INNER:]),
    )


def _alike(trials: Iterable[JudgedTrial]) -> list[tuple[JudgedTrial, ...]]:
    """Those that are equal in every metric stay together: they are as good as the same program."""
    groups: dict[tuple[object, ...], list[JudgedTrial]] = {}
    for trial in trials:
        alike = tuple((judged.value, judged.reason) for judged in trial.metrics.values())
        groups.setdefault(alike, []).append(trial)
    return [tuple(group) for group in groups.values()]


def _inner_line(trials: tuple[JudgedTrial, ...], columns: dict[Metric, ByteColumn]) -> Line:
    return Line(trials, "", _cells(trials, columns), any(trial.shared_weights_bytes for trial in trials))


def _not_ranked(trials: tuple[JudgedTrial, ...], view: PageView, columns: dict[Metric, ByteColumn]) -> Line:
    """Compiled, and not comparable in this metric."""
    return Line(trials, "", _cells(trials, columns), False, reason=trials[0].metrics[view.by].reason)


def _cells(trials: tuple[JudgedTrial, ...], columns: dict[Metric, ByteColumn]) -> tuple[LineCell, ...]:
    return tuple(_line_cell(trials, metric, columns.get(metric)) for metric in Metric)


def _line_cell(trials: tuple[JudgedTrial, ...], metric: Metric, column: ByteColumn | None) -> LineCell:
    judged = [trial.metrics[metric] for trial in trials]
    values = {each.value for each in judged}
    if len(values) == 1:
        return _one_cell(judged[0], metric, column)
    known = [value for value in values if value is not None]
    low, high = (value_cell(value, metric, column, None) for value in (min(known), max(known)))
    text = low.text if low.text == high.text else f"{low.text}{DASH}{high.text}"
    return LineCell(metric, Cell(text, f"{low.title} to {high.title}"), _unit(column), SEVERAL, is_range=True)


def _one_cell(judged: Judged, metric: Metric, column: ByteColumn | None) -> LineCell:
    if judged.value is None:
        return LineCell(metric, None, reason=judged.reason or "not reported by this toolchain")
    cell = value_cell(judged.value, metric, column, judged.difference_percent)
    return LineCell(metric, cell, _unit(column), judged.reason or NO_BASELINE)


def _unit(column: ByteColumn | None) -> str:
    return column.unit if column else ""


def _without_result(trials: Sequence[JudgedTrial]) -> Iterator[LeftOut]:
    """Those that have ended; what is still on its way stands among the trials."""
    groups: dict[tuple[str, str], list[JudgedTrial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.order):
        if trial.state in (TrialState.REJECTED, TrialState.FAILED, TrialState.CANCELLED):
            groups.setdefault((trial.state, trial.error), []).append(trial)
    for (state, reason), group in groups.items():
        yield LeftOut(state, tuple(trial.label.removeprefix("P ") for trial in group), tuple(group), reason)


def _never_compiled(sweep: Sweep) -> Iterator[LeftOut]:
    """P values that were asked for and cannot be compiled; the reasons are alike but for the number in front."""
    groups: dict[str, list[str]] = {}
    for p_value, reason in sweep.left_out.items():
        groups.setdefault(NUMBER_IN_FRONT.sub("", str(reason)), []).append(str(p_value))
    for reason, labels in groups.items():
        yield LeftOut(LEFT_OUT, tuple(labels), (), reason[:1].upper() + reason[1:])
