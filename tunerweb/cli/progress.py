"""What a sweep shows while it runs: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TextIO

from sweeps.ranking import TrialOutcome
from sweeps.tuner.running import Progress
from sweeps.tuner.size_sweep import Listener


@contextlib.contextmanager
def listener_for(stream: TextIO) -> Iterator[Listener]:
    if not stream.isatty():
        yield Lines(stream)
        return
    # Imported where it is needed: a sweep in a script does not wait for what it will never draw.
    from tunerweb.cli.bar import bar_on

    with bar_on(stream) as bar:
        yield bar


class Lines:
    """One line per step, note and finished point."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def step(self, text: str) -> None:
        self._print(f"{text}.")

    def note(self, text: str) -> None:
        self._print(f"note: {text}")

    def warning(self, text: str) -> None:
        self._print(f"warning: {text}")

    def progress(self, progress: Progress) -> None:
        if progress.trial:
            self._print(f"[{progress.finished}/{progress.total}] {outcome(progress.trial)}")

    def _print(self, line: str) -> None:
        print(line, file=self.stream, flush=True)


def outcome(trial: TrialOutcome) -> str:
    result = trial.result
    if result is None:
        return f"{trial.label}: {trial.error}"
    return f"{trial.label}: ROM {result.rom_bytes:,} bytes, compiled in {result.wall_us / 1e6:.2f} s"
