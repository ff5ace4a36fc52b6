"""The first page: what runs, what came out lately, and what it runs on."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from sweeps.actions import cancel_sweep
from sweeps.models import Sweep
from sweeps.rows_overview import PAGE, first_steps, is_first_run, overview_context, overview_parts
from tunerweb.accounts.http import SignedInRequest


@require_safe
def overview(request: SignedInRequest) -> HttpResponse:
    context = overview_context(request.user)
    if is_first_run(request.user):
        context |= {"first_run": True, **first_steps(request.user)}
    return render(request, PAGE, context)


@require_POST
def overview_cancel(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Answers with the page's parts, also where no websocket gets through."""
    cancel_sweep(get_object_or_404(Sweep.objects.of(request.user), public_id=public_id))
    if not request.htmx:
        return redirect("sweeps:overview")
    return HttpResponse("".join(overview_parts(request.user).values()))


urlpatterns = [
    path("", overview, name="overview"),
    path("overview/cancel/<str:public_id>/", overview_cancel, name="overview_cancel"),
]
