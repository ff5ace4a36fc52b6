"""The real OpenSSH server on loopback, with keys of its own. It runs commands as whoever runs the tests."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from devices.identifiers import SshIdentifier
from tests.processes import descendants, gone

SFTP = ("/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server")
CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin yes
Subsystem sftp {sftp}
"""


@dataclass
class OpenSsh:
    folder: Path
    private_key: str
    host_key: str
    port: int
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def identifier(self) -> SshIdentifier:
        return SshIdentifier(getpass.getuser(), "127.0.0.1", self.port)

    def start(self) -> None:
        (self.folder / "config").write_text(
            CONFIG.format(port=self.port, folder=self.folder, sftp=next(path for path in SFTP if Path(path).exists()))
        )
        self._process = subprocess.Popen(
            [str(sshd()), "-D", "-e", "-f", str(self.folder / "config")], stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr
        said = ""
        while "Server listening" not in said:
            said = self._process.stderr.readline()
            assert said, "sshd did not start"

    def stop(self) -> None:
        """With all its connections."""
        assert self._process
        assert self._process.stderr
        self.cut()
        self._process.terminate()
        self._process.wait()
        self._process.stderr.close()

    def cut(self) -> None:
        """Every connection breaks; what runs on the device runs on."""
        assert self._process
        for pid in descendants(self._process.pid):
            if b"sshd" in _name(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                assert gone(pid)

    def change_host_key(self, kind: str = "ssh-ed25519") -> None:
        self.stop()
        _write_key(self.folder / "host_key", asyncssh.generate_private_key(kind))
        self.start()


def sshd() -> Path | None:
    found = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin")
    return Path(found) if found else None


@contextlib.contextmanager
def running_openssh(folder: Path) -> Iterator[OpenSsh]:
    if os.geteuid() == 0:
        # Where it separates its privileges; a running system has made it.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    host, person = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    _write_key(folder / "host_key", host)
    (folder / "authorized_keys").write_bytes(person.export_public_key())
    private = person.export_private_key().decode()
    server = OpenSsh(folder, private, host.export_public_key().decode().strip(), free_port())
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _write_key(path: Path, key: asyncssh.SSHKey) -> None:
    path.write_bytes(key.export_private_key())
    path.chmod(0o600)


def _name(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/comm").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
