"""What a row shows of a result beyond the columns. A result never changes, so each is read once by a process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from devices.targets import Target
from sweeps.granted import BYTES_PER_MB
from sweeps.models import Trial, TrialState
from sweeps.outcomes import outcome_of
from sweeps.ranking import granted_differences
from sweeps.toolchain.base import CompileResult, GrantedOptions

MOST_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class Facts:
    """`granted`: what the binary says it was built with; `differences`: where that is not what was asked for."""

    granted: str = ""
    differences: tuple[str, ...] = ()


NOTHING_KNOWN = Facts()
_remembered: OrderedDict[str, Facts] = OrderedDict()


def facts_of(trials: Iterable[Trial], target: Target) -> dict[int, Facts]:
    """By compilation. One query at most, for the results that this process has not read yet."""
    done = {trial.compilation_id: trial for trial in trials if trial.state == TrialState.DONE}
    missing = [trial.pk for trial in done.values() if trial.compilation.public_id not in _remembered]
    read = {trial.compilation.public_id: _read(trial, target) for trial in _with_results(missing)}
    names = {pk: trial.compilation.public_id for pk, trial in done.items()}
    found = {pk: read.get(name) or _remembered.get(name, NOTHING_KNOWN) for pk, name in names.items()}
    _remember(read)
    return found


def _remember(read: dict[str, Facts]) -> None:
    _remembered.update(read)
    while len(_remembered) > MOST_REMEMBERED:
        _remembered.popitem(last=False)


def _with_results(pks: list[int]) -> Iterable[Trial]:
    return Trial.objects.with_work().filter(pk__in=pks) if pks else ()


def _read(trial: Trial, target: Target) -> Facts:
    outcome = outcome_of(trial)
    if outcome.result is None:
        return NOTHING_KNOWN
    return Facts(granted_text(outcome.result), granted_differences(outcome, target))


def granted_text(result: CompileResult) -> str:
    """The same for all graphs once; else with the graph's name."""
    texts = {graph.graph_name: options_text(graph.granted) for graph in result.graphs}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{name}: {text}" for name, text in texts.items())


def options_text(granted: GrantedOptions) -> str:
    parts = [
        ("O={}", granted.optimization_level),
        ("P={}", granted.p_value),
        ("{:g} MB VTCM", None if granted.vtcm_bytes is None else granted.vtcm_bytes / BYTES_PER_MB),
        ("{} HVX", granted.hvx_threads),
        ("{}", "DLBC" if granted.dlbc else None),
    ]
    return " · ".join(form.format(value) for form, value in parts if value is not None)
