"""The sweep page and its live parts: one context, the same templates."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from sweeps.models import Sweep, Toolchain
from sweeps.querysets import SweepQuerySet
from sweeps.ranking import Metric
from sweeps.rows.charts import KEYS, chart_data
from sweeps.rows.judging import Judgement, judgement_of
from sweeps.rows.lines import ranking_table
from sweeps.rows.progress import Progress, progress_of
from sweeps.rows.sessions import (
    disagreement_sentences,
    measurable_again,
    outputs_part,
    session_parts,
    stage_text,
)
from sweeps.rows.trials import TrialRow, TrialTable, trial_table
from sweeps.rows.views import PageView

FOLDER = "sweeps/sweep"
MOST_JUDGED_LIVE = 200
MOST_DRAWN = 500
PRIORITIES = ((50, "first of all"), (10, "before others"), (0, "normal"), (-10, "after others"))
TABS = (
    (Metric.ROM, "ROM", False),
    (Metric.RAM, "RAM", False),
    (Metric.DRAM, "DRAM", False),
    (Metric.CYCLES, "Cycles", True),
)


def sweeps_for_page() -> SweepQuerySet:
    related = ("source_model", "config_version__config", "toolchain", "owner", "cloned_from")
    found: SweepQuerySet = Sweep.objects.select_related(*related)
    return found.defer("source_model__description", "config_version__text")


def page_context(sweep: Sweep, view: PageView, request: HttpRequest) -> dict[str, Any]:
    """All that the page shows; the number of queries does not depend on the number of trials."""
    progress = progress_of(sweep)
    return {
        **head_context(sweep, progress),
        **sessions_context(sweep),
        **results_context(sweep, view, progress),
        **trials_context(trial_table(sweep, view.page), request),
        "tags": list(sweep.tags.all()),
    }


def head_context(sweep: Sweep, progress: Progress) -> dict[str, Any]:
    retryable = progress.retryable + measurable_again(sweep)
    return {
        "sweep": sweep,
        "progress": progress,
        "state": state_of(sweep, progress),
        "took_s": took_s(sweep),
        "target_label": sweep.target.label,
        "toolchain_label": toolchain_label(sweep.toolchain),
        "retryable": retryable,
        "retry_label": f"Retry {'failed' if retryable == progress.failed else 'unfinished'} ({retryable})",
        "is_live": sweep.finished_at is None,
        "priorities": PRIORITIES,
    }


def sessions_context(sweep: Sweep) -> dict[str, Any]:
    """What is found out by running the binaries; empty for a sweep that runs none."""
    outputs, sessions = outputs_part(sweep), session_parts(sweep)
    return {
        "sweep": sweep,
        "outputs": outputs,
        "sessions": sessions,
        "contradictions": disagreement_sentences(sessions) if len(sessions) > 1 else [],
        "stage": stage_text(outputs, sessions),
    }


def results_context(sweep: Sweep, view: PageView, progress: Progress) -> dict[str, Any]:
    judgement = judgement_of(sweep)
    ranking = ranking_table(sweep, judgement, view)
    return {
        "sweep": sweep,
        "view": view,
        "progress": progress,
        "tabs": TABS,
        "judgement": judgement,
        "sentence": "" if progress.live else judgement.by_metric.get(view.by, ""),
        "ranking": ranking,
        "leaders": leaders(judgement),
        "scatter_x": KEYS[view.by],
        "scatter_y": KEYS[Metric.ROM if view.by is Metric.CYCLES else Metric.CYCLES],
        "chart": chart_data(sorted(ranking.trials[:MOST_DRAWN], key=lambda trial: trial.order)),
        "failure": failure_of(sweep, judgement, progress),
    }


def trials_context(table: TrialTable, request: HttpRequest) -> dict[str, Any]:
    return {"table": table, "rows": [row_html(row, request) for row in table.rows]}


def row_html(row: TrialRow, request: HttpRequest, *, oob: bool = False) -> SafeString:
    if row.is_live:
        return _html("trials.html#row", {"row": row, "oob": oob}, request)
    return _ended_row(row, oob)


@lru_cache(maxsize=4096)
def _ended_row(row: TrialRow, oob: bool) -> SafeString:
    """It has no form, and looks the same for everybody from now on."""
    return _html("trials.html#row", {"row": row, "oob": oob}, None)


def state_of(sweep: Sweep, progress: Progress) -> str:
    """In a word. A sweep has no state of its own: it follows its trials."""
    if sweep.finished_at:
        if sweep.cancelled_at:
            return "cancelled"
        return "done" if progress.done else "failed" if progress.failed else "rejected"
    if sweep.paused_at:
        return "paused"
    return "running" if progress.running or progress.converting or progress.finished else "queued"


def toolchain_label(toolchain: Toolchain) -> str:
    """`QAIRT 2.51`: the release that people know the build by."""
    found = re.match(r"v?([0-9]+\.[0-9]+)", toolchain.build_id)
    return f"QAIRT {found[1]}" if found else str(toolchain)


def took_s(sweep: Sweep) -> float | None:
    return (sweep.finished_at - sweep.created_at).total_seconds() if sweep.finished_at else None


def leaders(judgement: Judgement) -> list[tuple[str, str, float, int]]:
    """What is smaller than the baseline: the metric, the best point, the difference, how many share the place."""
    found = []
    for metric, name, _ in TABS:
        first = [trial for trial in judgement.done if trial.metrics[metric].rank == 1]
        difference = first[0].metrics[metric].difference_percent if first else None
        if difference is not None and difference < 0:
            best = min(first, key=lambda trial: trial.order)
            found.append((name, best.label, difference, len(first)))
    return found


def failure_of(sweep: Sweep, judgement: Judgement, progress: Progress) -> dict[str, str] | None:
    """What to say of a finished sweep that has nothing to rank."""
    if not sweep.finished_at or judgement.done:
        return None
    if progress.cancelled == progress.total:
        return {"what": "Cancelled before anything was compiled.", "why": "", "next": RETRY}
    reasons = sorted({trial.error for trial in judgement.trials if trial.error})
    why = reasons[0] if len(reasons) == 1 else f"{len(reasons)} different reasons; each trial below says its own."
    return {"what": "Nothing compiled.", "why": why, "next": RETRY if progress.failed or progress.cancelled else CHANGE}


RETRY = "Retry the failed trials, or change the settings in a clone."
CHANGE = "The compiler refused every point, and would again: change the config or the target in a clone."


def parts(sweep: Sweep, view: PageView, request: HttpRequest, *, all_of_it: bool) -> dict[str, str]:
    """Element id to its HTML, to be swapped in wherever it is. The ranking changes its order only when all is done."""
    progress = progress_of(sweep)
    table = trial_table(sweep, view.page)
    context = {**head_context(sweep, progress), **sessions_context(sweep), "table": table, "view": view, "oob": True}
    found: dict[str, str] = {"sweep-title": _html("head.html#title", context, request)}
    found["sweep-actions"] = _html("head.html#actions", context, request)
    if progress.total <= MOST_JUDGED_LIVE or all_of_it or sweep.finished_at:
        context |= results_context(sweep, view, progress)
        found["chart-source"] = _html("results.html#data", context, request)
        found["ranking-news"] = _html("results.html#news", context, request)
        if all_of_it or sweep.finished_at:
            found["ranking"] = _html("results.html#ranking", context, request)
    found["sweep-verdict"] = _html("verdict.html", context, request)
    found["sweep-sessions"] = _html("sessions.html", context, request)
    found["trials-counts"] = _html("trials.html#counts", context, request)
    found["trials-head"] = _html("trials.html#head", context, request)
    for row in table.rows:
        found[f"trial-{row.public_id}"] = row_html(row, request, oob=True)
    return found


def _html(name: str, context: dict[str, Any], request: HttpRequest | None) -> SafeString:
    return SafeString(render_to_string(f"{FOLDER}/{name}", context, request).strip())
