"""The pages for what went wrong, in the dashboard's own clothes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

STALE = "This page is from before you signed in, or cookies are blocked. Go back, reload it and send it again."


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "400.html", status=400)


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """What came has no valid token: an old tab after a sign-in, or another site that tried."""
    return render(request, "403.html", {"reason": STALE}, status=403)


def broken(request: HttpRequest) -> HttpResponse:
    return render(request, "500.html", status=500)
