"""What devices and this host found out by running the binaries, for the sweep page and its live parts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devices.runners.base import Timing
from sweeps.measured import Measured, measured_of, reasons_of
from sweeps.models import DeviceSession, Sweep, Verdict, Verification
from sweeps.profiling.blocks import medians_by_round, twin_of
from sweeps.profiling.ranking import RankedCandidate, TieKey
from sweeps.profiling.words import disagreements, latency_sentences
from tunerweb.work.leases import WorkState

MOST_REMEMBERED = 64
MOST_LINES = 6
PLOT_WIDTH, PLOT_HEIGHT = 100.0, 36.0
ORIGINS = {Timing.MEASURED: "measured", Timing.EMULATED: "emulated", Timing.SIMULATED: "simulated"}
WAITS = "It waits until everything is compiled and verified."
WAITS_FOR_DEVICE = "It waits for the device."


@dataclass(frozen=True)
class Span:
    """Of an interval, in percent of the plot's width."""

    low: float
    middle: float
    high: float

    @property
    def width(self) -> float:
        return max(0.6, self.high - self.low)


@dataclass(frozen=True)
class SessionLine:
    """One candidate. Times are texts in microseconds; `rank_label` is empty where nothing is ranked."""

    label: str
    rank_label: str
    latency: str
    interval: str
    slower: str
    span: Span | None
    outputs: str
    reason: str = ""


@dataclass(frozen=True)
class RoundsLine:
    """The medians of one candidate from round to round, as the points of an SVG line."""

    label: str
    points: str
    is_baseline: bool


@dataclass(frozen=True)
class SessionPart:
    session: DeviceSession
    state: str
    origin: str
    event: str
    sentences: tuple[str, ...]
    lines: tuple[SessionLine, ...]
    rounds: tuple[RoundsLine, ...]
    round_count: int


def session_parts(sweep: Sweep) -> tuple[SessionPart, ...]:
    rows = sweep.sessions.select_related("device", "device__hold").order_by("pk")
    return tuple(_part(session, _measured(session)) for session in rows)


def disagreement_sentences(parts: Sequence[SessionPart]) -> list[str]:
    rankings = {each.session.device_name: _measured(each.session).ranking for each in parts}
    return disagreements({name: ranking for name, ranking in rankings.items() if ranking})


_remembered: OrderedDict[tuple[object, ...], Measured] = OrderedDict()


def _measured(session: DeviceSession) -> Measured:
    """Ranked anew only when there is something new: that takes a thousand resamples of each pair."""
    key = (session.pk, session.blocks.count(), *sorted(reasons_of(session)))
    known = _remembered.get(key)
    if known is None:
        known = _remembered[key] = measured_of(session, _tie_keys(session.sweep))
        if len(_remembered) > MOST_REMEMBERED:
            _remembered.popitem(last=False)
    return known


def _tie_keys(sweep: Sweep) -> dict[str, TieKey]:
    """Among equals: less DRAM traffic, then less ROM, then the lower P."""
    return {
        trial.label: (
            float(trial.compilation.dram_bytes or 0),
            float(trial.compilation.rom_bytes or 0),
            float(trial.p_value or 0),
        )
        for trial in sweep.trials.with_work()
    }


def _part(session: DeviceSession, measured: Measured) -> SessionPart:
    timing = Timing(session.runtime["timing"]) if session.runtime else None
    lines = _ranked_lines(session, measured) or _bare_lines(session, measured)
    return SessionPart(
        session=session,
        state=_state(session),
        origin=ORIGINS[timing] if timing else "",
        event=measured.blocks[0].conditions.event if measured.blocks else "",
        sentences=tuple(_sentences(session, measured)),
        lines=(*lines, *(_left_out(name, why) for name, why in _left_out_reasons(session, measured).items())),
        rounds=_rounds(measured),
        round_count=len({block.round for block in measured.blocks}),
    )


def _state(session: DeviceSession) -> str:
    return "profiling" if session.state == WorkState.RUNNING else str(session.state)


def _sentences(session: DeviceSession, measured: Measured) -> list[str]:
    if session.state == WorkState.QUEUED:
        device = session.device
        why = device.health_reason if device and device.is_healthy is False else ""
        return [session.reason or (f"{WAITS_FOR_DEVICE} {why}" if why else WAITS)]
    if measured.ranking:
        return latency_sentences(measured.ranking, measured.baseline, tie_keys=_tie_keys(session.sweep))
    if session.state == WorkState.DONE:
        return [measured.why_not]
    return [session.reason] if session.reason else []


def _ranked_lines(session: DeviceSession, measured: Measured) -> tuple[SessionLine, ...]:
    ranking = measured.ranking
    if ranking is None:
        return ()
    low = min(each.stats.latency_us.low for each in ranking.candidates)
    high = max(each.stats.latency_us.high for each in ranking.candidates)
    tied = {group[0].rank for group in ranking.groups() if len(group) > 1}
    outputs = _verdicts(session)
    return tuple(
        _line(each, f"{each.rank}=" if each.rank in tied else str(each.rank), outputs, low, high)
        for each in ranking.candidates
    )


