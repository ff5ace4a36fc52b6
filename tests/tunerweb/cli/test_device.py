"""`tunerweb device` on a data folder where no server runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tunerweb.cli.commands import complaint, tunerweb

SET_UP = """
import django
django.setup()
from django.core.management import call_command
from tunerweb.accounts.models import Membership, Team, User
call_command("migrate", verbosity=0)
ada = User.objects.create_superuser("ada")
Membership.objects.create(user=ada, team=Team.objects.create(name="lab"))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With an administrator and their team."""
    folder: Path = tmp_path_factory.mktemp("device") / "data"
    folder.mkdir()
    environment = {**os.environ, "TUNERWEB_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "tunerweb.settings"}
    subprocess.run([sys.executable, "-c", SET_UP], env=environment, check=True)
    return folder


@pytest.fixture(scope="module")
def simulated(data: Path) -> Path:
    """The same folder with a simulated device in it."""
    assert tunerweb("device", "add", "sim", "--platform", "simulated", "--data", data).returncode == 0
    return data


def test_a_device_that_was_added_is_listed(simulated: Path) -> None:
    [device] = json.loads(tunerweb("device", "list", "--json", "--data", simulated).stdout)
    assert (device["name"], device["transport"]) == ("sim", "simulated")


def test_a_check_tells_each_step_and_ends_well(simulated: Path) -> None:
    done = tunerweb("device", "check", "sim", "--data", simulated)
    assert (done.returncode, done.stdout.count("done ")) == (0, 5)


def test_a_device_that_nobody_can_reach_ends_badly(data: Path, tmp_path: Path) -> None:
    word = tmp_path / "password"
    word.write_text("x\n")
    place = ("--platform", "linux", "--identifier", "root@127.0.0.1:1", "--password-file", word)
    assert tunerweb("device", "add", "away", *place, "--data", data).returncode == 0
    done = tunerweb("device", "check", "away", "--data", data)
    assert done.returncode == 1
    assert "refuses connections" in done.stdout


def test_a_mistake_is_one_sentence(data: Path) -> None:
    done = tunerweb("device", "add", "x", "--platform", "android", "--identifier", "-s", "--data", data)
    assert done.returncode == 2
    assert "no serial number" in complaint(done)


def test_an_unknown_device_is_told(data: Path) -> None:
    assert "no device 'nobody'" in complaint(tunerweb("device", "check", "nobody", "--data", data))


def test_a_folder_without_an_account_is_told(tmp_path: Path) -> None:
    assert "There is no account" in complaint(tunerweb("device", "list", "--data", tmp_path / "empty"))
