"""Read what a process prints without keeping more of it than is shown."""

from __future__ import annotations

import threading
from collections import deque
from typing import IO

LONGEST_OUTPUT_BYTES = 256 * 1024
PIECE_BYTES = 16 * 1024
HALF_BYTES = LONGEST_OUTPUT_BYTES // 2


class CappedOutput:
    """Head and tail of a stream that may never end."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque(maxlen=HALF_BYTES // PIECE_BYTES + 1)
        self._left_out = 0

    def add(self, piece: bytes) -> None:
        room = HALF_BYTES - len(self._head)
        self._head += piece[:room]
        for start in range(max(0, room), len(piece), PIECE_BYTES):
            if len(self._tail) == self._tail.maxlen:
                self._left_out += len(self._tail[0])
            self._tail.append(piece[start : start + PIECE_BYTES])

    def text(self) -> str:
        note = f"\n... {self._left_out:,} bytes left out ...\n".encode() if self._left_out else b""
        return (bytes(self._head) + note + b"".join(self._tail)).decode("utf-8", "replace")


class Reader:
    """Of one pipe, in a thread of its own, which closes it when nobody holds its other end any more."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.output = CappedOutput()
        self._pipe = pipe
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._pipe:
            while piece := self._pipe.read1(PIECE_BYTES):  # type: ignore[attr-defined]
                self.output.add(piece)

    def text(self) -> str:
        """Once the pipe was closed at its other end, or soon after: somebody may have inherited it."""
        self._thread.join(2)
        return self.output.text()
