"""Files from programs: whole in one request, or in pieces by tus with the same token."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.http import HttpResponse
from django.urls import reverse
from django.utils.crypto import get_random_string
from ninja import Router
from ninja.files import UploadedFile

from sweeps.api.values import TokenRequest, team_of
from sweeps.models import Upload, UploadState
from sweeps.models.sources import LONGEST_NAME
from sweeps.receiving import answer
from sweeps.uploads import MOST_FILES, NotUploaded
from tunerweb.work.artifacts import keep

router = Router(tags=["uploads"])
TUS_METHODS = ["POST", "HEAD", "PATCH", "DELETE", "OPTIONS"]
FULL = (errno.ENOSPC, errno.EDQUOT)
DISK_FULL = "The server's disk is full: delete models or sweeps that nobody needs, then send this again."
NOT_WRITTEN = "The server could not write the file ({reason}). Send it again."


def receive(request: TokenRequest, files: Sequence[UploadedFile]) -> list[Upload]:
    """Files that came in one request, as if they had been uploaded."""
    if len(files) > MOST_FILES:
        raise NotUploaded(f"These are {len(files)} files; at most {MOST_FILES} make a model. Pack them in a zip.")
    return [_received(request, file) for file in files]


def _received(request: TokenRequest, file: UploadedFile) -> Upload:
    source = Path(file.temporary_file_path()) if isinstance(file, TemporaryUploadedFile) else file.read()
    upload: Upload = Upload.objects.create(
        team=team_of(request),
        owner=request.user,
        tus_id=get_random_string(32),
        name=(file.name or "model")[:LONGEST_NAME],
        size_bytes=file.size or 0,
        state=UploadState.COMPLETE,
        artifact=keep(team_of(request), source),
    )
    return upload


@router.api_operation(TUS_METHODS, "/uploads/tus", url_name="tus", summary="Upload in pieces (tus 1.0): a new file")
def tus(request: TokenRequest) -> HttpResponse:
    """The last part of the address that is answered is the file's name for `POST /api/models`."""
    return _tus(request)


@router.api_operation(TUS_METHODS, "/uploads/tus/{uuid:tus_id}", summary="Upload in pieces (tus 1.0): one file")
def tus_upload(request: TokenRequest, tus_id: UUID) -> HttpResponse:
    return _tus(request)


def _tus(request: TokenRequest) -> HttpResponse:
    try:
        status, headers, said = answer(request, request.user, team_of(request), reverse("api:tus"))
    except OSError as error:
        return _plain(*disk_refusal(error), {"Tus-Resumable": "1.0.0"})
    response = _plain(status, said, headers)
    if request.method == "OPTIONS":
        response["Tus-Max-Size"] = str(settings.ENVIRONMENT.max_upload)
    return response


def disk_refusal(error: OSError) -> tuple[int, str]:
    if error.errno in FULL:
        return 507, DISK_FULL
    return 500, NOT_WRITTEN.format(reason=os.strerror(error.errno) if error.errno else error)


def _plain(status: int, said: bytes | str, headers: dict[str, str]) -> HttpResponse:
    return HttpResponse(said, status=status, headers=headers, content_type="text/plain; charset=utf-8")
