"""Rankings and verdict of a sweep, kept as long as its trials stay as they are: it takes every result to judge."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from sweeps.models import Sweep, Trial, TrialState
from sweeps.outcomes import outcome_of
from sweeps.ranking import Metric, Ranking, TrialOutcome, granted_differences, rank, value_of
from sweeps.reports.csv_table import FOOTPRINT
from sweeps.rows.trials import label_of
from sweeps.verdict import headline, verdict

MOST_REMEMBERED = 64
WHAT_IT_RESTS_ON = ("public_id", "compilation_id", "cancelled_at", "compilation__state", "verification__verdict")
NOTHING_WORTH = "Nothing worth shipping."


@dataclass(frozen=True, slots=True)
class Judged:
    """One metric of one trial: its value, and its place or why it has none."""

    value: int | None = None
    rank: int | None = None
    rank_label: str = ""
    difference_percent: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedTrial:
    """`differences`: what it was not built with as asked, which keeps it out of every ranking."""

    public_id: str
    label: str
    p_value: int | None
    state: TrialState
    is_baseline: bool
    as_given: bool
    error: str
    metrics: dict[Metric, Judged]
    ram_kinds: dict[str, int] | None
    shared_weights_bytes: int | None
    differences: tuple[str, ...]

    @property
    def has_result(self) -> bool:
        return self.state == TrialState.DONE

    @property
    def order(self) -> tuple[bool, int]:
        return self.as_given, self.p_value or 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """`by_metric`: the sentence of the verdict that speaks of it; `remarks`: those of no single one."""

    trials: tuple[JudgedTrial, ...]
    headline: str = ""
    by_metric: dict[Metric, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def done(self) -> tuple[JudgedTrial, ...]:
        return tuple(trial for trial in self.trials if trial.has_result)

    @property
    def has_baseline(self) -> bool:
        return any(trial.is_baseline for trial in self.done)

    @property
    def is_worth_shipping(self) -> bool:
        return bool(self.headline) and self.headline != NOTHING_WORTH


_remembered: OrderedDict[tuple[object, ...], Judgement] = OrderedDict()


def judgement_of(sweep: Sweep) -> Judgement:
    key = (sweep.public_id, *sweep.trials.values_list(*WHAT_IT_RESTS_ON))
    known = _remembered.get(key)
    if known is None:
        known = _remembered[key] = _judge(sweep)
        if len(_remembered) > MOST_REMEMBERED:
            _remembered.popitem(last=False)
    return known


def _judge(sweep: Sweep) -> Judgement:
    """A trial that ends between the two reads is judged with its result, and the next look judges again."""
    trials = list(sweep.trials.with_work())
    outcomes = [outcome_of(trial) for trial in trials]
    rankings = {metric: rank(outcomes, metric, sweep.target) for metric in Metric}
    places = {metric: _places(ranking) for metric, ranking in rankings.items()}
    judged = tuple(
        _judged(trial, outcome, {metric: places[metric][id(outcome)] for metric in Metric}, sweep)
        for trial, outcome in zip(trials, outcomes, strict=True)
    )
    if not any(outcome.result for outcome in outcomes):
        return Judgement(judged)
    sentences = verdict(outcomes, sweep.target).sentences
    by_metric = {metric: said for metric in Metric for said in sentences if _speaks_of(said, metric)}
    remarks = tuple(said for said in sentences if said not in by_metric.values())
    return Judgement(judged, headline(outcomes, sweep.target), by_metric, remarks)


def _speaks_of(sentence: str, metric: Metric) -> bool:
    return sentence.lower().startswith(f"{metric.label.lower()}:")


def _places(ranking: Ranking) -> dict[int, Judged]:
    places = {
        id(trial): Judged(entry.value, entry.rank, entry.rank_label, entry.difference_percent)
        for entry in ranking.entries
        for trial in entry.trials
    }
    for excluded in ranking.excluded:
        value = value_of(excluded.trial, ranking.metric)
        places[id(excluded.trial)] = Judged(value=value, reason=excluded.reason)
    return places


def _judged(trial: Trial, outcome: TrialOutcome, metrics: dict[Metric, Judged], sweep: Sweep) -> JudgedTrial:
    result = outcome.result
    footprint = result.footprint if result else None
    return JudgedTrial(
        public_id=trial.public_id,
        label=label_of(trial),
        p_value=trial.p_value,
        state=TrialState.DONE if result else trial.state,
        is_baseline=outcome.is_baseline,
        as_given=outcome.as_given,
        error=outcome.error or "",
        metrics=metrics,
        ram_kinds={name: getattr(footprint, name) for name in FOOTPRINT} if footprint else None,
        shared_weights_bytes=result.shared_weights_bytes if result else None,
        differences=granted_differences(outcome, sweep.target),
    )
