"""The address of the web server: bound before anything starts, and kept while the server is started again."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket

from tunerweb.supervisor.errors import CannotStart

BACKLOG = 2048
RETRY_S = 0.1


def listen_on(host: str, port: int) -> socket.socket:
    """Raises `CannotStart`. Who connects before the web server runs is answered when it does."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise CannotStart(f"--host {host} is no address of this machine. Try 127.0.0.1, or 0.0.0.0 for all.") from None
    family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotStart(refusal(error, host, port)) from None
    return listener


def refusal(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is in use by another program. Choose another one with --port; 0 takes a free one."
        )
    if error.errno == errno.EACCES:
        return f"Port {port} is reserved for the system's administrator. Choose one from 1024 on with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {host} is no address of this machine. Try 127.0.0.1, or 0.0.0.0 for all."
    return f"Cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}."


def reachable(listener: socket.socket) -> tuple[str, int]:
    """Where this machine itself reaches the listener."""
    host, port = listener.getsockname()[:2]
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        return ("127.0.0.1" if address.version == 4 else "::1"), port
    return str(address), port


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_open_to_others(host: str) -> bool:
    """Listens on every address of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def url_of(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def healthy(host: str, port: int) -> None:
    """Return when /healthz answers 200. The request waits in the listener's queue until the server takes it."""
    while await status_of(host, port) != 200:
        await asyncio.sleep(RETRY_S)


async def status_of(host: str, port: int) -> int | None:
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError:
        return None
    try:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        words = (await reader.readline()).split()
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else None
    except OSError:
        return None
    finally:
        writer.close()
