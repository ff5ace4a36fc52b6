"""`tunerweb sweep --criterion`: the best point by latency or DRAM traffic on a device, told as it is measured."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TextIO

from devices.runners.base import RunnerError
from devices.transports.errors import TransportError
from sweeps.profiling.blocks import NotRankable
from sweeps.profiling.plan import Pause
from sweeps.tuner.errors import CompilationError, EmulatedDevice
from sweeps.tuner.inputs import BadInput
from sweeps.tuner.measuring import MeasureProgress
from sweeps.tuner.optimizing import TuneListener, TuneRequest, run_optimization
from tunerweb.cli import complain
from tunerweb.cli.progress import Lines

FAILED = 1


def measure(request: TuneRequest, *, as_json: bool) -> int:
    """Raises `BadInput`, `ToolchainError`, `OSError`; what the device does wrong is told here."""
    try:
        with listener_for(sys.stderr) as listener:
            model, report = run_optimization(request, listener)
    except EmulatedDevice as error:
        raise BadInput(str(error)) from None
    except (CompilationError, NotRankable, RunnerError, TransportError) as error:
        return complain(FAILED, str(error))
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
        return 0
    from tunerweb.cli.measured_table import print_report

    print_report(report, model.path)
    return 0


@contextlib.contextmanager
def listener_for(stream: TextIO) -> Iterator[TuneListener]:
    if not stream.isatty():
        yield MeasuringLines(stream)
        return
    # Imported where it is needed: see `tunerweb.cli.progress`.
    from tunerweb.cli.measuring_bar import measuring_bar_on

    with measuring_bar_on(stream) as bar:
        yield bar


class MeasuringLines(Lines):
    """One line per round besides; in a single round one per candidate."""

    _round = 0

    def trusting(self, text: str) -> None:
        self.warning(text)

    def measuring(self, progress: MeasureProgress) -> None:
        if progress.rounds == 1:
            self._print(f"Running {progress.candidate}.")
        elif progress.round != self._round:
            self._round = progress.round
            self._print(f"{round_of(progress)}.")

    def pausing(self, pause: Pause) -> None:
        self.note(pause_sentence(pause))


def round_of(progress: MeasureProgress) -> str:
    """Such as `Round 3 of 9` or `Round 3 of at most 25`."""
    return f"Round {progress.round} of {'' if progress.is_exact else 'at most '}{progress.rounds}"


def pause_sentence(pause: Pause) -> str:
    return f"{pause.why}; it is given {pause.seconds:.0f} s to cool down."
