"""Content-addressed files: the name is the sha256. A file is whole or absent, and nothing is read unverified."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MIB = 1024 * 1024
INCOMING = "incoming"
SHA256 = re.compile(r"[0-9a-f]{64}")


class StoreDamaged(OSError):
    """A file's content is not what its name says. Give the content in again to heal it."""


@dataclass(frozen=True)
class Stored:
    sha256: str
    size_bytes: int


class Store:
    """The folder may be shared by any number of processes. Giving in what is there already makes it young again."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, source: bytes | Path) -> Stored:
        """Copy in. Raises OSError (a full disk) and then leaves nothing."""
        copy = self._new_copy()
        try:
            sha256 = _copy_and_hash(source, copy)
            return self.adopt(copy, sha256)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise

    def adopt(self, path: Path, sha256: str) -> Stored:
        """Move in by a rename, from the same file system; the hash is known from receiving or copying it."""
        target = self.path(sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        size_bytes = _sync(path)
        os.utime(path)
        with self._held(fcntl.LOCK_SH):
            path.replace(target)
        _sync_folder(target.parent)
        return Stored(sha256, size_bytes)

    def path(self, sha256: str) -> Path:
        if not SHA256.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is not a sha256.")
        return self.root / sha256[:2] / sha256

    def contains(self, sha256: str) -> bool:
        return self.path(sha256).is_file()

    def size_bytes(self, sha256: str) -> int:
        return self.path(sha256).stat().st_size

    def read(self, sha256: str) -> bytes:
        """Raises `StoreDamaged`, or FileNotFoundError."""
        return b"".join(self.stream(sha256))

    def stream(self, sha256: str, chunk_bytes: int = MIB) -> Iterator[bytes]:
        """Verified while read: raises `StoreDamaged` before the last chunk is given out."""
        digest = hashlib.sha256()
        with self.path(sha256).open("rb") as file:
            chunk = file.read(chunk_bytes)
            while following := file.read(chunk_bytes):
                digest.update(chunk)
                yield chunk
                chunk = following
        digest.update(chunk)
        if digest.hexdigest() != sha256:
            raise StoreDamaged(f"The stored file {sha256[:12]}… is damaged: its content is not what was stored.")
        yield chunk

    def remove(self, sha256: str) -> None:
        self.path(sha256).unlink(missing_ok=True)

    def remove_if_older(self, sha256: str, older_than_s: float) -> bool:
        """Only what nobody gave in meanwhile: a file that is young again stays."""
        path = self.path(sha256)
        with self._held(fcntl.LOCK_EX), contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime >= older_than_s:
                path.unlink()
                return True
        return False

    def hashes(self) -> Iterator[str]:
        for folder in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            yield from sorted(path.name for path in folder.iterdir() if SHA256.fullmatch(path.name))

    def remove_leftovers(self, older_than_s: float) -> None:
        """Copies whose process was killed. Younger ones may still be written."""
        for path in (self.root / INCOMING).glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime >= older_than_s:
                    path.unlink()

    def _new_copy(self) -> Path:
        folder = self.root / INCOMING
        folder.mkdir(parents=True, exist_ok=True)
        return folder / secrets.token_hex(16)

    @contextlib.contextmanager
    def _held(self, how: int) -> Iterator[None]:
        descriptor = os.open(self.root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)


def _copy_and_hash(source: bytes | Path, copy: Path) -> str:
    if isinstance(source, bytes):
        copy.write_bytes(source)
        return hashlib.sha256(source).hexdigest()
    with source.open("rb") as original, copy.open("xb") as file:
        shutil.copyfileobj(original, file, MIB)
    return sha256_of(copy)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> int:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return _length(file)


def _length(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _sync_folder(folder: Path) -> None:
    # Some file systems cannot do this, and the file is whole either way.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
