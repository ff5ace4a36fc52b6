"""A PostgreSQL of our own: a cluster in a temporary folder, on a unix socket, that nobody else can reach."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg

from tests.processes import PATIENCE_S, STEP_S

VERSIONS = Path("/usr/lib/postgresql")
USER = "postgres"
# Nothing here has to survive a power cut, and the socket is the only way in.
OPTIONS = {"fsync": "off", "listen_addresses": "", "max_connections": "200", "unix_socket_permissions": "0777"}


def programs() -> Path | None:
    """The folder of the newest installed PostgreSQL's programs."""
    found = sorted(VERSIONS.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


class Postgres:
    def __init__(self, folder: Path) -> None:
        found = programs()
        assert found, "PostgreSQL is not installed: apt-get install postgresql"
        self.programs = found
        self.folder = folder
        self.data = folder / "data"
        self._as_user = as_unprivileged(folder)
        self._run("initdb", "--pgdata", self.data, "--username", USER, "--auth", "trust", "--no-sync")
        self.start()

    def start(self) -> None:
        options = [part for name, value in OPTIONS.items() for part in ("-c", f"{name}={value}")]
        command = [*self._as_user, self.programs / "postgres", "-D", self.data, "-k", self.folder, *options]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
        self.started_at = time.monotonic()
        self._until_it_answers()

    def end(self, number: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends it in order; SIGKILL ends its first process, and the others notice."""
        self._process.send_signal(number)
        self._process.wait(PATIENCE_S)

    def url(self, database: str = USER) -> str:
        return f"postgres://{USER}@{quote(str(self.folder), safe='')}/{database}"

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run([*self._as_user, self.programs / program, *arguments], check=True, capture_output=True, cwd="/")

    def _until_it_answers(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                with psycopg.connect(self.url().replace("postgres://", "postgresql://", 1)):
                    return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline, "PostgreSQL does not answer"
                time.sleep(STEP_S)


def as_unprivileged(folder: Path) -> tuple[str, ...]:
    """How to start a program as somebody else when root runs the tests, which PostgreSQL refuses to run for."""
    if os.geteuid() != 0:
        return ()
    user = pwd.getpwnam(USER)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--")


@contextlib.contextmanager
def running_postgres() -> Iterator[Postgres]:
    # Not in a folder of pytest's: those are closed to other users, and their paths too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="tunerweb-postgres-"))
    folder.chmod(0o755)
    try:
        server = Postgres(folder)
        try:
            yield server
        finally:
            server.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh_database(url: str) -> dict[str, str]:
    """For a server of its own, as its environment: beside the database of this address, or what is the default."""
    if not url:
        return {}
    name = f"server_{secrets.token_hex(6)}"
    with psycopg.connect(url.replace("postgres://", "postgresql://", 1), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return {"DATABASE_URL": urlunsplit(urlsplit(url)._replace(path=f"/{name}"))}


def end_connections(url: str) -> None:
    with psycopg.connect(url.replace("postgres://", "postgresql://", 1), autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
