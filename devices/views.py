"""The list of devices, one device with its checks, and what can be asked for."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from devices import actions, lifecycle
from devices.forms import DeviceForm, QuarantineForm, SecretForm
from devices.models import Device, DeviceSecret, Platform
from devices.rows import device_row, device_rows
from tunerweb.accounts.http import SignedInRequest

MOST_CHECKS = 10


@require_safe
def device_list(request: SignedInRequest) -> HttpResponse:
    devices = Device.objects.of(request.user).with_last_check().order_by("name", "pk")
    context = {"rows": device_rows(devices), "exists": devices.exists()}
    part = "#rows" if request.htmx.target == "devices" else ""
    return render(request, f"devices/list.html{part}", context)


@require_http_methods(["GET", "HEAD", "POST"])
def device_new(request: SignedInRequest) -> HttpResponse:
    if request.method == "POST":
        form = DeviceForm(request.POST, team=request.user.team)
        if form.is_valid():
            return redirect(actions.register(form.cleaned_data, request.user, form.team))
        return render(request, "devices/new.html", _new_context(form), status=422)
    return render(request, "devices/new.html", _new_context(_fresh_form(request)))


@require_safe
def device(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _device_of(request, public_id)
    part = "#live" if request.htmx.target == "device-live" else ""
    return render(request, f"devices/device.html{part}", _context(row))


@require_POST
def device_check(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _device_of(request, public_id)
    actions.check(row, request.user)
    return redirect(row)


@require_POST
def device_secrets(request: SignedInRequest, public_id: str) -> HttpResponse:
    row, form = _device_of(request, public_id), SecretForm(request.POST)
    if not form.is_valid():
        return render(request, "devices/device.html", _context(row, form), status=422)
    actions.write_secrets(row, form.cleaned_data)
    actions.check(row, request.user)
    messages.success(request, "The secret is kept, encrypted. The device is tested with it now.")
    return redirect(row)


@require_POST
def device_host_key(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Somebody says that the machine was set up anew: the next check pins the key it shows then."""
    row = _device_of(request, public_id)
    lifecycle.forget_host_key(row)
    actions.check(row, request.user)
    return redirect(row)


@require_POST
def device_quarantine(request: SignedInRequest, public_id: str) -> HttpResponse:
    row, form = _device_of(request, public_id), QuarantineForm(request.POST)
    if row.quarantined_at:
        lifecycle.end_quarantine(row)
    else:
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        lifecycle.quarantine(row, reason or f"set aside by {request.user.get_username()}")
    return redirect(row)


@require_POST
def device_delete(request: SignedInRequest, public_id: str) -> HttpResponse:
    row = _device_of(request, public_id)
    try:
        actions.delete(row)
    except actions.NotNow as error:
        messages.error(request, str(error))
        return redirect("devices:device", public_id)
    messages.success(request, f"{row.name} is removed.")
    return redirect("devices:device_list")


@require_GET
def form_fields(request: SignedInRequest) -> HttpResponse:
    """The form for another platform: what was typed stays."""
    return render(request, "devices/new.html#fields", _new_context(_fresh_form(request)))


def _fresh_form(request: SignedInRequest) -> DeviceForm:
    return DeviceForm(team=request.user.team, initial={"platform": Platform.ANDROID, **request.GET.dict()})


def _new_context(form: DeviceForm) -> dict[str, Any]:
    return {"form": form, "platform": form["platform"].value(), "transport": form["transport"].value()}


def _context(row: Device, form: SecretForm | None = None) -> dict[str, Any]:
    checks = list(row.checks.select_related("owner").order_by("-pk")[:MOST_CHECKS])
    return {
        "device": row,
        "row": device_row(row),
        "check": checks[0] if checks else None,
        "checks": checks[1:],
        "secrets": DeviceSecret.objects.filter(device=row).order_by("kind"),
        "form": form or SecretForm(),
    }


def _device_of(request: SignedInRequest, public_id: str) -> Device:
    rows = Device.objects.of(request.user).with_last_check().select_related("owner", "hold")
    found: Device = get_object_or_404(rows, public_id=public_id)
    return found
