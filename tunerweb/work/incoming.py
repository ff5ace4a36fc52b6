"""Files that arrive in pieces. How far one has come is the length of its part on disk, so no process need remember."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from tunerweb.work.store import Store, Stored, sha256_of

PART_ID = re.compile(r"[0-9a-f-]{1,64}")
MOST_DIGESTS = 256
POLL_S = 0.02
WHOLE_SUFFIX = ".whole"


class PartLocked(OSError):
    """Another request is writing this part."""


class Incoming:
    """A folder of parts, on one file system with the store, for any number of processes.

    The hash is computed while a file arrives, by the process that it arrives at. When that is not one process from the
    first piece to the last, the file is read once more at the end.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: OrderedDict[str, tuple[int, Any]] = OrderedDict()

    def start(self, part: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path(part).open("xb").close()

    def path(self, part: str) -> Path:
        if not PART_ID.fullmatch(part):
            raise ValueError(f"{part!r} does not name a part.")
        return self.folder / part

    def length(self, part: str) -> int | None:
        """None: there is no such part."""
        with contextlib.suppress(FileNotFoundError):
            return self.path(part).stat().st_size
        return None

    def append(self, part: str, offset: int, pieces: Iterable[bytes]) -> None:
        """Write at the end, which must be at `offset`. Raises OSError (a full disk) and leaves the part as it was."""
        # Unbuffered: what did not fit on the disk must not be written once more when the file is closed.
        with self.path(part).open("r+b", buffering=0) as file:
            if file.seek(0, os.SEEK_END) != offset:
                raise PartLocked(f"The part does not end at {offset}.")
            digest = self._digest_at(part, offset)
            try:
                for piece in pieces:
                    _write_all(file, piece)
                    if digest:
                        digest.update(piece)
            except BaseException:
                # What was written is right as far as it goes: giving its room back may fail.
                with contextlib.suppress(OSError):
                    file.truncate(offset)
                raise
            if digest:
                self._remember(part, file.tell(), digest)

    def move_into(self, store: Store, part: str) -> Stored:
        """The part stays until it is removed: whoever dies before has lost nothing."""
        whole = self.folder / (part + WHOLE_SUFFIX)
        whole.unlink(missing_ok=True)
        os.link(self.path(part), whole)
        return store.adopt(whole, self._sha256(part))

    def remove(self, part: str) -> None:
        self._digests.pop(part, None)
        for path in (self.path(part), self.folder / (part + WHOLE_SUFFIX)):
            path.unlink(missing_ok=True)

    def parts_older_than(self, age_s: float) -> Iterator[str]:
        """Those that nothing has been written to for so long."""
        oldest = time.time() - age_s
        for entry in os.scandir(self.folder) if self.folder.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                if entry.stat().st_mtime < oldest and PART_ID.fullmatch(entry.name.removesuffix(WHOLE_SUFFIX)):
                    yield entry.name.removesuffix(WHOLE_SUFFIX)

    def lock(self, part: str, wait_s: float) -> int | None:
        """A descriptor to `unlock`; None when somebody else holds the part all the time. It ends with the process.

        Raises FileNotFoundError.
        """
        deadline = time.monotonic() + wait_s
        while (descriptor := self._try_lock(part)) is None:
            if time.monotonic() >= deadline:
                return None
            time.sleep(POLL_S)
        return descriptor

    def unlock(self, descriptor: int) -> None:
        os.close(descriptor)

    @contextlib.contextmanager
    def locked(self, part: str, wait_s: float) -> Iterator[None]:
        """Raises `PartLocked`, or FileNotFoundError."""
        descriptor = self.lock(part, wait_s)
        if descriptor is None:
            raise PartLocked("The file is still being written.")
        try:
            yield
        finally:
            self.unlock(descriptor)

    def _try_lock(self, part: str) -> int | None:
        descriptor = os.open(self.path(part), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # It may have been removed while we waited: then the lock is on a file that nobody finds any more.
            if os.path.samestat(os.fstat(descriptor), self.path(part).stat()):
                return descriptor
        except BlockingIOError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _digest_at(self, part: str, offset: int) -> Any:
        known, digest = self._digests.pop(part, (0, hashlib.sha256()))
        return digest if known == offset else None

    def _remember(self, part: str, offset: int, digest: Any) -> None:
        self._digests[part] = (offset, digest)
        while len(self._digests) > MOST_DIGESTS:
            self._digests.popitem(last=False)

    def _sha256(self, part: str) -> str:
        known, digest = self._digests.get(part, (-1, None))
        return str(digest.hexdigest()) if known == self.length(part) else sha256_of(self.path(part))


def _write_all(file: FileIO, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[file.write(left) or 0 :]
