"""Downloads of a sweep and of its trials."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.http import require_safe

from sweeps import exports
from sweeps.exports import Download, NotThere
from sweeps.models import Sweep
from tunerweb.accounts.http import SignedInRequest
from tunerweb.streaming import send_file

CONFLICT = 409


@require_safe
def size_report(request: SignedInRequest, public_id: str) -> HttpResponseBase:
    return _sent(request, _sweep(request, public_id), exports.size_report_download)


@require_safe
def trials_csv(request: SignedInRequest, public_id: str) -> HttpResponseBase:
    return _sent(request, _sweep(request, public_id), exports.csv_download)


@require_safe
def bundle(request: SignedInRequest, public_id: str) -> HttpResponseBase:
    return _sent(request, _sweep(request, public_id), exports.bundle_download)


@require_safe
def trial_file(request: SignedInRequest, sweep_id: str, public_id: str, name: str) -> HttpResponseBase:
    sweep = _sweep(request, sweep_id)
    trial = get_object_or_404(exports.trials_with_files().filter(sweep=sweep), public_id=public_id)
    return _sent(request, sweep, lambda _: exports.trial_download(trial, name))


def _sent(request: SignedInRequest, sweep: Sweep, make: Callable[[Sweep], Download | None]) -> HttpResponseBase:
    try:
        download = make(sweep)
    except NotThere as reason:
        return _refused(request, sweep, reason)
    if download is None:
        raise Http404
    return send_file(request, download.chunks, download.name, download.size_bytes, download.content_type)


def _refused(request: SignedInRequest, sweep: Sweep, reason: NotThere) -> HttpResponse:
    return render(request, "sweeps/downloads/refused.html", {"sweep": sweep, "reason": reason}, status=CONFLICT)


def _sweep(request: SignedInRequest, public_id: str) -> Sweep:
    found: Sweep = get_object_or_404(
        Sweep.objects.of(request.user).select_related("source_model", "toolchain"), public_id=public_id
    )
    return found


urlpatterns = [
    path("sweeps/<str:public_id>/size_report.json", size_report, name="size_report"),
    path("sweeps/<str:public_id>/trials.csv", trials_csv, name="csv"),
    path("sweeps/<str:public_id>/bundle.zip", bundle, name="bundle"),
    path("sweeps/<str:sweep_id>/trials/<str:public_id>/<str:name>", trial_file, name="trial_file"),
]
