"""The files of a sweep and of its trials."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Router, Schema

from sweeps import exports
from sweeps.api.refusals import CONFLICTS, REFUSED
from sweeps.api.values import TokenRequest, found
from sweeps.exports import Download
from sweeps.models import Sweep, Trial
from tunerweb.streaming import send_file

router = Router(tags=["files"])
BUNDLE, TABLE = "bundle.zip", "trials.csv"
A_FILE = {"responses": {200: {"description": "The file.", "content": {"*/*": {"schema": {"format": "binary"}}}}}}


class FileOut(Schema):
    name: str
    url: str


@router.get("/sweeps/{sweep_id}/files", response={200: list[FileOut], **CONFLICTS}, summary="The files of a sweep")
def sweep_files(request: TokenRequest, sweep_id: str) -> Any:
    """When it is finished. `bundle.zip` holds the others but the table."""
    sweep = _sweep(request, sweep_id)
    names = [BUNDLE, TABLE, *exports.bundle_names(sweep)]
    return [FileOut(name=name, url=reverse("api:sweep_file", args=[sweep_id, name])) for name in names]


@router.api_operation(
    ["GET", "HEAD"],
    "/sweeps/{sweep_id}/files/{name}",
    response=CONFLICTS,
    url_name="sweep_file",
    openapi_extra=A_FILE,
    summary="One file of a sweep",
)
def sweep_file(request: TokenRequest, sweep_id: str, name: str) -> Any:
    sweep = _sweep(request, sweep_id)
    if name == BUNDLE:
        return _sent(request, exports.bundle_download(sweep))
    if name == TABLE:
        return _sent(request, exports.csv_download(sweep))
    return _sent(request, exports.bundle_file_download(sweep, name))


@router.get(
    "/sweeps/{sweep_id}/trials/{trial_id}/files", response={200: list[FileOut], **REFUSED}, summary="Files of a trial"
)
def trial_files(request: TokenRequest, sweep_id: str, trial_id: str) -> Any:
    names = exports.trial_file_names(_trial(request, sweep_id, trial_id))
    return [FileOut(name=name, url=reverse("api:trial_file", args=[sweep_id, trial_id, name])) for name in names]


@router.api_operation(
    ["GET", "HEAD"],
    "/sweeps/{sweep_id}/trials/{trial_id}/files/{name}",
    response=CONFLICTS,
    url_name="trial_file",
    openapi_extra=A_FILE,
    summary="One file of a trial",
)
def trial_file(request: TokenRequest, sweep_id: str, trial_id: str, name: str) -> Any:
    return _sent(request, exports.trial_download(_trial(request, sweep_id, trial_id), name))


def _sent(request: TokenRequest, download: Download | None) -> HttpResponseBase:
    if download is None:
        raise Http404
    return send_file(request, download.chunks, download.name, download.size_bytes, download.content_type)


def _sweep(request: TokenRequest, public_id: str) -> Sweep:
    row: Sweep = found(request, Sweep.objects.select_related("source_model", "toolchain"), public_id)
    return row


def _trial(request: TokenRequest, sweep_id: str, public_id: str) -> Trial:
    trials = exports.trials_with_files().filter(sweep=_sweep(request, sweep_id))
    row: Trial = get_object_or_404(trials, public_id=public_id)
    return row
