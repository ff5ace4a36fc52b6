"""The list of configs, and what is done with a saved one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from devices.targets import all_socs
from sweeps.configs import wrapper_json
from sweeps.configs.reviewing import laid_out, review
from sweeps.configs.text_diff import diff_texts
from sweeps.forms.configs import AboutForm, ListForm
from sweeps.models import CompileConfig, ConfigVersion, Tag
from sweeps.saving import ConfigInUse, archive_config, delete_config, describe_config, restore_version
from sweeps.views.config_editor import (
    about_context,
    about_form,
    config,
    config_check,
    config_new,
    config_of,
    version_of,
)
from tunerweb.accounts.http import SignedInRequest
from tunerweb.accounts.models import User

PAGE_SIZE = 25
LARGEST_CHECKED_IN_LISTS = 64 * 1024


@require_safe
@vary_on_headers("HX-Request")
def config_list(request: SignedInRequest) -> HttpResponse:
    form = ListForm(request.GET, user=request.user)
    page = Paginator(form.configs(), PAGE_SIZE).get_page(request.GET.get("page"))
    everything = CompileConfig.objects.of(request.user)
    context = {
        "form": form,
        "page": page,
        "rows": _rows(page.object_list),
        "sort": form.order,
        "archived_count": everything.exclude(archived_at=None).count(),
    }
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "sweeps/configs/list.html#results", context)
    context |= {
        "exists": page.paginator.count > 0 or everything.exists(),
        "socs": all_socs(),
        "tags": Tag.objects.filter(compile_configs__in=everything).distinct(),
        "owners": User.objects.filter(pk__in=everything.values("owner")).order_by("username"),
    }
    return render(request, "sweeps/configs/list.html", context)


def _rows(page: Iterable[Any]) -> list[dict[str, Any]]:
    configs = list(page)
    prefetch_related_objects(configs, "tags")
    versions = ConfigVersion.objects.filter(config__in=configs)
    latest = versions.filter(pk__in=[row.latest_pk for row in configs]).select_related("created_by").in_bulk()
    counted = versions.values("config").annotate(version_count=Count("pk", distinct=True), sweep_count=Count("sweeps"))
    counts = {count["config"]: count for count in counted}
    socs = {soc.soc_model: soc for soc in all_socs()}
    return [
        {
            "config": row,
            "latest": latest[row.latest_pk],
            "counts": counts[row.pk],
            "soc": socs.get(row.soc_model),
            "mark": mark_of(latest[row.latest_pk].text),
            "tags": [tag.name for tag in row.tags.all()],
        }
        for row in configs
    ]


def mark_of(text: str) -> dict[str, Any] | None:
    """What a list says of a text: checked for the SoC that it names."""
    return _mark(text) if len(text) <= LARGEST_CHECKED_IN_LISTS else None


@lru_cache(maxsize=1024)
def _mark(text: str) -> dict[str, Any]:
    checked = review(text)
    return {"problems": checked.problems, "text": checked.problems_text, "headline": checked.headline}


@require_safe
def config_compare(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = config_of(request, public_id)
    old, new = (version_of(row, request.GET.get(name, "")) for name in ("old", "new"))
    context = {
        "config": row,
        "old": old,
        "new": new,
        "diff": diff_texts(old.text, new.text),
        "versions": row.versions.order_by("-number").defer("text"),
    }
    return render(request, "sweeps/configs/compare.html", context)


@require_POST
def config_restore(request: SignedInRequest, public_id: str, number: int) -> HttpResponse:
    row = config_of(request, public_id)
    saved = restore_version(row, request.user, version_of(row, str(number)))
    if saved.is_new:
        messages.success(request, f"Version {saved.version.number} has the text of version {number}.")
    else:
        messages.info(request, f"Version {number} has the text of the latest version already.")
    return redirect("sweeps:config", row.public_id)


@require_POST
def config_about(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = config_of(request, public_id)
    form = AboutForm(request.POST)
    is_kept = form.is_valid()
    if is_kept:
        describe_config(row, **form.cleaned_data)
        form = about_form(row)
    if request.htmx:
        return render(request, "sweeps/configs/_about.html", about_context(row, form) | {"is_kept": is_kept})
    if not is_kept:
        return render(request, "sweeps/configs/about.html", about_context(row, form))
    messages.success(request, "Name, tags and notes are saved.")
    return redirect("sweeps:config", row.public_id)


@require_POST
def config_archive(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = config_of(request, public_id)
    archive_config(row, archived=request.POST.get("archived") == "yes")
    said = "Archived: lists and forms leave it out now." if row.archived_at else "Back in the lists."
    messages.success(request, said)
    return redirect("sweeps:config", row.public_id)


@require_POST
def config_delete(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = config_of(request, public_id)
    try:
        delete_config(row)
    except ConfigInUse as error:
        context = {"config": row, "sweeps": error.sweeps, "count": error.count}
        return render(request, "sweeps/configs/in_use.html", context, status=409)
    messages.success(request, f"{row.name} is deleted.")
    return redirect("sweeps:config_list")


@require_safe
def config_file(request: SignedInRequest, public_id: str, number: int, kind: str) -> HttpResponse:
    """`settings`: strict JSON, as Qualcomm's tools take it; `typed`: what was typed; `wrapper`: names the settings."""
    row = config_of(request, public_id)
    version = version_of(row, str(number))
    name = f"{slugify(row.name)[:60] or 'config'}_v{number}"
    if kind not in ("settings", "wrapper", "typed"):
        raise Http404
    if kind == "wrapper":
        return _download(json.dumps(wrapper_json(f"{name}.json"), indent=2) + "\n", f"{name}_wrapper.json")
    if kind == "typed":
        return _download(version.text, f"{name}_typed.json")
    checked = review(version.text)
    if checked.settings is None:
        messages.error(request, f"Version {number} has {checked.headline} Correct it to download the settings.")
        return redirect("sweeps:config", row.public_id)
    return _download(laid_out(checked.settings), f"{name}.json")


def _download(text: str, name: str) -> HttpResponse:
    disposition = content_disposition_header(True, name) or "attachment"
    return HttpResponse(text, content_type="application/json", headers={"Content-Disposition": disposition})


urlpatterns = [
    path("configs/", config_list, name="config_list"),
    path("configs/new/", config_new, name="config_new"),
    path("configs/check/", config_check, name="config_check"),
    path("configs/<str:public_id>/", config, name="config"),
    path("configs/<str:public_id>/about/", config_about, name="config_about"),
    path("configs/<str:public_id>/archive/", config_archive, name="config_archive"),
    path("configs/<str:public_id>/delete/", config_delete, name="config_delete"),
    path("configs/<str:public_id>/compare/", config_compare, name="config_compare"),
    path("configs/<str:public_id>/versions/<int:number>/restore/", config_restore, name="config_restore"),
    path("configs/<str:public_id>/versions/<int:number>/<str:kind>.json", config_file, name="config_file"),
]
