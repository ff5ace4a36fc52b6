"""The tus endpoint: files of any size in pieces that survive a lost connection and a restart of the server."""

from __future__ import annotations

import errno
import os
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.urls import path, reverse

from sweeps.receiving import answer
from tunerweb.accounts.http import SignedInRequest

FULL = (errno.ENOSPC, errno.EDQUOT)
DISK_FULL = (
    "The server's disk is full. What has arrived is kept: delete models or sweeps that nobody needs, then go on with "
    "this upload."
)
NOT_WRITTEN = "The server could not write the file ({reason}). What has arrived is kept; try again."


def tus(request: SignedInRequest, tus_id: UUID | None = None) -> HttpResponse:
    try:
        status, headers, said = answer(request, request.user, request.user.team, reverse("sweeps:tus"))
    except OSError as error:
        if error.errno in FULL:
            return _plain(507, DISK_FULL)
        return _plain(500, NOT_WRITTEN.format(reason=os.strerror(error.errno) if error.errno else error))
    response = HttpResponse(said, status=status, headers=headers, content_type="text/plain; charset=utf-8")
    if request.method == "OPTIONS":
        response["Tus-Max-Size"] = str(settings.ENVIRONMENT.max_upload)
    return response


def _plain(status: int, sentence: str) -> HttpResponse:
    headers = {"Tus-Resumable": "1.0.0"}
    return HttpResponse(sentence, status=status, headers=headers, content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("uploads/tus/", tus, name="tus"),
    path("uploads/tus", tus),
    path("uploads/tus/<uuid:tus_id>", tus, name="tus_upload"),
]
