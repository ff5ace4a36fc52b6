"""What a sweep shows while it runs: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from sweeps.ranking import TrialOutcome
from sweeps.tuner.running import Progress as SweepProgress
from sweeps.tuner.size_sweep import Listener


@contextlib.contextmanager
def listener_for(stream: TextIO) -> Iterator[Listener]:
    console = Console(file=stream)
    if not console.is_terminal:
        yield Lines(stream)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress)


class Lines:
    """One line per step, note and finished point."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def step(self, text: str) -> None:
        self._print(f"{text}.")

    def note(self, text: str) -> None:
        self._print(f"note: {text}")

    def progress(self, progress: SweepProgress) -> None:
        if progress.trial:
            self._print(f"[{progress.finished}/{progress.total}] {outcome(progress.trial)}")

    def _print(self, line: str) -> None:
        print(line, file=self.stream, flush=True)


class Bar:
    def __init__(self, progress: Progress) -> None:
        self.bar = progress
        self.task: TaskID | None = None
        self.left = TimeLeft()

    def step(self, text: str) -> None:
        if self.task is None:
            self.task = self.bar.add_task(escape(text), total=None, left="")
        else:
            self.bar.update(self.task, description=escape(text))

    def note(self, text: str) -> None:
        self.bar.console.print(f"[dim]note:[/dim] {escape(text)}", highlight=False)

    def progress(self, progress: SweepProgress) -> None:
        if self.task is None:
            return
        if progress.trial and progress.trial.error:
            self.bar.console.print(escape(outcome(progress.trial)), highlight=False)
        left = self.left.after(progress)
        self.bar.update(self.task, total=progress.total, completed=progress.finished, left=left)


class TimeLeft:
    """From what the points have taken so far; says nothing before the first one has ended."""

    def after(self, progress: SweepProgress) -> str:
        if not progress.finished:
            return "time left: after the first compile"
        remaining_s = progress.elapsed_s / progress.finished * (progress.total - progress.finished)
        minutes, seconds = divmod(round(remaining_s), 60)
        return f"about {minutes} min {seconds:02d} s left" if minutes else f"about {seconds} s left"


def outcome(trial: TrialOutcome) -> str:
    result = trial.result
    if result is None:
        return f"{trial.label}: {trial.error}"
    return f"{trial.label}: ROM {result.rom_bytes:,} bytes, compiled in {result.wall_us / 1e6:.2f} s"
