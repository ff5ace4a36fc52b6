"""From chosen files to a kept model: the upload page, and the inspection that says live what the files are."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from sweeps.forms.models import ModelAboutForm
from sweeps.models import Inspection
from sweeps.uploads import (
    NotKept,
    NotUploaded,
    can_be_kept,
    discard,
    inspect_again,
    keep_model,
    known_model,
    start_inspection,
    uploads_named,
)
from sweeps.views.descriptions import shown_description
from tunerweb.accounts.http import SignedInRequest
from tunerweb.work.leases import WorkState

INSPECTION = "sweeps/models/inspection.html"
MOST_UNDECIDED = 10


@require_safe
def model_upload(request: SignedInRequest) -> HttpResponse:
    undecided = Inspection.objects.of(request.user).filter(owner=request.user, source_model=None)
    context = {
        "max_upload": settings.ENVIRONMENT.max_upload,
        "undecided": undecided.order_by("-pk").prefetch_related("uploads")[:MOST_UNDECIDED],
    }
    return render(request, "sweeps/models/upload.html", context)


@require_POST
def inspect(request: SignedInRequest) -> HttpResponse:
    """Asked by the upload page's script, which shows a sentence or follows the redirect."""
    try:
        uploads = uploads_named(request.POST.getlist("upload"), request.user, request.user.team)
    except NotUploaded as error:
        return HttpResponse(str(error), status=422, content_type="text/plain; charset=utf-8")
    url = reverse("sweeps:inspection", args=[start_inspection(uploads, request.user).public_id])
    if request.htmx:
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


@require_safe
def inspection(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _inspection_of(request, public_id)
    template = f"{INSPECTION}#inspection" if request.htmx else INSPECTION
    return render(request, template, inspection_context(row))


def inspection_context(row: Inspection, form: ModelAboutForm | None = None) -> dict[str, Any]:
    uploads = list(row.uploads.order_by("pk"))
    description = row.description or {}
    is_done = row.state == WorkState.DONE
    name = description.get("model_file") or (uploads[0].name if uploads else "")
    return {
        "inspection": row,
        "uploads": uploads,
        "size_bytes": sum(upload.size_bytes for upload in uploads),
        "title": name,
        "state": "inspecting" if row.state == WorkState.RUNNING else row.state,
        "is_done": is_done,
        "facts": shown_description(description) if is_done else None,
        "known": known_model(row) if is_done else None,
        "can_be_kept": is_done and can_be_kept(row),
        "form": form or ModelAboutForm(initial={"name": name}),
    }


@require_POST
def inspection_keep(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _inspection_of(request, public_id)
    form = ModelAboutForm(request.POST)
    if not form.is_valid():
        return render(request, INSPECTION, inspection_context(row, form), status=422)
    try:
        model = keep_model(row, user=request.user, **form.cleaned_data)
    except NotKept as error:
        messages.error(request, str(error))
        return redirect("sweeps:inspection", public_id)
    return redirect("sweeps:model", model.public_id)


@require_POST
def inspection_discard(request: SignedInRequest, public_id: str) -> HttpResponse:
    discard(_inspection_of(request, public_id))
    messages.success(request, "Discarded. Its files are removed from the server.")
    return redirect("sweeps:model_upload")


@require_POST
def inspection_again(request: SignedInRequest, public_id: str) -> HttpResponse:
    inspect_again(_inspection_of(request, public_id))
    return redirect("sweeps:inspection", public_id)


def _inspection_of(request: SignedInRequest, public_id: str) -> Inspection:
    row: Inspection = get_object_or_404(Inspection.objects.of(request.user), public_id=public_id)
    return row
