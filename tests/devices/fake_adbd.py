"""A fake adbd: the device's side of adb's wire protocol over TCP, for the real adb client and server.

Commands run on this machine: `/data/local/tmp` in them becomes a folder of the test, and programs in its `bin` folder
stand in for Android's own. There is no Android, no USB and no NPU behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.devices.fake_adbd_files import Sync

CNXN, AUTH, OPEN, OKAY, CLSE, WRTE = (
    int.from_bytes(name, "little") for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"CLSE", b"WRTE")
)
VERSION, MOST_BYTES = 0x01000001, 256 * 1024
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
DEVICE_TMP = b"/data/local/tmp"
BANNER = "device::ro.product.name=fake;ro.product.model=Fake_Phone;ro.product.device=fake;features={features}"
PROPERTIES = {"ro.soc.model": "SM8650", "ro.board.platform": "pineapple", "ro.build.version.release": "15"}


@dataclass
class Behaviour:
    """What goes wrong, where it does. Sizes are bytes."""

    has_shell_v2: bool = True
    is_unauthorized: bool = False
    is_silent: bool = False
    hangs_in: str = ""
    drops_push_after: int | None = None
    shortens_pushes_by: int = 0
    tells_size: int | None = None
    sends_bytes: int | None = None
    is_full: bool = False


@dataclass
class FakeAdbd:
    folder: Path
    behaviour: Behaviour = field(default_factory=Behaviour)
    pushes: int = 0
    port: int = 0

    async def serve(self, ready: threading.Event) -> None:
        self.connections: set[asyncio.StreamWriter] = set()
        self.processes: list[asyncio.subprocess.Process] = []
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await self._over.wait()
            self.drop()
            for process in self.processes:
                await _ended(process)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)

    def unplug(self) -> None:
        """From another thread."""
        self._loop.call_soon_threadsafe(self.drop)

    def drop(self) -> None:
        for writer in list(self.connections):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await Link(self, reader, writer).run()
        finally:
            self.connections.discard(writer)
            writer.close()

    def localised(self, text: bytes) -> bytes:
        return text.replace(DEVICE_TMP, bytes(self.folder / "tmp"))


class Link:
    """One connection of the adb server; it carries many streams."""

    def __init__(self, device: FakeAdbd, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.device = device
        self._reader = reader
        self._writer = writer
        self.streams: dict[int, Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        try:
            while True:
                header = await self._reader.readexactly(24)
                command, first, second, length, _, _ = struct.unpack("<6I", header)
                await self._heard(command, first, second, await self._reader.readexactly(length))
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _heard(self, command: int, first: int, second: int, data: bytes) -> None:
        behaviour = self.device.behaviour
        if command in (CNXN, AUTH):
            if behaviour.is_unauthorized:
                await self.send(AUTH, 1, 0, os.urandom(20))
            elif not behaviour.is_silent:
                features = "shell_v2" if behaviour.has_shell_v2 else ""
                await self.send(CNXN, VERSION, MOST_BYTES, BANNER.format(features=features).encode())
        elif command == OPEN:
            self._open(first, data.rstrip(b"\0"))
        elif stream := self.streams.get(second):
            await stream.heard(command, data)

    def _open(self, remote: int, service: bytes) -> None:
        name = service.partition(b":")[0].partition(b",")[0].decode()
        if name == self.device.behaviour.hangs_in:
            return
        stream = Stream(self, len(self.streams) + 1, remote)
        self.streams[stream.local] = stream
        command = service.partition(b":")[2]
        work: dict[str, Coroutine[Any, Any, None]] = {}
        if name == "shell":
            work[name] = (
                shell_v2(stream, command) if b",v2" in service.partition(b":")[0] else shell_v1(stream, command)
            )
        elif name == "sync":
            work[name] = Sync(stream).run()
        task = asyncio.create_task(stream.serve(work.get(name)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def send(self, command: int, first: int, second: int, data: bytes = b"") -> None:
        total = sum(data) & 0xFFFFFFFF
        self._writer.write(struct.pack("<6I", command, first, second, len(data), total, command ^ 0xFFFFFFFF) + data)
        await self._writer.drain()


class Stream:
    def __init__(self, link: Link, local: int, remote: int) -> None:
        self.link = link
        self.local = local
        self.remote = remote
        self._heard = asyncio.StreamReader()
        self._acknowledged = asyncio.Semaphore(0)
        self._sending = asyncio.Lock()

    @property
    def device(self) -> FakeAdbd:
        return self.link.device

    async def serve(self, work: Coroutine[Any, Any, None] | None) -> None:
        if work:
            await self.link.send(OKAY, self.local, self.remote)
            with contextlib.suppress(asyncio.IncompleteReadError):
                await work
        await self.link.send(CLSE, self.local if work else 0, self.remote)

    async def heard(self, command: int, data: bytes) -> None:
        if command == OKAY:
            self._acknowledged.release()
        elif command == WRTE:
            self._heard.feed_data(data)
            await self.link.send(OKAY, self.local, self.remote)
        elif command == CLSE:
            self._heard.feed_eof()
            self._acknowledged.release()

    async def read(self, count: int) -> bytes:
        return await self._heard.readexactly(count)

    async def write(self, data: bytes) -> None:
        async with self._sending:
            for start in range(0, len(data), MOST_BYTES):
                await self.link.send(WRTE, self.local, self.remote, data[start : start + MOST_BYTES])
                await self._acknowledged.acquire()


async def started(stream: Stream, command: bytes, **pipes: int) -> asyncio.subprocess.Process:
    """It outlives its connection, as on a phone; the device ends it when it is switched off."""
    folder = stream.device.folder
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        stream.device.localised(command),
        env={"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)},
        cwd=folder,
        start_new_session=True,
        **pipes,
    )
    stream.device.processes.append(process)
    return process


async def _ended(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # Reading to the end lets the loop close the pipes.
    for pipe in (process.stdout, process.stderr):
        while pipe and await pipe.read(1024 * 1024):
            pass
    await process.wait()


async def shell_v2(stream: Stream, command: bytes) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await started(stream, command, stdin=pipe, stdout=pipe, stderr=pipe)
    feeding = asyncio.create_task(_feed(stream, process))
    await asyncio.gather(_carry(stream, STDOUT, process.stdout), _carry(stream, STDERR, process.stderr))
    code = await process.wait()
    feeding.cancel()
    await stream.write(struct.pack("<BIB", EXIT, 1, code if code >= 0 else 128 - code))


async def _feed(stream: Stream, process: asyncio.subprocess.Process) -> None:
    assert process.stdin
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            kind, length = struct.unpack("<BI", await stream.read(5))
            data = await stream.read(length)
            if kind == STDIN:
                process.stdin.write(data)
                await process.stdin.drain()
            elif kind == CLOSE_STDIN:
                process.stdin.close()


async def _carry(stream: Stream, kind: int, pipe: asyncio.StreamReader | None) -> None:
    assert pipe
    while data := await pipe.read(32 * 1024):
        await stream.write(struct.pack("<BI", kind, len(data)) + data)


async def shell_v1(stream: Stream, command: bytes) -> None:
    """As an old Android does it: a terminal, its two outputs one, lines ended by two characters, no exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    process = await started(stream, command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        with contextlib.suppress(OSError):
            while data := await asyncio.to_thread(os.read, ours, 4096):
                await stream.write(data)
        await process.wait()
    finally:
        os.close(ours)


@contextlib.contextmanager
def running_fake_adbd(folder: Path, behaviour: Behaviour | None = None) -> Iterator[FakeAdbd]:
    (folder / "tmp").mkdir(parents=True)
    _write_programs(folder / "bin")
    device = FakeAdbd(folder, behaviour or Behaviour())
    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(device.serve(ready)))
    thread.start()
    ready.wait()
    try:
        yield device
    finally:
        device.stop()
        thread.join()


def _write_programs(folder: Path) -> None:
    folder.mkdir()
    cases = "\n".join(f"{name}) echo {value};;" for name, value in PROPERTIES.items())
    programs = {
        "getprop": f'case "$1" in\n{cases}\n*) echo;;\nesac',
        "uname": 'case "$1" in -m) echo aarch64;; *) echo Linux 6.1;; esac',
        "dumpsys": 'case "$1" in thermalservice) echo "Thermal Status: 2";; *) echo "  USB powered: true";'
        ' echo "  level: 87";; esac',
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
