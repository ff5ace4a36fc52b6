"""The fake adbd's file service: what `adb push` and `adb pull` talk to."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.devices.fake_adbd import Stream


class Sync:
    """The file service of the fake adbd."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.device = stream.device

    async def run(self) -> None:
        while True:
            request, length = struct.unpack("<4sI", await self.stream.read(8))
            if request == b"QUIT":
                return
            name = await self.stream.read(length)
            await {b"STAT": self._stat, b"SEND": self._receive, b"RECV": self._send}[request](name)

    def _path(self, name: bytes) -> Path:
        return Path(os.fsdecode(self.device.localised(name)))

    async def _stat(self, name: bytes) -> None:
        path, told = self._path(name), self.device.behaviour.tells_size
        found = path.stat() if path.exists() else None
        mode, size = (found.st_mode, found.st_size if told is None else told) if found else (0, 0)
        await self.stream.write(struct.pack("<4s3I", b"STAT", mode, size, 0))

    async def _send(self, name: bytes) -> None:
        path, more = self._path(name), self.device.behaviour.sends_bytes
        if not path.is_file():
            await self._fail(b"No such file or directory")
            return
        data = path.read_bytes() if more is None else bytes(more)
        for start in range(0, len(data), 64 * 1024):
            piece = data[start : start + 64 * 1024]
            await self.stream.write(struct.pack("<4sI", b"DATA", len(piece)) + piece)
        await self.stream.write(struct.pack("<4sI", b"DONE", 0))

    async def _receive(self, name: bytes) -> None:
        behaviour, data = self.device.behaviour, b""
        while True:
            kind, length = struct.unpack("<4sI", await self.stream.read(8))
            if kind == b"DONE":
                break
            data += await self.stream.read(length)
            if behaviour.drops_push_after is not None and len(data) > behaviour.drops_push_after:
                self.device.drop()
        self.device.pushes += 1
        if behaviour.is_full:
            await self._fail(b"couldn't create file: No space left on device")
            return
        self._path(name.rpartition(b",")[0]).write_bytes(data[: len(data) - behaviour.shortens_pushes_by])
        await self.stream.write(struct.pack("<4sI", b"OKAY", 0))

    async def _fail(self, why: bytes) -> None:
        await self.stream.write(struct.pack("<4sI", b"FAIL", len(why)) + why)
