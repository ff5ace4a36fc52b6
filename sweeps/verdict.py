"""The verdict of a sweep in sentences: what to ship for each metric, what it costs, or that nothing is worth it.

Worth shipping is a gain of the threshold or more, and any gain that worsens no other metric. Each metric is judged
first against the config as given, then against the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from devices.targets import Target
from sweeps.ranking import (
    Metric,
    Ranking,
    TrialOutcome,
    as_given_of,
    baseline_of,
    granted_differences,
    percent_difference,
    rank,
    value_of,
)

AS_GIVEN = "as given"
BASELINE = "the baseline (P=0)"
SMALLEST_SHOWN_PERCENT = 0.01


@dataclass(frozen=True)
class Verdict:
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


def verdict(trials: Sequence[TrialOutcome], target: Target, *, threshold_percent: float = 1.0) -> Verdict:
    """Without a baseline there are no percentages of it, and a sentence says so."""
    if not any(trial.result for trial in trials):
        reason = next((trial.error for trial in trials if trial.error), "no point was swept.")
        return Verdict((f"Nothing compiled, so there is nothing to ship: {_as_sentence(reason)}",))
    judge = _Judge(tuple(trials), target, threshold_percent)
    return Verdict((*judge.missing_references(), *judge.judgements(), *judge.not_comparable()))


@dataclass(frozen=True)
class _Judge:
    trials: tuple[TrialOutcome, ...]
    target: Target
    threshold_percent: float

    @cached_property
    def rankings(self) -> dict[Metric, Ranking]:
        """Of the metrics that at least one trial has a comparable value of."""
        rankings = {metric: rank(self.trials, metric, self.target) for metric in Metric}
        return {metric: ranking for metric, ranking in rankings.items() if ranking.entries}

    def value(self, trial: TrialOutcome, metric: Metric) -> int | None:
        """None when the trial is out of this ranking."""
        entry = self.rankings[metric].entry_of(trial)
        return entry.value if entry else None

    def missing_references(self) -> list[str]:
        sentences = []
        for name, trial in ((BASELINE, baseline_of(self.trials)), ("the config as given", as_given_of(self.trials))):
            if trial is None:
                continue
            start = name[0].upper() + name[1:]
            if trial.result is None:
                reason = _as_sentence(trial.error or "no reason is known")
                sentences.append(f"{start} did not compile, so nothing is compared with it: {reason}")
            elif differences := granted_differences(trial, self.target):
                sentences.append(f"{start} is out of the ranking: {'; '.join(differences)}.")
        return sentences

    def judgements(self) -> list[str]:
        flat = [metric for metric, ranking in self.rankings.items() if len(ranking.entries) == 1]
        if self.rankings and len(flat) == len(self.rankings):
            return [self._flat_sentence(flat)]
        return [self._metric_sentence(metric) for metric in self.rankings]

    def _flat_sentence(self, metrics: list[Metric]) -> str:
        ranked = {trial.label for metric in metrics for trial in self.rankings[metric].entries[0].trials}
        if len(ranked) == 1:
            return f"Only {ranked.pop()} can be ranked: there is nothing to compare it with."
        names = _listed([metric.label for metric in metrics])
        return f"The sweep is flat: all {len(ranked)} settings give the same {names}, so nothing is worth shipping."

    def _metric_sentence(self, metric: Metric) -> str:
        name = metric.label[0].upper() + metric.label[1:]
        entries = self.rankings[metric].entries
        if len(entries) == 1:
            return f"{name}: the same for all settings ({entries[0].value:,} {metric.unit})."
        references = self._references(metric)
        if not references:
            best = entries[0]
            return f"{name}: {_named(best.trials[0])} is the smallest ({best.value:,} {metric.unit})."
        return f"{name}: {'; '.join(self._clause(metric, label, trial) for label, trial in references)}."

    def _references(self, metric: Metric) -> list[tuple[str, TrialOutcome]]:
        """As given and the baseline, as one when they are equal in everything that is reported."""
        pairs = ((AS_GIVEN, as_given_of(self.trials)), (BASELINE, baseline_of(self.trials)))
        found = [(label, trial) for label, trial in pairs if trial and self.value(trial, metric) is not None]
        if len(found) == 2 and all(
            self.value(found[0][1], each) == self.value(found[1][1], each) for each in self.rankings
        ):
            return [(f"{AS_GIVEN} and {BASELINE}", found[1][1])]
        return found

    def _clause(self, metric: Metric, label: str, reference: TrialOutcome) -> str:
        limit = self.value(reference, metric) or 0
        smaller = [trial for entry in self.rankings[metric].entries for trial in entry.trials if entry.value < limit]
        for trial in smaller:
            if self._is_worth_shipping(trial, reference, metric):
                return f"ship {_named(trial)}, which {self._trade(trial, reference, metric, f' against {label}')}"
        if smaller:
            trade = self._trade(smaller[0], reference, metric)
            threshold = f"under the threshold of {self.threshold_percent:g} %"
            return f"nothing worth shipping against {label}: the best, {_named(smaller[0])}, {trade}, {threshold}"
        return self._unbeaten(metric, label, reference, limit)

    def _unbeaten(self, metric: Metric, label: str, reference: TrialOutcome, limit: int) -> str:
        others = [entry for entry in self.rankings[metric].entries if any(not each.as_given for each in entry.trials)]
        if not reference.as_given or others[0].value == limit:
            return f"nothing is smaller than {label}"
        best = next(trial for trial in others[0].trials if not trial.as_given)
        more = _amount(others[0].value, limit, metric)
        return f"{label} beats every P value, and the best of them, {_named(best)}, needs {more} more"

    def _is_worth_shipping(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric) -> bool:
        ours, theirs = self.value(trial, metric), self.value(reference, metric)
        gain = -(percent_difference(ours or 0, theirs or 0) or 0)
        return gain >= self.threshold_percent or not self._costs(trial, reference, metric)

    def _trade(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric, against: str = "") -> str:
        gain = _amount(self.value(trial, metric) or 0, self.value(reference, metric) or 0, metric)
        costs = self._costs(trial, reference, metric)
        return f"saves {gain}{against} and costs {_listed(costs) if costs else 'nothing'}"

    def _costs(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric) -> list[str]:
        """What the trial needs more of than the reference; a value that cannot be compared counts as a cost."""
        costs = []
        for other in self.rankings:
            ours, theirs = self.value(trial, other), self.value(reference, other)
            if other is metric or theirs is None:
                continue
            if ours is None:
                costs.append(f"an unknown amount of {other.label}")
            elif ours > theirs:
                costs.append(f"{_amount(ours, theirs, other)} more {other.label}")
        return costs

    def not_comparable(self) -> list[str]:
        """A trial whose value would win, were it comparable."""
        sentences = []
        for metric, ranking in self.rankings.items():
            for excluded in ranking.excluded:
                value = value_of(excluded.trial, metric)
                if value is not None and value < ranking.entries[0].value:
                    reason = excluded.reason
                    sentences.append(f"{excluded.trial.label} is not ranked for {metric.label}: {_as_sentence(reason)}")
        return sentences


def _named(trial: TrialOutcome) -> str:
    return "the config as given" if trial.as_given else trial.label


def _amount(value: int, reference: int, metric: Metric) -> str:
    """How far apart, without a sign: in percent, or in the metric's unit where the reference is 0."""
    percent = percent_difference(value, reference)
    if percent is None:
        return f"{abs(value - reference):,} {metric.unit}"
    size = abs(percent)
    if size < SMALLEST_SHOWN_PERCENT:
        return f"less than {SMALLEST_SHOWN_PERCENT} %"
    return f"{size:.1f} %" if size >= 1 else f"{size:.2f} %"


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def _as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
