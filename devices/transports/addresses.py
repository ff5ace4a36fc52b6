"""Where connections may go. A dashboard that connects anywhere for anybody is a door into its network."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable

from devices.transports.errors import AddressRefused, Unreachable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# What answers there is the cloud provider's own service, never a device.
NEVER = ("169.254.0.0/16", "100.100.100.200/32", "fd00:ec2::254/128", "0.0.0.0/8", "::/128")


def parse_networks(text: str) -> tuple[Network, ...]:
    """Raise ValueError with the part that is wrong."""
    return tuple(ipaddress.ip_network(part) for part in text.replace(",", " ").split())


def allowed_address(host: str, port: int, networks: Iterable[Network]) -> str:
    """The address to connect to: resolved once, so that a name cannot mean another machine a moment later.

    Raises `Unreachable` for a name that nobody knows, `AddressRefused` for an address out of the allowed ranges.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise Unreachable(f"Nobody knows the name {host}. Check how it is spelled, or give an address.") from None
    addresses = [str(entry[4][0]) for entry in found]
    for address in addresses:
        if is_allowed(address, networks):
            return address
    raise AddressRefused(
        f"{host} ({addresses[0]}) is not in the networks that this server may connect to. Whoever runs the server can "
        "add its network to TUNERWEB_DEVICE_NETWORKS."
    )


def is_allowed(address: str, networks: Iterable[Network]) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    plain = parsed.ipv4_mapped or parsed if isinstance(parsed, ipaddress.IPv6Address) else parsed
    if any(plain in ipaddress.ip_network(never) for never in NEVER):
        return False
    return any(plain in network for network in networks if network.version == plain.version)
