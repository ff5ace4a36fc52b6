"""From a device's row to a connection: its identifier, its secrets, its pinned host key."""

from __future__ import annotations

import sys
from pathlib import Path

from django.conf import settings

from devices import lifecycle
from devices.checking import Runner
from devices.identifiers import parse_adb, parse_ssh
from devices.models import Device, SecretKind, TransportKind
from devices.runners.base import RunnerMissing
from devices.runners.ort import OrtRunner
from devices.runners.simulated import SimulatedRunner
from devices.secrets import SecretLost, read_secret
from devices.transports.adb import AdbTransport
from devices.transports.addresses import Network, parse_networks
from devices.transports.base import Transport
from devices.transports.errors import Unauthorized
from devices.transports.local import LocalTransport
from devices.transports.simulated import SimulatedTransport
from devices.transports.ssh import SshTransport, fetch_host_key

NO_RUNNER = (
    "Binaries run on Android by qnn-net-run of a QAIRT SDK, which this server does not drive yet. The device can be "
    "registered; measuring on it comes with a later version."
)


def connect(device: Device) -> Transport:
    """Raises `TransportError`."""
    if device.transport == TransportKind.SSH:
        return _by_ssh(device)
    if device.transport == TransportKind.ADB:
        return AdbTransport(parse_adb(device.identifier), networks=networks(), owner=device.public_id)
    if device.transport == TransportKind.SIMULATED:
        return SimulatedTransport(simulated_folder(device), seed=device.pk, owner=device.public_id)
    return LocalTransport(_made(settings.ENVIRONMENT.scratch), owner=device.public_id)


def runner_of(device: Device, transport: Transport) -> Runner:
    """Raises `RunnerMissing`."""
    if isinstance(transport, SimulatedTransport):
        return SimulatedRunner(transport)
    if device.transport == TransportKind.ADB:
        raise RunnerMissing(NO_RUNNER)
    return OrtRunner(transport, sys.executable if device.transport == TransportKind.LOCAL else device.python)


def networks() -> tuple[Network, ...]:
    return parse_networks(settings.ENVIRONMENT.device_networks)


def simulated_folder(device: Device) -> Path:
    folder: Path = settings.ENVIRONMENT.data / "simulated" / device.public_id
    return folder


def _by_ssh(device: Device) -> SshTransport:
    identifier = parse_ssh(device.identifier)
    try:
        private_key = read_secret(device, SecretKind.PRIVATE_KEY)
        password = read_secret(device, SecretKind.PASSWORD)
    except SecretLost as error:
        raise Unauthorized(str(error)) from None
    if not device.host_key:
        # On first use. From here on another key is another machine.
        device.host_key, _ = fetch_host_key(identifier, networks())
        lifecycle.pin_host_key(device, device.host_key)
    return SshTransport(
        identifier,
        host_key=device.host_key,
        networks=networks(),
        private_key=private_key,
        password=password,
        owner=device.public_id,
    )


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
