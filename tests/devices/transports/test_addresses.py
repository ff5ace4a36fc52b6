from __future__ import annotations

import pytest

from devices.transports.addresses import allowed_address, is_allowed, parse_networks
from devices.transports.errors import AddressRefused, Unreachable

EVERYWHERE = parse_networks("0.0.0.0/0, ::/0")


@pytest.mark.parametrize("address", ["10.1.2.3", "fd00::5", "fe80::1%eth0", "::ffff:10.1.2.3"])
def test_an_address_in_an_allowed_network_is_allowed(address: str) -> None:
    assert is_allowed(address, parse_networks("10.0.0.0/8 fc00::/7 fe80::/10"))


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:db8::1", "::ffff:8.8.8.8"])
def test_an_address_elsewhere_is_not(address: str) -> None:
    assert not is_allowed(address, parse_networks("10.0.0.0/8 fc00::/7"))


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200", "0.0.0.0", "::"]
)
def test_what_answers_for_the_cloud_itself_is_never_allowed(address: str) -> None:
    assert not is_allowed(address, EVERYWHERE)


def test_a_refused_address_is_told_with_what_to_do() -> None:
    with pytest.raises(AddressRefused, match="TUNERWEB_DEVICE_NETWORKS"):
        allowed_address("127.0.0.1", 22, parse_networks("10.0.0.0/8"))


def test_an_odd_spelling_of_an_address_is_judged_by_what_it_means() -> None:
    with pytest.raises(AddressRefused):
        allowed_address("0x7f.1", 22, parse_networks("10.0.0.0/8"))


def test_a_name_that_nobody_knows_is_told() -> None:
    with pytest.raises(Unreachable, match="Nobody knows the name"):
        allowed_address("no-such-host.invalid", 22, EVERYWHERE)


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="lab"):
        parse_networks("10.0.0.0/8 lab")
