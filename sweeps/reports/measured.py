"""What a sweep on a device came to: which point is best by latency or by DRAM traffic, and how sure that is."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from devices.targets import Target
from sweeps.profiling.ranking import LatencyRanking, RankedCandidate
from sweeps.ranking import Metric, TrialOutcome, percent_difference, rank, value_of
from sweeps.reports.bundle import DLC_FILE, BundleFile, trial_files
from tunerweb.work.files import remove_partials

FROM_COMPILER = "from the compiler, simulated"
MICROSECONDS, BYTES = "us", "bytes"
NO_TRAFFIC = "the compiler reports no DRAM traffic for it"


@dataclass(frozen=True)
class MeasuredRow:
    """One candidate. `value` is in the report's unit; `low` and `high` bound the median with 95 % confidence, and are
    None where values are exact. `above_best_percent`, with its bounds, compares with the lowest value, and is None for
    that itself and for what equals it exactly.
    """

    rank: int
    is_tied: bool
    name: str
    p_value: int | None
    value: float
    low: float | None
    high: float | None
    above_best_percent: float | None
    above_best_low_percent: float | None
    above_best_high_percent: float | None
    rounds: int
    runs: int
    rom_bytes: int
    dram_bytes: int | None
    sha256: str

    @property
    def rank_label(self) -> str:
        return f"{self.rank}=" if self.is_tied else str(self.rank)


@dataclass(frozen=True)
class TuningReport:
    """`value` of the best in `unit`: microseconds per inference or bytes of DRAM traffic per inference.

    `origin` says where the values come from: measured, simulated, or from the compiler. `event` is what was timed.
    `ranking` is in order; candidates of one rank are tied. `left_out`: what is not ranked, with the reason.
    `noise_floor_percent`: how much one binary measured twice differs from itself; `drift_percent`: how much slower the
    baseline became. `about`: the model, the target and the toolchain.
    """

    criterion: str
    value: float
    unit: str
    origin: str
    event: str
    device: str
    runtime: str
    best: str
    best_p_value: int | None
    baseline: str
    ranking: tuple[MeasuredRow, ...]
    sentences: tuple[str, ...]
    left_out: Mapping[str, str]
    rounds: int
    why_ended: str = ""
    noise_floor_percent: float | None = None
    drift_percent: float | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def per_candidate(self) -> dict[str, float | None]:
        """Name to value, None for what is left out."""
        return {row.name: row.value for row in self.ranking} | dict.fromkeys(self.left_out)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "per_candidate": self.per_candidate}


def latency_rows(ranking: LatencyRanking, trials: Mapping[str, TrialOutcome]) -> tuple[MeasuredRow, ...]:
    tied = {each.name for group in ranking.groups() if len(group) > 1 for each in group}
    return tuple(_latency_row(each, trials[each.name], each.name in tied) for each in ranking.candidates)


def _latency_row(ranked: RankedCandidate, trial: TrialOutcome, is_tied: bool) -> MeasuredRow:
    stats, above = ranked.stats, ranked.slower_than_best
    return MeasuredRow(
        rank=ranked.rank,
        is_tied=is_tied,
        value=stats.latency_us.median,
        low=stats.latency_us.low,
        high=stats.latency_us.high,
        above_best_percent=_percent(above.median if above else None),
        above_best_low_percent=_percent(above.low if above else None),
        above_best_high_percent=_percent(above.high if above else None),
        rounds=stats.rounds,
        runs=stats.runs,
        **_facts(trial),
    )


def traffic_rows(trials: Sequence[TrialOutcome], target: Target) -> tuple[tuple[MeasuredRow, ...], dict[str, str]]:
    """By DRAM traffic, exact: equal is a tie. With what cannot be ranked, and why."""
    ranking = rank(trials, Metric.DRAM, target)
    least = ranking.entries[0].value if ranking.entries else 0
    rows = tuple(
        _traffic_row(entry.rank, len(entry.trials) > 1, trial, entry.value, least)
        for entry in ranking.entries
        for trial in entry.trials
    )
    reasons = {each.trial.label: each.reason for each in ranking.excluded}
    return rows, {name: NO_TRAFFIC if reason == "not reported" else reason for name, reason in reasons.items()}


def _traffic_row(place: int, is_tied: bool, trial: TrialOutcome, value: int, least: int) -> MeasuredRow:
    return MeasuredRow(
        rank=place,
        is_tied=is_tied,
        value=value,
        low=None,
        high=None,
        above_best_percent=percent_difference(value, least) if value != least else None,
        above_best_low_percent=None,
        above_best_high_percent=None,
        rounds=1,
        runs=1,
        **_facts(trial),
    )


def _facts(trial: TrialOutcome) -> dict[str, Any]:
    assert trial.result
    return {
        "name": trial.label,
        "p_value": trial.p_value,
        "rom_bytes": trial.result.rom_bytes,
        "dram_bytes": value_of(trial, Metric.DRAM),
        "sha256": trial.result.sha256,
    }


def as_given_sentence(rows: Sequence[MeasuredRow], as_given: str, unit: str) -> str:
    """How the config as given compares with the best; "" when it is not ranked, or is the best itself."""
    best = rows[0]
    given = next((row for row in rows if row.name == as_given), None)
    if given is None or given is best:
        return ""
    if given.rank == best.rank:
        return "The config as given is as good: a P value gains nothing here."
    above, low, high = given.above_best_percent, given.above_best_low_percent, given.above_best_high_percent
    if unit == BYTES or low is None or high is None:
        return f"The config as given moves {above or 0:.1f} % more."
    return f"The config as given is {above or 0:.1f} % ({low:.1f} % to {high:.1f} %) slower."


def traffic_sentences(rows: Sequence[MeasuredRow], baseline: str, ran: str) -> list[str]:
    """`ran`: where the binaries were run, and as what."""
    first = [row.name for row in rows if row.rank == rows[0].rank]
    said = [f"{rows[0].name} moves {rows[0].value:,.0f} bytes to and from DRAM per inference ({FROM_COMPILER})."]
    if len(first) > 1:
        *others, last = first[1:]
        named = f"{', '.join(others)} and {last}" if others else last
        said.append(f"{named} {'move' if others else 'moves'} exactly as many.")
    other = next((row for row in rows if row.name == baseline), None)
    if other and other.above_best_percent is not None:
        said.append(f"The baseline ({baseline}) moves {other.above_best_percent:.1f} % more.")
    return [*said, ran]


def measured_files(report: TuningReport, best: TrialOutcome, dlc: Path | None) -> list[BundleFile]:
    """The best binary, its config and wrapper, the converted model, and the report as the last."""
    files = list(trial_files(f"{report.criterion}_optimized", best))
    if dlc:
        files.append(BundleFile(DLC_FILE, dlc))
    names = [*(file.name for file in files), report_file(report.criterion)]
    text = json.dumps({**report.to_json(), "files": names}, indent=2, ensure_ascii=False, allow_nan=False)
    return [*files, BundleFile(names[-1], f"{text}\n".encode())]


def report_file(criterion: str) -> str:
    return f"{criterion}_report.json"


def remove_stale_measured(folder: Path, criterion: str, *, keep: Collection[Path] = ()) -> None:
    """What an earlier sweep by the same criterion left there, the report first. Raises OSError."""
    kept = {path.resolve() for path in keep}
    for pattern in (report_file(criterion), f"{criterion}_optimized*"):
        for path in folder.glob(pattern):
            if (path.is_file() or path.is_symlink()) and path.resolve() not in kept:
                path.unlink()
    remove_partials(folder)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
