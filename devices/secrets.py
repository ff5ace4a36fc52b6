"""Secrets of devices, encrypted with a key in the data folder: a copy of the database opens no device."""

from __future__ import annotations

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from devices.models import Device, DeviceSecret, SecretKind
from tunerweb.secret import kept_secret

KEY_FILE = "device_key"


class SecretLost(Exception):
    """The key in the data folder is another one than the secret was written with."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"The {SecretKind(kind).label} of this device cannot be read any more: the server's {KEY_FILE} is not "
            "the one that it was encrypted with. Enter it again."
        )


def write_secret(device: Device, kind: SecretKind, text: str) -> None:
    DeviceSecret.objects.update_or_create(
        device=device, kind=kind, defaults={"ciphertext": _fernet().encrypt(text.encode())}
    )


def forget_secret(device: Device, kind: SecretKind) -> None:
    DeviceSecret.objects.filter(device=device, kind=kind).delete()


def read_secret(device: Device, kind: SecretKind) -> str | None:
    """None when there is none. Raises `SecretLost`."""
    row = DeviceSecret.objects.filter(device=device, kind=kind).first()
    if row is None:
        return None
    try:
        return _fernet().decrypt(bytes(row.ciphertext)).decode()
    except InvalidToken:
        raise SecretLost(kind) from None


def _fernet() -> Fernet:
    return Fernet(kept_secret(settings.ENVIRONMENT.data, KEY_FILE, lambda: Fernet.generate_key().decode()))
