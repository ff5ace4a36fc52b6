"""One trial: a drawer over the page of its sweep."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from sweeps import actions, exports
from sweeps.models import Sweep, Trial
from sweeps.rows.drawer import drawer_context, log_of
from sweeps.views.addresses import address_of, query_on_page
from sweeps.views.sweeps import answer, changed_parts, sweep_of
from tunerweb.accounts.http import SignedInRequest


@never_cache
@require_safe
def trial(request: SignedInRequest, sweep_id: str, public_id: str) -> HttpResponse:
    """In place when it is asked for in place; else the whole page with the drawer open."""
    sweep = sweep_of(request, sweep_id)
    row = _trial_of(sweep, public_id)
    query = query_on_page(request)
    closed_url = address_of(request, query, sweep.get_absolute_url())
    drawer = drawer_context(sweep, row) | {"files": exports.trial_file_names(row)}
    drawer["has_actions"] = row.is_live or drawer["retryable"] or drawer["files"]
    context = {"drawer": drawer, "closed_url": closed_url}
    if request.htmx.target != "drawer":
        return answer(request, sweep, **context)
    is_open = (request.htmx.current_url_abs_path or "").split("?")[0] == request.path
    response = render(request, "sweeps/sweep/drawer.html", {**context, "sweep": sweep, "is_new": not is_open})
    response["HX-Push-Url"] = "false" if is_open else address_of(request, query, request.path)
    return response


@require_safe
def trial_log(request: SignedInRequest, sweep_id: str, public_id: str) -> HttpResponse:
    log = log_of(_trial_of(sweep_of(request, sweep_id), public_id).compilation)
    if request.htmx:
        return render(request, "sweeps/sweep/log.html", {"log": log})
    return HttpResponse(log.problem or log.text, content_type="text/plain; charset=utf-8")


@require_POST
def trial_cancel(request: SignedInRequest, sweep_id: str, public_id: str) -> HttpResponse:
    sweep = sweep_of(request, sweep_id)
    actions.cancel_trial(_trial_of(sweep, public_id))
    return changed_parts(request, sweep_id) if request.htmx else redirect(sweep)


def _trial_of(sweep: Sweep, public_id: str) -> Trial:
    trials = sweep.trials.with_work().select_related("compilation__log", "compilation__conversion__dlc", "sweep")
    row: Trial = get_object_or_404(trials, public_id=public_id)
    return row


urlpatterns = [
    path("sweeps/<str:sweep_id>/trials/<str:public_id>/", trial, name="trial"),
    path("sweeps/<str:sweep_id>/trials/<str:public_id>/log/", trial_log, name="trial_log"),
    path("sweeps/<str:sweep_id>/trials/<str:public_id>/cancel/", trial_cancel, name="trial_cancel"),
]
