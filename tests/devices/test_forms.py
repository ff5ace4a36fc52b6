"""What people type about a device, and what they are told."""

from __future__ import annotations

import pytest

from devices.forms import DeviceForm
from tests.devices.registered import registered
from tests.people import someone
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----"
BOARD = {"name": "board", "platform": "linux", "transport": "ssh", "identifier": "root@10.0.0.5", "private_key": KEY}


@pytest.fixture
def user() -> User:
    return someone()


def problems(user: User, **typed: str) -> dict[str, list[str]]:
    form = DeviceForm({**BOARD, **typed}, team=user.team)
    return {name: list(errors) for name, errors in form.errors.items()}


def cleaned(user: User, **typed: str) -> dict[str, object]:
    form = DeviceForm({**BOARD, **typed}, team=user.team)
    assert form.is_valid(), form.errors
    return form.cleaned_data


def test_a_board_behind_ssh_is_taken(user: User) -> None:
    found = cleaned(user)
    assert (found["transport"], found["identifier"], found["soc"]) == ("ssh", "root@10.0.0.5", None)


def test_a_phone_is_reached_by_adb_whatever_was_chosen_before(user: User) -> None:
    assert cleaned(user, platform="android", identifier="R5CT123ABC")["transport"] == "adb"


def test_a_network_serial_is_a_serial(user: User) -> None:
    assert cleaned(user, platform="android", identifier="10.0.0.9:5555")["identifier"] == "10.0.0.9:5555"


@pytest.mark.parametrize(
    ("typed", "field", "words"),
    [
        ({"name": ""}, "name", "required"),
        ({"identifier": "10.0.0.5"}, "identifier", "no user"),
        ({"identifier": "root:secret@10.0.0.5"}, "identifier", "password does not belong"),
        ({"identifier": "-oProxyCommand=x@host"}, "identifier", "no user name"),
        ({"identifier": "root@10.0.0.5:99999"}, "identifier", "no port"),
        ({"platform": "android", "identifier": "-s"}, "identifier", "no serial number"),
        ({"platform": "android", "identifier": "a;reboot"}, "identifier", "no serial number"),
        ({"private_key": ""}, "private_key", "lets nobody in"),
        ({"private_key": "ssh-ed25519 AAAA me@here"}, "private_key", "not a private key"),
        ({"soc": "Snapdragon 9"}, "soc", "Snapdragon 9"),
        ({"python": "--version"}, "python", "a path or a name"),
        ({"name": "x" * 101}, "name", "at most 100"),
        ({"platform": "toaster"}, "platform", "valid choice"),
    ],
)
def test_each_problem_is_told_beside_its_field(user: User, typed: dict[str, str], field: str, words: str) -> None:
    assert words in " ".join(problems(user, **typed)[field])


def test_a_password_will_do_instead_of_a_key(user: User) -> None:
    assert problems(user, private_key="", password="correct horse") == {}


def test_a_name_is_taken_once_in_a_team(user: User) -> None:
    registered(user, "board")
    assert "already" in problems(user)["name"][0]


def test_another_team_may_use_the_same_name(user: User) -> None:
    registered(someone(), "board")
    assert problems(user) == {}


def test_this_host_is_registered_once(user: User) -> None:
    registered(user, "the server", platform="host", transport="local")
    assert "as the server" in problems(user, platform="host")["platform"][0]


def test_labels_are_a_list_without_doubles(user: User) -> None:
    assert cleaned(user, labels="lab 2,  cooled, lab 2,")["labels"] == ["lab 2", "cooled"]
