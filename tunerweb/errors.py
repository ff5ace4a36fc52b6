"""The pages for what went wrong, in the dashboard's own clothes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def broken(request: HttpRequest) -> HttpResponse:
    return render(request, "500.html", status=500)
