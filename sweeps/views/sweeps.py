"""The page of a sweep, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sweeps import actions, formats
from sweeps.models import Sweep
from sweeps.rows.page import page_context, parts, results_context, sweeps_for_page
from sweeps.rows.progress import progress_of
from sweeps.rows.views import PageView
from sweeps.views.addresses import address_of, query_on_page
from tunerweb.accounts.http import SignedInRequest

LOWEST_PRIORITY, HIGHEST_PRIORITY = -100, 100


@never_cache
@require_safe
def sweep(request: SignedInRequest, public_id: str) -> HttpResponse:
    return answer(request, sweep_of(request, public_id))


def answer(request: SignedInRequest, row: Sweep, **more: Any) -> HttpResponse:
    """The whole page; or its results, for a click on a tab or a head; or nothing, for one that closes the drawer."""
    view = PageView.read(request.GET)
    if request.htmx.target == "drawer":
        return HttpResponse(
            headers={"HX-Push-Url": address_of(request, query_on_page(request), row.get_absolute_url())}
        )
    if request.htmx.target != "results":
        return render(request, "sweeps/sweep/page.html", {**page_context(row, view, request), **more})
    context = results_context(row, view, progress_of(row))
    response = render(request, "sweeps/sweep/results_and_socket.html", context)
    response["HX-Push-Url"] = address_of(request, query_on_page(request, view))
    return response


@require_POST
def sweep_cancel(request: SignedInRequest, public_id: str) -> HttpResponse:
    return _asked(request, public_id, actions.cancel_sweep)


@require_POST
def sweep_pause(request: SignedInRequest, public_id: str) -> HttpResponse:
    return _asked(request, public_id, actions.pause_sweep)


@require_POST
def sweep_resume(request: SignedInRequest, public_id: str) -> HttpResponse:
    return _asked(request, public_id, actions.resume_sweep)


@require_POST
def session_cancel(request: SignedInRequest, public_id: str, session_id: str) -> HttpResponse:
    """The sweep goes on without this device."""
    row = sweep_of(request, public_id)
    session = get_object_or_404(row.sessions.select_related("sweep"), public_id=session_id)
    return _asked(request, public_id, lambda _: actions.cancel_session(session))


@require_POST
def sweep_retry(request: SignedInRequest, public_id: str) -> HttpResponse:
    return _asked(request, public_id, actions.retry_failed)


@require_POST
def sweep_priority(request: SignedInRequest, public_id: str) -> HttpResponse:
    """What is no number, or out of bounds, changes nothing."""
    text = request.POST.get("priority", "")
    digits = text.removeprefix("-")
    number = int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 4 else None
    if number is None or not LOWEST_PRIORITY <= number <= HIGHEST_PRIORITY:
        messages.error(request, f"A priority is a whole number from {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}.")
        return _back(request, sweep_of(request, public_id))
    return _asked(request, public_id, lambda row: actions.set_priority(row, number))


@require_http_methods(["GET", "HEAD", "POST"])
def sweep_delete(request: SignedInRequest, public_id: str) -> HttpResponse:
    """First what would go, then the deletion."""
    row = sweep_of(request, public_id)
    if request.method != "POST":
        context = {"sweep": row, "freed": actions.freed_by(row), "trial_count": row.trials.count()}
        page = "sweeps/sweep/delete.html#question" if request.htmx else "sweeps/sweep/delete.html"
        return render(request, page, context)
    freed = actions.delete_sweep(row)
    if freed.blocked_by:
        messages.error(request, f"{row.name} was not deleted. {freed.blocked_by}")
        return redirect(row)
    messages.success(request, f"{row.name} is deleted. {formats.bytes_text(freed.size_bytes)} are free again.")
    return redirect("sweeps:sweep_list")


def sweep_of(request: SignedInRequest, public_id: str) -> Sweep:
    row: Sweep = get_object_or_404(sweeps_for_page().of(request.user), public_id=public_id)
    return row


def _asked(request: SignedInRequest, public_id: str, act: Callable[[Sweep], object]) -> HttpResponse:
    """Asked twice, the second time changes nothing."""
    row = sweep_of(request, public_id)
    act(row)
    return _back(request, row)


def _back(request: SignedInRequest, row: Sweep) -> HttpResponse:
    return changed_parts(request, row.public_id) if request.htmx else redirect(row)


def changed_parts(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The live parts as they are now, for whoever asked, also where no websocket gets through."""
    view = PageView.read(query_on_page(request))
    found = parts(sweep_of(request, public_id), view, request, all_of_it=False)
    return HttpResponse("".join(_movable(html) for html in found.values()))


def _movable(html: str) -> str:
    """A row alone is no HTML: a parser would drop its tags."""
    return f"<template>{html}</template>" if html.startswith(("<tr", "<thead")) else html


urlpatterns = [
    path("sweeps/<str:public_id>/", sweep, name="sweep"),
    path("sweeps/<str:public_id>/cancel/", sweep_cancel, name="sweep_cancel"),
    path("sweeps/<str:public_id>/pause/", sweep_pause, name="sweep_pause"),
    path("sweeps/<str:public_id>/resume/", sweep_resume, name="sweep_resume"),
    path("sweeps/<str:public_id>/devices/<str:session_id>/cancel/", session_cancel, name="session_cancel"),
    path("sweeps/<str:public_id>/retry/", sweep_retry, name="sweep_retry"),
    path("sweeps/<str:public_id>/priority/", sweep_priority, name="sweep_priority"),
    path("sweeps/<str:public_id>/delete/", sweep_delete, name="sweep_delete"),
]