def _line(
    candidate: RankedCandidate, rank_label: str, outputs: Mapping[str, str], low: float, high: float
) -> SessionLine:
    latency, slower = candidate.stats.latency_us, candidate.slower_than_best
    scale = PLOT_WIDTH / ((high - low) or 1.0)
    return SessionLine(
        label=candidate.name,
        rank_label=rank_label,
        latency=f"{latency.median:,.0f}",
        interval=f"{latency.low:,.0f} to {latency.high:,.0f}",
        slower=f"{100 * slower.median:+.1f} %" if slower else "",
        span=Span((latency.low - low) * scale, (latency.median - low) * scale, (latency.high - low) * scale),
        outputs=outputs.get(candidate.name, ""),
    )


def _bare_lines(session: DeviceSession, measured: Measured) -> tuple[SessionLine, ...]:
    """Where nothing is ranked: medians, in the order of the sweep."""
    medians, outputs = medians_by_round(measured.blocks), _verdicts(session)
    twins = {twin_of(name) for name in medians}
    found = []
    for trial in session.sweep.trials.all():
        times = sorted(medians.get(trial.label, {}).values())
        if times and trial.label not in twins:
            text = f"{times[len(times) // 2]:,.0f}"
            found.append(SessionLine(trial.label, "", text, "", "", None, outputs.get(trial.label, "")))
    return tuple(found)


def _left_out(name: str, reason: str) -> SessionLine:
    return SessionLine(name, "", "", "", "", None, "", reason)


def _left_out_reasons(session: DeviceSession, measured: Measured) -> dict[str, str]:
    return dict(measured.ranking.left_out) if measured.ranking else reasons_of(session)


def _verdicts(session: DeviceSession) -> dict[str, str]:
    rows = session.outputs.select_related("trial")
    return {row.trial.label: Verdict(row.verdict).label for row in rows if row.verdict}


def _rounds(measured: Measured) -> tuple[RoundsLine, ...]:
    """The baseline and the fastest others: whether all drift together is what is to be seen."""
    medians = medians_by_round(measured.blocks)
    names = [each.name for each in measured.ranking.candidates] if measured.ranking else list(medians)
    shown = [measured.baseline, *(name for name in names if name != measured.baseline)][:MOST_LINES]
    values = [value for name in shown for value in medians.get(name, {}).values()]
    last = max((number for each in medians.values() for number in each), default=0)
    if last < 1 or not values:
        return ()
    low, span = min(values), (max(values) - min(values)) or 1.0
    return tuple(
        RoundsLine(name, _points(medians.get(name, {}), last, low, span), name == measured.baseline) for name in shown
    )


def _points(rounds: Mapping[int, float], last: int, low: float, span: float) -> str:
    return " ".join(
        f"{PLOT_WIDTH * number / last:.1f},{PLOT_HEIGHT - (PLOT_HEIGHT - 4) * (value - low) / span - 2:.1f}"
        for number, value in sorted(rounds.items())
    )


def measurable_again(sweep: Sweep) -> int:
    """Sessions that failed or were cancelled; verifications go again with them."""
    ended = (WorkState.FAILED, WorkState.CANCELLED)
    sessions = sweep.sessions.filter(state__in=ended, device__isnull=False).count()
    if not sweep.verifies_outputs:
        return sessions
    done = Verification.objects.filter(trial__sweep=sweep, trial__compilation__state=WorkState.DONE)
    return sessions + done.filter(trial__cancelled_at=None, state__in=ended).count()


@dataclass(frozen=True)
class OutputsPart:
    """Of the verifications on this host: how many came to which verdict, groups that are equal to the last bit."""

    total: int
    live: int
    counts: tuple[tuple[str, int], ...]
    groups: tuple[str, ...]
    problems: tuple[tuple[str, str, str], ...]

    @property
    def ended(self) -> int:
        return self.total - self.live


def outputs_part(sweep: Sweep) -> OutputsPart | None:
    if not sweep.verifies_outputs:
        return None
    found = Verification.objects.filter(trial__sweep=sweep).select_related("trial").order_by("trial__position")
    rows = list(found.defer("differences"))
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in Verdict}
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row.fingerprint:
            groups.setdefault(row.fingerprint, []).append(row.trial.label)
    return OutputsPart(
        total=len(rows),
        live=sum(row.is_live for row in rows),
        counts=tuple((verdict.label, count) for verdict, count in counts.items() if count),
        groups=tuple(", ".join(labels) for labels in groups.values() if len(labels) > 1),
        problems=tuple((row.trial.label, str(row.verdict or row.state), row.reason) for row in rows if row.reason),
    )


def stage_text(outputs: OutputsPart | None, parts: Sequence[SessionPart]) -> str:
    """What is left to do when all is compiled."""
    if outputs and outputs.live:
        return f"Comparing outputs: {outputs.ended} of {outputs.total}."
    at_work = [each.session for each in parts if each.session.state == WorkState.RUNNING]
    waiting = [each.session.device_name for each in parts if each.session.state == WorkState.QUEUED]
    said = [f"Measuring on {each.device_name}{f': {each.phase}' if each.phase else ''}." for each in at_work]
    if waiting:
        said.append(f"Waiting for {', '.join(waiting)}.")
    return " ".join(said)
