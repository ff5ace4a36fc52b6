from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
from pathlib import Path

import asyncssh
import pytest

from devices.identifiers import SshIdentifier
from devices.transports import ssh
from devices.transports.addresses import parse_networks
from devices.transports.base import scratch_folder, sweep_leftovers
from devices.transports.errors import (
    AddressRefused,
    DeviceOffline,
    Disconnected,
    FileRefused,
    HostKeyChanged,
    HostKeyUnknown,
    Unauthorized,
    Unreachable,
)
from devices.transports.loop_thread import LoopThread
from devices.transports.ssh import SshTransport, fetch_host_key
from tests.devices.openssh import OpenSsh, free_port
from tests.devices.owners import new_owner
from tests.devices.transports.conftest import NETWORKS, reach
from tests.devices.transports.test_transports import made
from tests.processes import gone, wait_for_file

SECRET = "correct horse battery staple"


class OnePassword(asyncssh.SSHServer):
    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("me", SECRET)


def force(openssh: OpenSsh, command: str) -> None:
    """Whatever is asked of the device, it runs this."""
    keys, quoted = openssh.folder / "authorized_keys", command.replace('"', '\\"')
    keys.write_text(f'command="{quoted}" {keys.read_text()}')


async def _listening(key: asyncssh.SSHKey) -> asyncssh.SSHAcceptor:
    return await asyncssh.create_server(OnePassword, "127.0.0.1", 0, server_host_keys=[key])


async def _stopped(server: asyncssh.SSHAcceptor) -> None:
    server.close()
    await server.wait_closed()


def test_the_key_that_answers_is_the_one_to_pin(shared_openssh: OpenSsh) -> None:
    line, fingerprint = fetch_host_key(shared_openssh.identifier, NETWORKS)
    assert line == shared_openssh.host_key
    assert fingerprint.startswith("SHA256:")


def test_nothing_is_connected_to_without_a_pinned_key(shared_openssh: OpenSsh) -> None:
    with pytest.raises(HostKeyUnknown, match="No host key"):
        reach(shared_openssh, host_key="")


@pytest.mark.parametrize("kind", ["ssh-ed25519", "ecdsa-sha2-nistp256"])
def test_a_changed_host_key_is_refused_loudly(openssh: OpenSsh, kind: str) -> None:
    openssh.change_host_key(kind)
    with pytest.raises(HostKeyChanged, match="is not the one that was pinned") as caught:
        reach(openssh)
    assert not caught.value.is_transient


def test_a_wrong_key_is_not_let_in(shared_openssh: OpenSsh) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    with pytest.raises(Unauthorized, match="does not let"):
        reach(shared_openssh, private_key=other)


def test_a_wrong_password_is_not_let_in(shared_openssh: OpenSsh) -> None:
    with pytest.raises(Unauthorized, match="does not let"):
        reach(shared_openssh, private_key=None, password=SECRET)


def test_the_right_password_is_let_in() -> None:
    """By a server of asyncssh: OpenSSH knows only the passwords of this machine's own accounts."""
    key, loop = asyncssh.generate_private_key("ssh-ed25519"), LoopThread()
    server = loop.wait(_listening(key))
    device = SshIdentifier("me", "127.0.0.1", server.get_port())
    line = key.export_public_key().decode()
    with SshTransport(device, host_key=line, password=SECRET, networks=NETWORKS) as transport:
        assert transport.kind == "ssh"
    loop.wait(_stopped(server))
    loop.close()


