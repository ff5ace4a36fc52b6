"""Devices through the JSON API."""

from __future__ import annotations

import pytest

from devices.models import Device, Hold
from tests.devices.registered import registered
from tests.people import someone
from tests.sweeps.test_api import Api, api_of
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db(transaction=True)
BOARD = {"name": "board", "platform": "linux", "identifier": "root@10.0.0.5", "password": "correct horse battery"}


@pytest.fixture
def person() -> User:
    return someone()


@pytest.fixture
def api(person: User) -> Api:
    return api_of(person)


def test_a_device_is_registered_and_tested(api: Api) -> None:
    answer = api.send("/devices", BOARD)
    assert (answer.status_code, answer.json()["state"]) == (201, "checking")


def test_a_secret_does_not_come_back(api: Api) -> None:
    made = api.send("/devices", BOARD)
    read = api.read(f"/devices/{made.json()['id']}")
    assert read.json()["secrets"] == ["password"]
    assert "correct horse" not in made.content.decode() + read.content.decode()


def test_each_problem_names_its_field(api: Api) -> None:
    answer = api.send("/devices", {**BOARD, "identifier": "nobody", "soc": "x9"})
    assert answer.status_code == 422
    assert sorted(each["field"] for each in answer.json()["problems"]) == ["identifier", "soc"]
    assert not Device.objects.exists()


def test_devices_are_listed(api: Api, person: User) -> None:
    registered(person, name="mine")
    registered(name="theirs")
    listed = api.read("/devices").json()
    assert ([each["name"] for each in listed["items"]], listed["count"]) == (["mine"], 1)


def test_a_device_of_another_team_does_not_exist(api: Api) -> None:
    assert api.read(f"/devices/{registered().public_id}").status_code == 404


def test_a_test_is_asked_for_and_followed(api: Api, person: User) -> None:
    device = registered(person)
    check = api.send(f"/devices/{device.public_id}/checks", {}).json()
    assert api.read(f"/devices/{device.public_id}/checks/{check['id']}").json()["state"] == "queued"


def test_a_device_in_use_is_not_removed(api: Api, person: User) -> None:
    device = registered(person)
    Hold.objects.create(device=device, work="devices.DeviceCheck:1:1", holder="a check")
    answer = api.delete(f"/api/devices/{device.public_id}")
    assert (answer.status_code, Device.objects.count()) == (409, 1)


def test_a_device_is_removed(api: Api, person: User) -> None:
    device = registered(person)
    assert api.delete(f"/api/devices/{device.public_id}").status_code == 204
    assert not Device.objects.exists()
