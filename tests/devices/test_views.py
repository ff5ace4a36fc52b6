"""The pages of devices, as a person of the team and as a stranger."""

from __future__ import annotations

import pytest
from django.test import Client

from devices.models import Device, DeviceCheck, DeviceSecret, Hold, SecretKind
from devices.secrets import write_secret
from tests.devices.registered import registered
from tests.people import someone
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----"
PAGES = ("", "check/", "secrets/", "host-key/", "quarantine/", "delete/")


@pytest.fixture
def user() -> User:
    return someone()


@pytest.fixture
def client(user: User) -> Client:
    signed_in = Client(headers={"host": "127.0.0.1"})
    signed_in.force_login(user)
    return signed_in


def test_without_a_device_the_list_says_what_to_do(client: Client) -> None:
    assert "No device yet" in client.get("/devices/").content.decode()


def test_who_adds_a_device_sees_it_being_tested(client: Client) -> None:
    answer = client.post("/devices/new/", {"name": "sim", "platform": "simulated"}, follow=True)
    assert "Connection test" in answer.content.decode()
    assert DeviceCheck.objects.get().device == Device.objects.get()


def test_what_is_wrong_is_told_and_what_was_typed_is_kept(client: Client) -> None:
    answer = client.post("/devices/new/", {"name": "my board", "platform": "linux", "identifier": "x"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "There is no user" in page
    assert 'value="my board"' in page
    assert not Device.objects.exists()


def test_the_fields_follow_the_platform(client: Client) -> None:
    assert "id_private_key" not in client.get("/devices/new/fields/?platform=android").content.decode()
    assert "id_private_key" in client.get("/devices/new/fields/?platform=linux").content.decode()


def test_a_secret_is_never_in_a_page(client: Client, user: User) -> None:
    device = registered(user, platform="linux", transport="ssh", identifier="root@10.0.0.5")
    write_secret(device, SecretKind.PASSWORD, "correct horse battery staple")
    page = client.get(f"/devices/{device.public_id}/").content.decode()
    assert "A password is kept" in page
    assert "correct horse battery staple" not in page


def test_a_form_that_is_sent_back_holds_no_secret(client: Client) -> None:
    typed = {"name": "b", "platform": "linux", "identifier": "x", "password": "correct horse battery staple"}
    assert "correct horse battery staple" not in client.post("/devices/new/", typed).content.decode()


def test_a_new_secret_is_tested_at_once(client: Client, user: User) -> None:
    device = registered(user, platform="linux", transport="ssh", identifier="root@10.0.0.5")
    client.post(f"/devices/{device.public_id}/secrets/", {"private_key": KEY})
    assert DeviceSecret.objects.get().kind == "private_key"
    assert DeviceCheck.objects.filter(device=device).count() == 1


@pytest.mark.parametrize("page", PAGES)
def test_a_device_of_another_team_does_not_exist(client: Client, page: str) -> None:
    other = registered()
    path = f"/devices/{other.public_id}/{page}"
    assert (client.post(path) if page else client.get(path)).status_code == 404
    assert Device.objects.filter(pk=other.pk, quarantined_at=None).exists()


def test_the_list_shows_no_device_of_another_team(client: Client) -> None:
    registered(name="theirs")
    assert "theirs" not in client.get("/devices/").content.decode()


def test_a_device_in_use_is_not_removed(client: Client, user: User) -> None:
    device = registered(user)
    Hold.objects.create(device=device, work="devices.DeviceCheck:1:1", holder="a check")
    page = client.post(f"/devices/{device.public_id}/delete/", follow=True).content.decode()
    assert "A check has the device now" in page
    assert Device.objects.exists()


def test_a_device_is_removed_with_its_secrets(client: Client, user: User) -> None:
    device = registered(user)
    write_secret(device, SecretKind.PASSWORD, "x")
    client.post(f"/devices/{device.public_id}/delete/")
    assert not DeviceSecret.objects.exists()


def test_a_device_is_set_aside_and_used_again(client: Client, user: User) -> None:
    device = registered(user)
    client.post(f"/devices/{device.public_id}/quarantine/")
    assert "quarantined" in client.get("/devices/").content.decode()
    client.post(f"/devices/{device.public_id}/quarantine/")
    device.refresh_from_db()
    assert device.quarantined_at is None


def test_a_pinned_key_is_forgotten_when_somebody_says_so(client: Client, user: User) -> None:
    device = registered(user, host_key="ssh-ed25519 AAAA")
    client.post(f"/devices/{device.public_id}/host-key/")
    device.refresh_from_db()
    assert device.host_key == ""


def test_a_name_with_markup_is_shown_as_it_was_typed(client: Client, user: User) -> None:
    device = registered(user, name="<img src=x onerror=alert(1)>")
    for path in ("/devices/", f"/devices/{device.public_id}/"):
        assert "&lt;img src=x" in client.get(path).content.decode()


def test_a_failing_device_says_since_when_and_why(client: Client, user: User) -> None:
    registered(user, is_healthy=False, reach="online", health_reason="It has no room.")
    page = client.get("/devices/").content.decode()
    assert "failing" in page
    assert "It has no room." in page
