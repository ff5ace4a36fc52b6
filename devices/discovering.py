"""What is attached to this machine by adb, for the page of devices."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from devices.discovery import AttachedDevice, attached_devices
from devices.models import Device, TransportKind
from devices.transports.errors import TransportError
from tunerweb.accounts.http import SignedInRequest


@require_safe
def attached(request: SignedInRequest) -> HttpResponse:
    """A part of the list's page, asked for once it is there: adb may take a moment."""
    known = Device.objects.of(request.user).values_list("transport", "identifier")
    try:
        found, problem = attached_devices(), ""
    except TransportError as error:
        found, problem = list[AttachedDevice](), error.message
    has_host = (TransportKind.LOCAL, "") in known
    new = [device for device in found if (TransportKind.ADB, device.serial) not in known]
    context = {"attached": new, "problem": problem, "has_host": has_host}
    return render(request, "devices/_attached.html", context)
