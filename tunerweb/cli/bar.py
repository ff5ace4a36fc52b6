"""The progress bar of a sweep on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from sweeps.tuner.running import Progress as SweepProgress
from tunerweb.cli.progress import outcome


@contextlib.contextmanager
def bar_on(stream: TextIO) -> Iterator[Bar]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        yield Bar(progress)


class Bar:
    def __init__(self, progress: Progress) -> None:
        self.bar = progress
        self.task: TaskID | None = None

    def step(self, text: str) -> None:
        if self.task is None:
            self.task = self.bar.add_task(escape(text), total=None, left="")
        else:
            self.bar.update(self.task, description=escape(text))

    def note(self, text: str) -> None:
        self.bar.console.print(f"[dim]note:[/dim] {escape(text)}", highlight=False)

    def warning(self, text: str) -> None:
        self.bar.console.print(f"[yellow]warning:[/yellow] {escape(text)}", highlight=False)

    def progress(self, progress: SweepProgress) -> None:
        if self.task is None:
            return
        if progress.trial and progress.trial.error:
            self.bar.console.print(escape(outcome(progress.trial)), highlight=False)
        left = time_left(progress)
        self.bar.update(self.task, total=progress.total, completed=progress.finished, left=left)


def time_left(progress: SweepProgress) -> str:
    """From what the points have taken so far; says nothing before the first one has ended."""
    if not progress.finished:
        return "time left: after the first compile"
    remaining_s = progress.elapsed_s / progress.finished * (progress.total - progress.finished)
    minutes, seconds = divmod(round(remaining_s), 60)
    return f"about {minutes} min {seconds:02d} s left" if minutes else f"about {seconds} s left"
