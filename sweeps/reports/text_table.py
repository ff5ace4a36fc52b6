"""The ranking of a sweep as a table on the terminal: equal results are one rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from devices.targets import Target
from sweeps.measurements import CycleOrigin
from sweeps.ranking import Metric, Ranking, TrialOutcome, baseline_of, rank, value_of
from sweeps.verdict import verdict

NOT_REPORTED = "not reported"
NOT_COMPARABLE = "n/c"
HEADINGS = {Metric.ROM: "ROM", Metric.RAM: "RAM", Metric.DRAM: "DRAM", Metric.CYCLES: "cycles ~"}


@dataclass(frozen=True)
class SweepText:
    """A finished sweep, to be printed. `invalid`: the P values that were left out, with the reasons."""

    trials: Sequence[TrialOutcome]
    target: Target
    invalid: Mapping[int, str]

    def print(self, console: Console) -> None:
        if any(trial.result for trial in self.trials):
            console.print(ranking_table(self.trials, self.target))
        for label, reason in excluded(self.trials, self.target):
            console.print(f"[dim]out of the ranking:[/dim] {escape(label)}: {escape(reason)}")
        for reason, p_values in left_out(self.invalid):
            console.print(f"[dim]left out:[/dim] P {p_values}: {escape(reason)}")
        for trial in self.trials:
            if trial.error:
                console.print(f"[dim]failed:[/dim] {escape(trial.label)}: {escape(trial.error)}")
        if origin := cycle_origin(self.trials):
            console.print(f"[dim]cycles ~ are simulated ({origin}), never a latency; n/c: not comparable.[/dim]")
        console.print()
        for sentence in verdict(self.trials, self.target).sentences:
            console.print(escape(sentence))


def ranking_table(trials: Sequence[TrialOutcome], target: Target) -> Table:
    """By ROM; trials that agree in every column are one row. Sizes in KiB, exact bytes are in size_report.json."""
    title = f"{target.label}, ranked by ROM; sizes in KiB"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("P", min_width=8)
    for heading in HEADINGS.values():
        table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("Δ %", justify="right", no_wrap=True)
    rankings = {metric: rank(trials, metric, target) for metric in HEADINGS}
    baseline = baseline_of(trials)
    for entry in rankings[Metric.ROM].entries:
        for members in same_rows(entry.trials):
            table.add_row(entry.rank_label, labels(members), *cells(members[0], baseline, rankings))
    return table


def same_rows(trials: Sequence[TrialOutcome]) -> list[list[TrialOutcome]]:
    rows: dict[tuple[int | None, ...], list[TrialOutcome]] = {}
    for trial in trials:
        rows.setdefault(tuple(value_of(trial, metric) for metric in HEADINGS), []).append(trial)
    return list(rows.values())


def labels(trials: Sequence[TrialOutcome]) -> str:
    p_values = [trial.p_value for trial in trials if not trial.as_given and trial.p_value is not None]
    given = ["as given"] if any(trial.as_given for trial in trials) else []
    return ", ".join([*ranges(p_values), *given])


def ranges(numbers: Sequence[int]) -> list[str]:
    """`[0, 1, 2, 5]` to `["0-2", "5"]`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def cells(trial: TrialOutcome, baseline: TrialOutcome | None, rankings: Mapping[Metric, Ranking]) -> list[str]:
    row: list[str] = []
    for metric, ranking in rankings.items():
        number = value_of(trial, metric)
        base = value_of(baseline, metric) if baseline else None
        comparable = ranking.entry_of(trial) is not None
        row += [amount(number, metric), difference(number, base) if comparable else NOT_COMPARABLE]
    return row


def amount(number: int | None, metric: Metric) -> str:
    if number is None:
        return NOT_REPORTED
    return f"{number:,}" if metric is Metric.CYCLES else f"{number / 1024:,.1f}"


def difference(number: int | None, base: int | None) -> str:
    if number is None or not base:
        return ""
    return "=" if number == base else f"{100 * (number - base) / base:+.2f}"


def excluded(trials: Sequence[TrialOutcome], target: Target) -> list[tuple[str, str]]:
    return [(out.trial.label, out.reason) for out in rank(trials, Metric.ROM, target).excluded if out.trial.result]


def left_out(invalid: Mapping[int, str]) -> list[tuple[str, str]]:
    """Reasons that differ in the P alone are one line."""
    groups: dict[str, list[int]] = {}
    for p_value, reason in invalid.items():
        groups.setdefault(reason.replace(f"P={p_value} ", "", 1), []).append(p_value)
    return [(reason, ", ".join(ranges(p_values))) for reason, p_values in groups.items()]


def cycle_origin(trials: Sequence[TrialOutcome]) -> CycleOrigin | None:
    origins = (graph.cycles.origin for trial in trials if trial.result for graph in trial.result.graphs if graph.cycles)
    return next(origins, None)
