"""Sends files as browsers do, and puts inspections where a worker would have left them."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from sweeps.models import Inspection, Upload
from sweeps.uploads import incoming, start_inspection, uploads_named
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import WorkState
from tunerweb.work.models import Artifact

TUS = "/uploads/tus/"
CONTENT = os.urandom(3 * 2**20)
OFFSET_STREAM = "application/offset+octet-stream"


class Sender:
    """A client of tus for one signed-in person, request by request."""

    def __init__(self, person: User) -> None:
        self.client = Client()
        self.client.force_login(person)

    def send(self, method: str, url: str, body: bytes = b"", **headers: str) -> HttpResponse:
        named = {"Tus-Resumable": "1.0.0", **{key.replace("_", "-"): value for key, value in headers.items()}}
        return self.client.generic(method, url, body, content_type=OFFSET_STREAM, headers=named)

    def create(self, size: int | str, name: str = "model.dlc") -> HttpResponse:
        metadata = f"filename {base64.b64encode(name.encode()).decode()}"
        return self.send("POST", TUS, Upload_Length=str(size), Upload_Metadata=metadata)

    def begin(self, size: int, name: str = "model.dlc") -> str:
        response = self.create(size, name)
        assert response.status_code == 201, response.content
        return str(response["Location"])

    def patch(self, url: str, offset: int, body: bytes) -> HttpResponse:
        return self.send("PATCH", url, body, Upload_Offset=str(offset))

    def upload(self, content: bytes, name: str = "model.dlc", piece: int = 2**20) -> str:
        """The id that the client knows."""
        url = self.begin(len(content), name)
        for offset in range(0, len(content), piece):
            assert self.patch(url, offset, content[offset : offset + piece]).status_code == 204
        return id_of(url)


def id_of(url: str) -> str:
    return url.rpartition("/")[2]


def uploaded(person: User, content: bytes, name: str = "model.dlc") -> list[Upload]:
    return uploads_named([Sender(person).upload(content, name)], person, person.team)


def inspected(person: User, content: bytes, **description: Any) -> Inspection:
    """As a worker would have settled it."""
    inspection = start_inspection(uploaded(person, content), person)
    inspection.state = WorkState.DONE
    inspection.description = {
        "format": "dlc",
        "problem": None,
        "model_file": "model.dlc",
        "sha256": hashlib.sha256(content).hexdigest(),
        "size_bytes": len(content),
        "precision": None,
        **description,
    }
    inspection.save()
    return inspection


def parts() -> list[str]:
    folder = incoming().folder
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def age() -> None:
    """As if all had been there for a while."""
    long_ago = time.time() - 86_400 * 30
    Artifact.objects.update(kept_at=timezone.now() - timedelta(days=30))
    for sha256 in server_store().hashes():
        os.utime(server_store().path(sha256), (long_ago, long_ago))
