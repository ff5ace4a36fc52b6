"""The ranking of a sweep on a device as a table: ties share a rank, times have their interval."""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sweeps.reports.measured import MICROSECONDS, MeasuredRow, TuningReport


def print_report(report: TuningReport, binary: Path) -> None:
    console = Console(highlight=False)
    console.print(ranking_table(report))
    for name, reason in report.left_out.items():
        named = reason if reason.startswith(f"{name} ") else f"{name}: {reason}"
        console.print(f"[dim]not ranked:[/dim] {escape(named)}")
    if report.noise_floor_percent is not None:
        console.print(f"[dim]{report.rounds} rounds; {escape(noise_of(report))}[/dim]")
    console.print()
    for sentence in report.sentences:
        console.print(escape(sentence))
    console.print()
    console.print(f"{escape(report.best)} is in {escape(str(binary))}, its config and the report beside it.")


def noise_of(report: TuningReport) -> str:
    return f"one binary measured twice differs from itself by {report.noise_floor_percent or 0:.1f} %"


def ranking_table(report: TuningReport) -> Table:
    is_latency = report.unit == MICROSECONDS
    title = f"{report.device}: {report.event}, {report.origin}; {report.runtime}"
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("point", min_width=8)
    unit = ["µs", "95 % sure", "slower %", "95 % sure"] if is_latency else ["DRAM KiB", "more %"]
    for heading in [*unit, "ROM KiB"]:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in report.ranking:
        cells = latency_cells(row) if is_latency else traffic_cells(row)
        table.add_row(row.rank_label, escape(row.name), *cells, f"{row.rom_bytes / 1024:,.1f}")
    return table


def latency_cells(row: MeasuredRow) -> list[str]:
    return [
        f"{row.value:,.1f}",
        between(row.low, row.high, ",.1f"),
        percent(row.above_best_percent),
        between(row.above_best_low_percent, row.above_best_high_percent, "+.1f"),
    ]


def traffic_cells(row: MeasuredRow) -> list[str]:
    return [f"{row.value / 1024:,.1f}", percent(row.above_best_percent)]


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.1f}"


def between(low: float | None, high: float | None, form: str) -> str:
    return "" if low is None or high is None else f"{low:{form}} to {high:{form}}"
