from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from devices.transports.base import Transport
from devices.transports.errors import DeviceFull
from devices.transports.local import LocalTransport
from devices.transports.simulated import SimulatedTransport
from tests.devices.transports.conftest import reach
from tests.devices.transports.test_transports import made


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Of 128 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.fixture(params=["local", "ssh", "simulated"])
def transport(request: pytest.FixtureRequest, small_disk: Path) -> Iterator[Transport]:
    """Those whose disk can really be full; of a phone, see test_adb.py."""
    if request.param == "ssh":
        with reach(request.getfixturevalue("shared_openssh")) as ssh:
            yield ssh
    else:
        yield LocalTransport(small_disk) if request.param == "local" else SimulatedTransport(small_disk, seed=1)


def test_a_full_device_is_told_and_keeps_nothing(transport: Transport, small_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(DeviceFull, match="is full"):
        transport.push(made(tmp_path / "file.bin"), f"{small_disk}/file.bin")
    assert list(small_disk.iterdir()) == []
