"""The launch form and its preview, which is there while people type."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from devices.models import Device
from devices.rows import device_rows
from sweeps.actions import start_sweep
from sweeps.forms.launch import LaunchForm, first_values
from sweeps.forms.launch_choices import (
    by_reason,
    config_choices,
    model_choices,
    p_values_of,
    selected_config,
    target_choices,
)
from sweeps.models import SourceModel, Sweep
from sweeps.planning import SweepPlan
from sweeps.rows_overview import queue_lengths
from sweeps.specs import SpecRejected
from tunerweb.accounts.http import SignedInRequest
from tunerweb.work.leases import LIVE

PAGE = "sweeps/launch/launch.html"


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: SignedInRequest) -> HttpResponse:
    if request.method != "POST":
        form = LaunchForm(first_values(request.user, request.GET), user=request.user)
        return render(request, PAGE, _page(form, typing=True))
    form = LaunchForm(request.POST, user=request.user)
    sweep = _launched(form)
    return redirect(sweep) if sweep else render(request, PAGE, _page(form, typing=False))


def _launched(form: LaunchForm) -> Sweep | None:
    if not form.is_valid():
        return None
    try:
        return start_sweep(form.spec())
    except SpecRejected as error:
        form.tell(error.problems)
        return None


@require_POST
def launch_preview(request: SignedInRequest) -> HttpResponse:
    """Asked while people type, and when they come back. The fields of the dimensions are left alone while they fit."""
    form = LaunchForm(request.POST, user=request.user)
    context = _preview(form, typing=True) | {"live": True, "with_dimensions": not form.has_the_dimensions}
    return render(request, f"{PAGE}#answer", context)


def _preview(form: LaunchForm, *, typing: bool) -> dict[str, Any]:
    plan = form.review(typing=typing)
    return {"form": form, "plan": plan, "p_range": p_values_of(plan), **(_details(plan) if plan else {})} | {
        "waiting": queue_lengths(form.user)["compiles"]
    }


def _details(plan: SweepPlan) -> dict[str, Any]:
    found = {"warning": plan.warnings, "note": plan.notes}
    states = [planned.reuses.state for planned in plan.points if planned.reuses]
    return {
        "stored": sum(state not in LIVE for state in states),
        "shared": sum(state in LIVE for state in states),
        "left_out": by_reason(plan.left_out),
        "findings": [
            {"kind": kind, "path": each.path, "sentence": each.sentence} for kind in found for each in found[kind]
        ],
    }


def _page(form: LaunchForm, *, typing: bool) -> dict[str, Any]:
    chosen = form.chosen_config.version if form.chosen_config else None
    configs = config_choices(form.user, chosen)
    return _preview(form, typing=typing) | {
        "models": model_choices(form.user, form.source_model),
        "configs": configs,
        "selected_config": selected_config(configs, str(form["config"].value() or ""), chosen),
        "targets": target_choices(),
        "devices": device_rows(Device.objects.of(form.user).with_last_check().order_by("name")),
        "chosen_devices": set(form["devices"].value() or []),
        "cloned": Sweep.objects.of(form.user).filter(public_id=form["clone"].value() or "").first(),
        "has_models": form.source_model is not None or SourceModel.objects.of(form.user).exists(),
    }


urlpatterns = [
    path("sweeps/new/", launch, name="launch"),
    path("sweeps/new/preview/", launch_preview, name="launch_preview"),
]
