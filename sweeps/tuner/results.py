"""From what was measured to a report: who is best, what ties with it, what is left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from devices.runners.base import Timing
from sweeps.profiling.blocks import NotRankable
from sweeps.profiling.plan import Finished
from sweeps.profiling.ranking import TieKey, rank_latency
from sweeps.profiling.words import latency_sentences
from sweeps.ranking import Metric, TrialOutcome, as_given_of, value_of
from sweeps.reports.measured import (
    BYTES,
    FROM_COMPILER,
    MICROSECONDS,
    MeasuredRow,
    TuningReport,
    as_given_sentence,
    latency_rows,
    traffic_rows,
    traffic_sentences,
)
from sweeps.tuner.compiling import CompiledPoints
from sweeps.tuner.criteria import Criteria
from sweeps.tuner.measuring import Bench, counted_blocks

SIMULATED = "These times are simulated: they show how the ranking works, and nothing about a device."
RAN = {
    Timing.MEASURED: "Each binary was run once on {device}.",
    Timing.EMULATED: "Each binary was run once on {device}, which emulates the NPU.",
    Timing.SIMULATED: "The run of each binary on {device} is simulated too.",
}
HANDED_OUT = (
    "{name} is handed out: among those that tie, the least DRAM traffic decides, then the smallest ROM, then the "
    "lowest P."
)
NO_TRAFFIC = "The compiler reports no DRAM traffic for any binary that ran, so that nothing can be ranked by it."
LAST = 10**6


def latency_report(
    bench: Bench, finished: Finished, compiled: CompiledPoints, left_out: Mapping[str, str]
) -> TuningReport:
    """Raises `NotRankable`."""
    trials, out = bench.candidates, {**left_out, **bench.refused, **bench.wrong_outputs()}
    baseline = _baseline(bench, out)
    ranking = rank_latency(counted_blocks(bench.blocks, out), baseline, bench.rules, tie_keys(trials))
    out |= ranking.left_out
    rows = latency_rows(ranking, trials)
    origin = ranking.conditions.timing
    said = [
        *latency_sentences(ranking, baseline),
        HANDED_OUT.format(name=rows[0].name) if rows[0].above_best_percent is not None else "",
        _against_as_given(rows, compiled, MICROSECONDS),
        SIMULATED if origin is Timing.SIMULATED else "",
    ]
    return TuningReport(
        criterion=Criteria.LATENCY,
        value=rows[0].value,
        unit=MICROSECONDS,
        origin=str(origin),
        event=ranking.conditions.event,
        best=rows[0].name,
        best_p_value=rows[0].p_value,
        ranking=rows,
        sentences=tuple(sentence for sentence in said if sentence),
        left_out=out,
        rounds=ranking.rounds,
        why_ended=finished.why,
        noise_floor_percent=100 * ranking.noise_floor,
        drift_percent=100 * ranking.drift,
        conditions={name: str(value) for name, value in asdict(ranking.conditions).items()},
        **_common(bench, compiled, baseline),
    )


def traffic_report(bench: Bench, compiled: CompiledPoints, left_out: Mapping[str, str]) -> TuningReport:
    """DRAM traffic as the compiler plans it, of the binaries that run. Raises `NotRankable`."""
    out = {**left_out, **bench.refused, **bench.wrong_outputs()}
    baseline = _baseline(bench, out)
    trials = [trial for name, trial in bench.candidates.items() if name not in out]
    rows, unranked = traffic_rows(trials, compiled.target)
    if not rows:
        raise NotRankable(NO_TRAFFIC)
    ran = RAN[bench.runtime.timing].format(device=bench.opened.name)
    said = [*traffic_sentences(rows, baseline, ran), _against_as_given(rows, compiled, BYTES)]
    return TuningReport(
        criterion=Criteria.BANDWIDTH,
        value=rows[0].value,
        unit=BYTES,
        origin=FROM_COMPILER,
        event="DRAM traffic per inference",
        best=rows[0].name,
        best_p_value=rows[0].p_value,
        ranking=rows,
        sentences=tuple(sentence for sentence in said if sentence),
        left_out={**out, **unranked},
        rounds=1,
        why_ended="values are exact: each binary was run once",
        **_common(bench, compiled, baseline),
    )


def tie_keys(trials: Mapping[str, TrialOutcome]) -> dict[str, TieKey]:
    """Among candidates that tie: less DRAM traffic, then a smaller file, then the lower P."""
    return {name: _tie_key(trial) for name, trial in trials.items()}


def _tie_key(trial: TrialOutcome) -> TieKey:
    traffic, rom = value_of(trial, Metric.DRAM), value_of(trial, Metric.ROM)
    last = trial.as_given or trial.p_value is None
    return (
        float("inf") if traffic is None else float(traffic),
        float("inf") if rom is None else float(rom),
        float(LAST if last else trial.p_value or 0),
    )


def _baseline(bench: Bench, out: Mapping[str, str]) -> str:
    """Without P=0 the next that is left takes its part, as in the session."""
    return next(name for name in bench.candidates if name not in out)


def _against_as_given(rows: Sequence[MeasuredRow], compiled: CompiledPoints, unit: str) -> str:
    given = as_given_of(compiled.trials)
    return as_given_sentence(rows, given.label, unit) if given else ""


def _common(bench: Bench, compiled: CompiledPoints, baseline: str) -> dict[str, Any]:
    runtime = bench.runtime
    return {
        "device": bench.opened.name,
        "runtime": f"{runtime.name} {runtime.version} {runtime.build_id}".strip(),
        "baseline": baseline,
        "about": compiled.about,
    }