def test_keys_of_the_person_who_runs_the_server_are_not_tried(
    shared_openssh: OpenSsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519").write_text(shared_openssh.private_key)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(Unauthorized):
        reach(shared_openssh, private_key=None, password="wrong")


@pytest.mark.parametrize("text", ["not a key", "-----BEGIN OPENSSH PRIVATE KEY-----\n"])
def test_what_is_no_private_key_is_told_without_showing_it(shared_openssh: OpenSsh, text: str) -> None:
    with pytest.raises(Unauthorized, match="cannot be read") as caught:
        reach(shared_openssh, private_key=text)
    assert text not in caught.value.message


def test_a_key_with_a_passphrase_is_told(shared_openssh: OpenSsh, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", tmp_path / "key"], check=True)
    key = (tmp_path / "key").read_text()
    with pytest.raises(Unauthorized, match="passphrase"):
        reach(shared_openssh, private_key=key)


def test_a_closed_port_is_told() -> None:
    nobody = SshIdentifier("root", "127.0.0.1", free_port())
    with pytest.raises(Unreachable, match="refuses connections") as caught:
        fetch_host_key(nobody, NETWORKS)
    assert caught.value.is_transient


def test_an_address_out_of_the_allowed_networks_is_not_connected_to(shared_openssh: OpenSsh) -> None:
    with pytest.raises(AddressRefused, match="not in the networks"):
        reach(shared_openssh, networks=parse_networks("10.0.0.0/8"))


def test_a_connection_pulled_away_in_the_middle_is_told(openssh: OpenSsh, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    with reach(openssh) as transport:
        cut = threading.Thread(target=lambda: (wait_for_file(told), openssh.cut()))
        cut.start()
        with pytest.raises(Disconnected, match="broke off") as caught:
            transport.run(["sh", "-c", f"echo $$ >{told}.part; mv {told}.part {told}; exec sleep 60"])
        cut.join()
    os.kill(int(told.read_text()), signal.SIGKILL)
    assert caught.value.is_transient


def test_what_ran_on_without_a_connection_is_swept_by_the_next_holder(openssh: OpenSsh, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    mine = new_owner()
    with reach(openssh, owner=mine) as transport:
        cut = threading.Thread(target=lambda: (wait_for_file(told), openssh.cut()))
        cut.start()
        with pytest.raises(Disconnected):
            transport.run(["sh", "-c", f"echo $$ >{told}.part; mv {told}.part {told}; exec sleep 60"])
        cut.join()
    with reach(openssh, owner=mine) as again:
        sweep_leftovers(again)
    assert gone(int(told.read_text()))


def test_a_server_that_went_away_is_told_at_the_next_command(openssh: OpenSsh) -> None:
    with reach(openssh) as transport:
        openssh.cut()
        with pytest.raises(Disconnected):
            transport.run(["true"])


def test_a_device_that_answers_and_runs_nothing_is_told(openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch) -> None:
    force(openssh, "exec sleep 5")
    monkeypatch.setattr(ssh, "END_S", 0.5)
    with reach(openssh) as transport, pytest.raises(DeviceOffline, match="stopped answering"):
        transport.run(["true"], timeout_s=0.5)


def test_a_device_whose_file_service_hangs_is_told(
    openssh: OpenSsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    force(openssh, 'case $SSH_ORIGINAL_COMMAND in *sftp-server) exec sleep 5;; *) eval "$SSH_ORIGINAL_COMMAND";; esac')
    monkeypatch.setattr(ssh, "FILE_TIMEOUT_S", 0.5)
    with reach(openssh) as transport, pytest.raises(DeviceOffline, match="stopped answering"):
        transport.push(made(tmp_path / "file.bin"), f"{tmp_path}/there.bin")
    assert list(tmp_path.glob("there*")) == []


def test_a_file_that_cannot_be_written_is_not_told_as_a_full_device(shared_openssh: OpenSsh, tmp_path: Path) -> None:
    with reach(shared_openssh) as transport, pytest.raises(FileRefused):
        transport.push(made(tmp_path / "file.bin"), f"{tmp_path}/{'x' * 250}")


def test_a_scratch_folder_of_a_lost_connection_raises_nothing_more(openssh: OpenSsh) -> None:
    with reach(openssh) as transport, scratch_folder(transport):
        openssh.cut()


def test_secrets_are_in_no_log_no_command_line_and_no_environment(
    shared_openssh: OpenSsh, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    asyncssh.set_debug_level(2)
    try:
        with pytest.raises(Unauthorized) as caught:
            reach(shared_openssh, private_key=None, password=SECRET)
        with reach(shared_openssh) as transport:
            seen = transport.run(["sh", "-c", "env; cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"])
    finally:
        asyncssh.set_debug_level(1)
    assert "127.0.0.1" in caplog.text
    key = shared_openssh.private_key.splitlines()[1]
    for text in (caplog.text, seen.stdout, str(caught.value), repr(caught.value)):
        assert SECRET not in text
        assert key not in text
