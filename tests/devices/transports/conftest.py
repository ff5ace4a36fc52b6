from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from devices.transports.adb import AdbTransport
from devices.transports.addresses import parse_networks
from devices.transports.base import Transport
from devices.transports.local import LocalTransport
from devices.transports.simulated import SimulatedTransport
from devices.transports.ssh import SshTransport
from tests.devices.adb_server import AdbServer
from tests.devices.fake_adbd import Behaviour, FakeAdbd, running_fake_adbd
from tests.devices.openssh import OpenSsh, running_openssh, sshd

NETWORKS = parse_networks("127.0.0.0/8 ::1/128")
Attached = Callable[..., tuple[FakeAdbd, AdbTransport]]


@pytest.fixture(scope="session")
def shared_openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSsh]:
    if sshd() is None:
        pytest.skip("needs openssh-server")
    with running_openssh(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def openssh(tmp_path: Path) -> Iterator[OpenSsh]:
    """One that the test may break."""
    if sshd() is None:
        pytest.skip("needs openssh-server")
    (tmp_path / "sshd").mkdir()
    with running_openssh(tmp_path / "sshd") as server:
        yield server


@pytest.fixture
def attached(adb_server: AdbServer, tmp_path: Path) -> Iterator[Attached]:
    """Attach a fake device that behaves as told, and reach it."""
    with ExitStack() as stack:

        def attach(**behaviour: object) -> tuple[FakeAdbd, AdbTransport]:
            device = stack.enter_context(running_fake_adbd(tmp_path / "phone", Behaviour(**behaviour)))  # type: ignore[arg-type]
            identifier = adb_server.attach(device)
            stack.callback(adb_server.detach, identifier)
            return device, AdbTransport(identifier, networks=NETWORKS)

        yield attach


def reach(openssh: OpenSsh, **changes: object) -> SshTransport:
    """A connection as it should be, but for what is changed."""
    settings = {"host_key": openssh.host_key, "private_key": openssh.private_key, "networks": NETWORKS} | changes
    return SshTransport(openssh.identifier, **settings)  # type: ignore[arg-type]


@pytest.fixture(params=["local", "ssh", "adb", "adb without shell_v2", "simulated"])
def transport(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Transport]:
    """Each way to reach a device."""
    if request.param == "ssh":
        with reach(request.getfixturevalue("shared_openssh"), owner=tmp_path.name) as ssh:
            yield ssh
    elif request.param == "local":
        yield LocalTransport(tmp_path)
    elif request.param == "simulated":
        yield SimulatedTransport(tmp_path / "simulated", seed=1)
    else:
        yield request.getfixturevalue("attached")(has_shell_v2=request.param == "adb")[1]
