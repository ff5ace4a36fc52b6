"""The one line that a finished sweep is remembered by, in lists and on the overview."""

from __future__ import annotations

from sweeps.models import Sweep, TrialState
from sweeps.outcomes import outcomes_of
from sweeps.verdict import headline


def headline_of(sweep: Sweep) -> str:
    outcomes = outcomes_of(sweep)
    if any(outcome.result for outcome in outcomes):
        return headline(outcomes, sweep.target)
    states = {trial.state for trial in sweep.trials.with_work()}
    if states == {TrialState.CANCELLED}:
        return "Cancelled before anything was compiled."
    reasons = {outcome.error for outcome in outcomes if outcome.error}
    return f"Nothing compiled: {min(reasons)}" if len(reasons) == 1 else "Nothing compiled; each trial says why."
