"""Resumable uploads by the tus protocol (1.0), for one person: nobody else's uploads exist for the server made here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, cast

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from resumable_upload.exceptions import TusHookError
from resumable_upload.locks import LockBackend
from resumable_upload.server import TusServerCore
from resumable_upload.storage import Storage

from sweeps.formats import bytes_text
from sweeps.models import Upload, UploadState
from sweeps.models.sources import LONGEST_NAME
from sweeps.uploads import finish, incoming
from tunerweb.accounts.models import Team, User
from tunerweb.work.store import MIB

LARGEST_PIECE = 32 * MIB
LOCK_WAIT_S = 5.0
CHECKSUMS = ("sha1", "sha256")
UNNAMED = "unnamed"
NO_SIZE = "Say how large the file is (Upload-Length): what does not fit is refused before it is sent."


class Piece:
    """The body of a request, read as it is written to disk: the library asks for its length alone."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._length = int(request.META.get("CONTENT_LENGTH") or 0)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[bytes]:
        left = self._length
        while left and (chunk := self._request.read(min(left, MIB))):
            left -= len(chunk)
            yield chunk


def answer(request: HttpRequest, user: User, team: Team, base_path: str) -> tuple[int, dict[str, str], bytes]:
    """What the server says to one request; raises OSError when the disk is full or broken."""
    server = TusServer(
        storage=Receiver(user, team),
        base_path=base_path,
        max_chunk_size=LARGEST_PIECE,
        lock_backend=PartLocks(),
        lock_wait_seconds=LOCK_WAIT_S,
        checksum_algorithms=CHECKSUMS,
        disable_concatenation=True,
        on_upload_create=_admit,
        on_before_terminate=_is_free,
    )
    body = _body(request, base_path)
    status, headers, said = server.handle_request(str(request.method), request.path, dict(request.headers), body)
    return status, headers, cast(bytes, said)


def _body(request: HttpRequest, base_path: str) -> bytes:
    if request.path.rstrip("/") == base_path.rstrip("/"):
        # Data that comes with the creation is not taken. The answer says so by its offset, and it is sent again.
        return b""
    piece = Piece(request)
    if "Upload-Checksum" in request.headers and len(piece) <= LARGEST_PIECE:
        return b"".join(piece)
    return cast(bytes, piece)


class TusServer(TusServerCore):
    SUPPORTED_EXTENSIONS = ("creation", "termination", "checksum")


class Receiver(Storage):
    """The rows of uploads and the folder of parts, as the library wants to see them."""

    def __init__(self, user: User, team: Team) -> None:
        self.user = user
        self.team = team

    def create_upload(
        self,
        upload_id: str,
        upload_length: Any,
        metadata: dict[str, str],
        expires_at: datetime | None = None,
        is_partial: bool = False,
    ) -> None:
        incoming().start(upload_id)
        try:
            Upload.objects.create(
                team=self.team,
                owner=self.user,
                tus_id=upload_id,
                name=metadata["filename"],
                size_bytes=upload_length,
            )
        except BaseException:
            incoming().remove(upload_id)
            raise

    def get_upload(self, upload_id: str) -> dict[str, Any] | None:
        row = self._rows(upload_id).first()
        if row is None:
            return None
        is_complete = row.state == UploadState.COMPLETE
        offset = row.size_bytes if is_complete else incoming().length(upload_id)
        if offset is None:
            return None
        return {
            "upload_id": upload_id,
            "upload_length": row.size_bytes,
            "offset": offset,
            "metadata": {"filename": row.name},
            "completed": is_complete,
            "expires_at": None,
            "is_partial": False,
            "concat_partial_ids": None,
        }

    def write_chunk(self, upload_id: str, offset: int, data: bytes | Piece) -> None:
        incoming().append(upload_id, offset, data if isinstance(data, Piece) else [data])

    def update_offset_atomic(self, upload_id: str, expected_offset: int, new_offset: int) -> bool:
        """The length on disk is the offset: false when the piece was shorter than it said."""
        return incoming().length(upload_id) == new_offset

    def complete_upload(self, upload_id: str) -> bool:
        finish(self._rows(upload_id).get())
        return True

    def delete_upload(self, upload_id: str) -> None:
        self._rows(upload_id).delete()
        incoming().remove(upload_id)

    def _rows(self, upload_id: str) -> QuerySet[Upload]:
        return Upload.objects.of(self.user).filter(tus_id=upload_id, owner=self.user, team=self.team)

    def update_offset(self, upload_id: str, offset: int) -> None:
        raise NotImplementedError

    def read_file(self, upload_id: str) -> bytes:
        raise NotImplementedError

    def get_expired_uploads(self) -> list[str]:
        return []

    def cleanup_expired_uploads(self) -> int:
        return 0


class PartLocks(LockBackend):
    """Locks on the parts themselves: they hold between processes, and end with the one that holds them."""

    GONE = "gone"

    def acquire(self, key: str, ttl_seconds: float, wait_timeout: float = 0.0) -> str | None:
        try:
            descriptor = incoming().lock(key, wait_timeout)
        except FileNotFoundError:
            return self.GONE
        return None if descriptor is None else str(descriptor)

    def release(self, key: str, token: str) -> None:
        if token != self.GONE:
            incoming().unlock(int(token))


def clean_name(name: str) -> str:
    """What a browser calls the file, without folders and without what no name can show."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    shown = "".join(char for char in last if char.isprintable()).strip()
    if len(shown) > LONGEST_NAME:
        suffix = PurePosixPath(shown).suffix[:20]
        shown = shown[: LONGEST_NAME - len(suffix)] + suffix
    return shown if shown.strip(".") else UNNAMED


def _admit(upload_id: str, metadata: dict[str, str], size_bytes: int | None) -> dict[str, str]:
    """Refuse what cannot come to anything before a byte of it is sent."""
    name = clean_name(metadata.get("filename") or metadata.get("name") or "")
    most = settings.ENVIRONMENT.max_upload
    if size_bytes is None:
        raise TusHookError(NO_SIZE, status_code=400)
    if size_bytes == 0:
        raise TusHookError(f"{name} is empty (0 bytes), so there is nothing to upload.", status_code=400)
    if size_bytes > most:
        told = f"{name} is {bytes_text(size_bytes)} large, and this server takes files up to {bytes_text(most)}."
        raise TusHookError(told, status_code=413)
    free = free_bytes()
    if size_bytes > free:
        told = (
            f"{name} is {bytes_text(size_bytes)} large, and the server's disk has {bytes_text(free)} left. "
            "Delete models or sweeps that nobody needs, then send it again."
        )
        raise TusHookError(told, status_code=507)
    return {"filename": name}


def free_bytes() -> int:
    settings.ENVIRONMENT.incoming.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(settings.ENVIRONMENT.incoming).free


def _is_free(upload_id: str) -> None:
    if Upload.objects.filter(tus_id=upload_id, inspection__isnull=False).exists():
        raise TusHookError("This file belongs to an inspection by now; discard it there.", status_code=409)
