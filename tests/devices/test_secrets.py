from __future__ import annotations

import pytest
from cryptography.fernet import Fernet
from django.conf import settings

from devices.models import DeviceSecret, SecretKind
from devices.secrets import KEY_FILE, SecretLost, forget_secret, read_secret, write_secret
from tests.devices.registered import registered

pytestmark = pytest.mark.django_db
SECRET = "correct horse battery staple"


def test_a_secret_is_read_back() -> None:
    device = registered()
    write_secret(device, SecretKind.PASSWORD, SECRET)
    assert read_secret(device, SecretKind.PASSWORD) == SECRET


def test_the_database_does_not_hold_it() -> None:
    device = registered()
    write_secret(device, SecretKind.PASSWORD, SECRET)
    assert SECRET.encode() not in bytes(DeviceSecret.objects.get().ciphertext)


def test_the_key_is_beside_the_database_and_readable_by_its_owner_alone() -> None:
    write_secret(registered(), SecretKind.PASSWORD, SECRET)
    assert (settings.ENVIRONMENT.data / KEY_FILE).stat().st_mode & 0o077 == 0


def test_a_new_one_takes_the_place_of_the_old() -> None:
    device = registered()
    write_secret(device, SecretKind.PASSWORD, "old")
    write_secret(device, SecretKind.PASSWORD, SECRET)
    assert read_secret(device, SecretKind.PASSWORD) == SECRET


def test_one_that_was_forgotten_is_gone() -> None:
    device = registered()
    write_secret(device, SecretKind.PASSWORD, SECRET)
    forget_secret(device, SecretKind.PASSWORD)
    assert read_secret(device, SecretKind.PASSWORD) is None


def test_a_secret_of_another_key_is_told_as_lost() -> None:
    device = registered()
    DeviceSecret.objects.create(device=device, kind="password", ciphertext=Fernet(Fernet.generate_key()).encrypt(b"x"))
    with pytest.raises(SecretLost, match="Enter it again"):
        read_secret(device, SecretKind.PASSWORD)
