"""The progress bar of a sweep on a device: compiles first, then blocks of rounds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TextIO

from rich.markup import escape

from sweeps.profiling.plan import Pause
from sweeps.tuner.measuring import MeasureProgress
from tunerweb.cli.bar import Bar, bar_on
from tunerweb.cli.measuring import pause_sentence, round_of


@contextlib.contextmanager
def measuring_bar_on(stream: TextIO) -> Iterator[MeasuringBar]:
    with bar_on(stream) as bar:
        yield MeasuringBar(bar.bar)


class MeasuringBar(Bar):
    def trusting(self, text: str) -> None:
        self.warning(text)

    def measuring(self, progress: MeasureProgress) -> None:
        if self.task is not None:
            text = escape(f"{round_of(progress)}: {progress.candidate}")
            done = progress.round - 1
            left = f"{progress.blocks} blocks measured"
            self.bar.update(self.task, description=text, total=progress.rounds, completed=done, left=left)

    def pausing(self, pause: Pause) -> None:
        self.note(pause_sentence(pause))
