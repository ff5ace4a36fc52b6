"""How devices are named: `serial[@host[:port]]` for adb, `user@host[:port]` for ssh.

What is parsed can never become an option or a word of a shell: nothing begins with a minus sign, and every part keeps
to the letters that it may have. A serial may itself look like an address (`10.0.0.9:5555`, adb over the network).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

ADB_PORT = 5037
SSH_PORT = 22
LARGEST_PORT = 65535

SERIAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:\-]{0,127}")
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._\-]{0,63}(\\[A-Za-z0-9_][A-Za-z0-9._\-]{0,63})?")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9\-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9\-]{0,62}))*\.?")
IPV6 = re.compile(r"[0-9A-Fa-f:.]{2,45}(%[A-Za-z0-9_.\-]{1,32})?")

ADB_FORM = "An adb device is named serial[@host[:port]], such as R5CT123ABC, 10.0.0.9:5555 or R5CT123ABC@lab-pc:5037."
SSH_FORM = "A device behind ssh is named user@host[:port], such as root@10.0.0.5 or ubuntu@[fe80::1]:2222."


class IdentifierRejected(ValueError):
    """One or two sentences for the person who typed it."""


@dataclass(frozen=True)
class AdbIdentifier:
    """`host` is where the adb server runs; empty: on this machine."""

    serial: str
    host: str = ""
    port: int = ADB_PORT

    def __str__(self) -> str:
        if not self.host:
            return self.serial
        return f"{self.serial}@{_bracketed(self.host)}" + (f":{self.port}" if self.port != ADB_PORT else "")


@dataclass(frozen=True)
class SshIdentifier:
    user: str
    host: str
    port: int = SSH_PORT

    def __str__(self) -> str:
        return f"{self.user}@{_bracketed(self.host)}" + (f":{self.port}" if self.port != SSH_PORT else "")


def parse_adb(text: str) -> AdbIdentifier:
    """Raise `IdentifierRejected`."""
    serial, at, place = text.strip().rpartition("@")
    if not at:
        serial, place = place, ""
    if not SERIAL.fullmatch(serial):
        raise IdentifierRejected(f"{_shown(serial)} is no serial number. {ADB_FORM}")
    host, port = _place(place, ADB_PORT, ADB_FORM) if at else ("", ADB_PORT)
    return AdbIdentifier(serial, host, port)


def parse_ssh(text: str) -> SshIdentifier:
    """Raise `IdentifierRejected`."""
    user, at, place = text.strip().rpartition("@")
    if not at:
        raise IdentifierRejected(f"There is no user in {_shown(text.strip())}. {SSH_FORM}")
    if ":" in user:
        raise IdentifierRejected(
            f"A password does not belong into the identifier: it has a field of its own. {SSH_FORM}"
        )
    if not USER.fullmatch(user):
        raise IdentifierRejected(f"{_shown(user)} is no user name. {SSH_FORM}")
    return SshIdentifier(user, *_place(place, SSH_PORT, SSH_FORM))


def _place(text: str, default_port: int, form: str) -> tuple[str, int]:
    """`host`, `host:port`, `[v6]`, `[v6]:port` or a bare v6 address."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")) or not _is_ipv6(host):
            raise IdentifierRejected(f"{_shown(text)} is no IPv6 address. {form}")
        return host, _port(rest[1:], form) if rest else default_port
    if text.count(":") > 1:
        if not _is_ipv6(text):
            raise IdentifierRejected(f"{_shown(text)} is no address. {form}")
        return text, default_port
    host, colon, port = text.partition(":")
    if not HOST.fullmatch(host) or len(host) > 253:
        raise IdentifierRejected(f"{_shown(host)} is no host name. {form}")
    return host, _port(port, form) if colon else default_port


def _port(text: str, form: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= LARGEST_PORT):
        raise IdentifierRejected(f"{_shown(text)} is no port: a port is a number from 1 to {LARGEST_PORT}. {form}")
    return int(text)


def _is_ipv6(text: str) -> bool:
    try:
        return bool(IPV6.fullmatch(text) and ipaddress.IPv6Address(text))
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _shown(text: str) -> str:
    return repr(text[:60]) if text else "Nothing"
