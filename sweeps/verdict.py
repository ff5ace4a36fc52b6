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


def headline(trials: Sequence[TrialOutcome], target: Target, *, threshold_percent: float = 1.0) -> str:
    """The verdict in one line, for lists. Raises ValueError when nothing compiled."""
    if not any(trial.result for trial in trials):
        raise ValueError("There is no headline for a sweep in which nothing compiled.")
    parts = _Judge(tuple(trials), target, threshold_percent).headline_parts()
    return _capital("; ".join(parts)) + "." if parts else "Nothing worth shipping."


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

    @cached_property
    def values(self) -> dict[Metric, dict[str, int]]:
        """Of the ranked trials only, by label."""
        return {
            metric: {trial.label: entry.value for entry in ranking.entries for trial in entry.trials}
            for metric, ranking in self.rankings.items()
        }

    def missing_references(self) -> list[str]:
        sentences = []
        for name, trial in ((BASELINE, baseline_of(self.trials)), ("the config as given", as_given_of(self.trials))):
            if trial is None:
                continue
            start = _capital(name)
            if trial.result is None:
                reason = _as_sentence(trial.error or "no reason is known")
                sentences.append(f"{start} did not compile, so nothing is compared with it: {reason}")
            elif differences := granted_differences(trial, self.target):
                sentences.append(f"{start} is out of the ranking: {'; '.join(differences)}.")
        return sentences

    def judgements(self) -> list[str]:
        if not self.rankings:
            return ["Nothing that compiled was built as it was asked for, so there is nothing to rank or to ship."]
        flat = [metric for metric, ranking in self.rankings.items() if len(ranking.entries) == 1]
        if len(flat) == len(self.rankings):
            return [self._flat_sentence(flat)]
        return [self._metric_sentence(metric) for metric in self.rankings]

    def _flat_sentence(self, metrics: list[Metric]) -> str:
        ranked = {trial.label for metric in metrics for trial in self.rankings[metric].entries[0].trials}
        if len(ranked) == 1:
            return f"Only {ranked.pop()} can be ranked: there is nothing to compare it with."
        names = _listed([metric.label for metric in metrics])
        return f"The sweep is flat: all {len(ranked)} settings give the same {names}, so nothing is worth shipping."

    def _metric_sentence(self, metric: Metric) -> str:
        name = _capital(metric.label)
        entries = self.rankings[metric].entries
        if len(entries) == 1:
            return f"{name}: the same for all settings ({entries[0].value:,} {metric.unit})."
        references = self._references(metric)
        if not references:
            best = entries[0]
            return f"{name}: {_named(best.trials[0])} is the smallest ({best.value:,} {metric.unit})."
        return f"{name}: {'; '.join(self._clause(metric, label, trial) for label, trial in references)}."

    def _references(self, metric: Metric) -> list[tuple[str, TrialOutcome]]:
        """As given and the baseline; as one when they are equal in everything, or both are the smallest."""
        best = {trial.label for trial in self.rankings[metric].entries[0].trials}
        pairs = ((AS_GIVEN, as_given_of(self.trials)), (BASELINE, baseline_of(self.trials)))
        found = [(label, trial) for label, trial in pairs if trial and trial.label in self.values[metric]]
        if len(found) == 2 and self._are_equal(found[0][1], found[1][1]):
            return [(f"{AS_GIVEN} and {BASELINE}", found[1][1])]
        if len(found) == 2 and all(trial.label in best for _, trial in found):
            return [(f"{AS_GIVEN} or {BASELINE}", found[1][1])]
        return found

    def _are_equal(self, one: TrialOutcome, other: TrialOutcome) -> bool:
        return all(values.get(one.label) == values.get(other.label) for values in self.values.values())

    def _clause(self, metric: Metric, label: str, reference: TrialOutcome) -> str:
        smaller = self._smaller(metric, reference)
        if not smaller:
            return self._unbeaten(metric, label, reference)
        best = smaller[0]
        costs = self._cost_text(best, reference, metric)
        for trial in smaller:
            if self._is_worth_shipping(trial, reference, metric):
                shipped = f"ship {_named(trial)}, which saves {self._gain(trial, reference, metric)} against {label}"
                shipped += f" and costs {self._cost_text(trial, reference, metric)}"
                if self.values[metric][trial.label] == self.values[metric][best.label]:
                    return shipped
                return f"{shipped} ({_named(best)} saves {self._gain(best, reference, metric)} and costs {costs})"
        return (
            f"nothing worth shipping against {label}: the best, {_named(best)}, saves "
            f"{self._gain(best, reference, metric)}, less than {self.threshold_percent:g} %, and costs {costs}"
        )

    def _smaller(self, metric: Metric, reference: TrialOutcome) -> list[TrialOutcome]:
        """The smallest first; among equals as given, which needs no change, then the P values in their order."""
        limit = self.values[metric][reference.label]
        entries = [entry for entry in self.rankings[metric].entries if entry.value < limit]
        return [trial for entry in entries for trial in sorted(entry.trials, key=lambda each: not each.as_given)]

    def _unbeaten(self, metric: Metric, label: str, reference: TrialOutcome) -> str:
        limit = self.values[metric][reference.label]
        p_points = [trial for trial in self.trials if not trial.as_given and trial.label in self.values[metric]]
        best = min(p_points, key=lambda trial: self.values[metric][trial.label], default=reference)
        if self.values[metric][best.label] == limit:
            return f"nothing is smaller than {label}"
        more = _amount(self.values[metric][best.label], limit, metric)
        return f"{label} beats every P value, and the best of them, {_named(best)}, needs {more} more"

    def _is_worth_shipping(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric) -> bool:
        values = self.values[metric]
        percent = percent_difference(values[trial.label], values[reference.label])
        enough = percent is not None and -percent >= self.threshold_percent
        return enough or not self._costs(trial, reference, metric)

    def _gain(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric) -> str:
        return _amount(self.values[metric][trial.label], self.values[metric][reference.label], metric)

    def _cost_text(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric) -> str:
        return _listed(self._costs(trial, reference, metric) or ["nothing"])

    def _costs(self, trial: TrialOutcome, reference: TrialOutcome, metric: Metric) -> list[str]:
        """What the trial needs more of than the reference; a value that cannot be compared counts as a cost."""
        costs = []
        for other, values in self.values.items():
            if other is metric or reference.label not in values:
                continue
            if trial.label not in values:
                costs.append(f"an unknown amount of {other.label}")
            elif values[trial.label] > values[reference.label]:
                costs.append(f"{_amount(values[trial.label], values[reference.label], other)} more {other.label}")
        return costs

    def headline_parts(self) -> list[str]:
        """Per metric what to ship against its first reference, where anything is worth it."""
        parts = []
        for metric in self.rankings:
            for label, reference in self._references(metric)[:1]:
                smaller = self._smaller(metric, reference)
                shipped = next((each for each in smaller if self._is_worth_shipping(each, reference, metric)), None)
                if shipped:
                    gain = self._gain(shipped, reference, metric)
                    parts.append(f"{metric.label}: {_named(shipped)} saves {gain} against {label}")
        return parts

    def not_comparable(self) -> list[str]:
        """The trials whose value would win, were it comparable; those that `missing_references` names are told."""
        metrics: dict[tuple[str, str], list[str]] = {}
        for metric, ranking in self.rankings.items():
            for trial, reason in ((each.trial, each.reason) for each in ranking.excluded):
                value = value_of(trial, metric)
                told = (trial.as_given or trial.is_baseline) and granted_differences(trial, self.target)
                if value is not None and value < ranking.entries[0].value and not told:
                    metrics.setdefault((_named(trial), reason), []).append(metric.label)
        return [
            f"{_capital(name)} is not ranked for {_listed(labels)}: {_as_sentence(reason)}"
            for (name, reason), labels in metrics.items()
        ]


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


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def _as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
