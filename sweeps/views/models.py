"""The list of models, and what is known of one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe
from zipstream import ZipStream

from sweeps.formats import bytes_text
from sweeps.forms.models import PRECISIONS, ModelAboutForm, ModelFilter
from sweeps.models import SourceModel
from sweeps.models.sources import SourceFormat
from sweeps.uploads import delete_model, describe_model, freed_by_model
from sweeps.views.descriptions import shown_description
from sweeps.views.inspections import (
    inspect,
    inspection,
    inspection_again,
    inspection_discard,
    inspection_keep,
    model_upload,
)
from tunerweb.accounts.http import SignedInRequest
from tunerweb.streaming import send_file
from tunerweb.work.artifacts import server_store

PAGE_SIZE = 25
MOST_SWEEPS = 10
DELETE_QUESTION = "The model and its files are lost; that frees {size}."


@require_safe
def model_list(request: SignedInRequest) -> HttpResponse:
    listed = ModelFilter(request.GET, request.user)
    page = Paginator(listed.qs, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "listed": listed,
        "page": page,
        "exists": page.paginator.count > 0 or SourceModel.objects.of(request.user).exists(),
        "formats": SourceFormat.choices,
        "precisions": PRECISIONS,
    }
    part = "#results" if request.htmx.target == "results" else ""
    return render(request, f"sweeps/models/list.html{part}", context)


@require_safe
def model(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _model_of(request, public_id)
    return render(request, "sweeps/models/model.html", _model_context(row))


@require_POST
def model_about(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _model_of(request, public_id)
    form = ModelAboutForm(request.POST)
    if not form.is_valid():
        return render(request, "sweeps/models/model.html", _model_context(row, form), status=422)
    describe_model(row, **form.cleaned_data)
    messages.success(request, "Name, tags and notes are saved.")
    return redirect("sweeps:model", public_id)


@require_POST
def model_delete(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _model_of(request, public_id)
    freed = delete_model(row)
    if freed.blocked_by:
        messages.error(request, f"{row.name} is not deleted. {freed.blocked_by}")
        return redirect("sweeps:model", public_id)
    messages.success(request, f"{row.name} is deleted.")
    return redirect("sweeps:model_list")


@require_safe
def model_download(request: SignedInRequest, public_id: str) -> HttpResponseBase:
    """The file as it was uploaded; several in one zip."""
    files = list(_model_of(request, public_id).files.select_related("artifact"))
    store = server_store()
    if len(files) == 1:
        artifact = files[0].artifact
        chunks = store.stream(artifact.sha256)
        return send_file(request, chunks, files[0].name, artifact.size_bytes, "application/octet-stream")
    packed = ZipStream(sized=True)
    for file in files:
        packed.add(store.stream(file.artifact.sha256), file.name, size=file.artifact.size_bytes)
    return send_file(request, packed, f"{files[0].name}.zip", len(packed), "application/zip")


def _model_context(row: SourceModel, form: ModelAboutForm | None = None) -> dict[str, Any]:
    tags, freed = [tag.name for tag in row.tags.all()], freed_by_model(row)
    latest = list(row.sweeps.order_by("-created_at", "-pk").values_list("pk", flat=True)[:MOST_SWEEPS])
    # Counted for those alone: sorting would count for all of them first.
    sweeps = row.sweeps.filter(pk__in=latest).with_counts().select_related("owner").order_by("-created_at", "-pk")
    about = ModelAboutForm(initial={"name": row.name, "tags": ", ".join(tags), "notes": row.notes})
    return {
        "model": row,
        "tags": tags,
        "facts": shown_description({"size_bytes": row.size_bytes} | row.description),
        "files": row.files.select_related("artifact"),
        "sweeps": sweeps,
        "sweep_count": row.sweeps.count(),
        "freed": freed,
        "delete_question": DELETE_QUESTION.format(size=bytes_text(freed.size_bytes)),
        "form": form or about,
    }


def _model_of(request: SignedInRequest, public_id: str) -> SourceModel:
    row: SourceModel = get_object_or_404(
        SourceModel.objects.of(request.user).select_related("owner"), public_id=public_id
    )
    return row


urlpatterns = [
    path("models/", model_list, name="model_list"),
    path("models/upload/", model_upload, name="model_upload"),
    path("models/uploads/", inspect, name="inspect"),
    path("models/uploads/<str:public_id>/", inspection, name="inspection"),
    path("models/uploads/<str:public_id>/keep/", inspection_keep, name="inspection_keep"),
    path("models/uploads/<str:public_id>/discard/", inspection_discard, name="inspection_discard"),
    path("models/uploads/<str:public_id>/again/", inspection_again, name="inspection_again"),
    path("models/<str:public_id>/", model, name="model"),
    path("models/<str:public_id>/about/", model_about, name="model_about"),
    path("models/<str:public_id>/delete/", model_delete, name="model_delete"),
    path("models/<str:public_id>/download/", model_download, name="model_download"),
]
