"""The real adb server on a port and with keys of its own, and fake devices attached to it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devices.identifiers import AdbIdentifier
from tests.devices.fake_adbd import FakeAdbd
from tests.devices.openssh import free_port
from tests.processes import PATIENCE_S, STEP_S


@dataclass(frozen=True)
class AdbServer:
    port: int
    home: Path

    def say(self, *arguments: str) -> str:
        ended = subprocess.run(
            ["adb", "-P", str(self.port), *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S * 2,
            check=False,
        )
        return ended.stdout + ended.stderr

    def attach(self, device: FakeAdbd) -> AdbIdentifier:
        self.say("connect", f"127.0.0.1:{device.port}")
        return AdbIdentifier(f"127.0.0.1:{device.port}", "127.0.0.1", self.port)

    def detach(self, identifier: AdbIdentifier) -> None:
        self.say("disconnect", identifier.serial)


@contextlib.contextmanager
def running_adb_server(home: Path) -> Iterator[AdbServer]:
    server = AdbServer(free_port(), home)
    process = subprocess.Popen(
        ["adb", "-P", str(server.port), "nodaemon", "server"],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(server.port)
        yield server
    finally:
        process.kill()
        process.wait()


def _await(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        assert time.monotonic() < deadline, "the adb server does not answer"
        time.sleep(STEP_S)
