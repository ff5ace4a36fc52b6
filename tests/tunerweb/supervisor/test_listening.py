from __future__ import annotations

import socket

import pytest

from tunerweb.supervisor.errors import CannotStart
from tunerweb.supervisor.listening import listen_on, reachable, url_of


def test_a_busy_port_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotStart, match=f"Port {port} on 127.0.0.1 is in use by another program"):
            listen_on("127.0.0.1", port)


def test_two_listeners_cannot_share_a_port() -> None:
    with listen_on("127.0.0.1", 0) as first, pytest.raises(CannotStart, match="is in use"):
        listen_on("127.0.0.1", first.getsockname()[1])


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.name.invalid"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(CannotStart, match=f"--host {host} is no address of this machine"):
        listen_on(host, 0)


def test_port_0_takes_a_free_one() -> None:
    with listen_on("127.0.0.1", 0) as listener:
        assert reachable(listener)[1] > 0


def test_all_addresses_are_reached_under_the_local_one() -> None:
    with listen_on("0.0.0.0", 0) as listener:
        assert reachable(listener)[0] == "127.0.0.1"


def test_an_ipv6_address_is_bracketed_in_its_url() -> None:
    assert url_of("::1", 8000) == "http://[::1]:8000"
