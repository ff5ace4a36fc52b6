"""`tunerweb sweep --criterion` from the shell, with the real compiler, on the simulated device and this host."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from sweeps.tuner import get_context_size_info
from tests.conftest import DATA
from tests.tunerweb.cli.commands import TUNERWEB, complaint, tunerweb
from tests.tunerweb.cli.test_device import SET_UP

MIGRATED = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
"""
HELD = """
import django
django.setup()
from devices.models import Device, Hold
Hold.objects.create(device=Device.objects.get(), work="devices.DeviceCheck:1:1", holder="the check of ada")
"""
MODEL = ("sweep", DATA / "small.dlc", "--soc", "SM8650", "--p", "0,2,7")
LATENCY = (*MODEL, "--criterion", "latency", "--rounds", 5, "--runs", 20)


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """No data folder, whatever lies in the working directory."""
    return {"TUNERWEB_DATA": str(tmp_path_factory.mktemp("none") / "data")}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With an administrator, their team, and a simulated device of theirs."""
    folder: Path = tmp_path_factory.mktemp("measured") / "data"
    folder.mkdir()
    in_django(SET_UP, folder)
    assert tunerweb("device", "add", "sim", "--platform", "simulated", "--data", folder).returncode == 0
    return folder


def in_django(script: str, data: Path) -> None:
    environment = {**os.environ, "TUNERWEB_DATA": str(data), "DJANGO_SETTINGS_MODULE": "tunerweb.settings"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_a_ranking_by_latency_is_printed_and_written(tmp_path: Path, nowhere: dict[str, str]) -> None:
    done = tunerweb(*LATENCY, "--device", "simulated", "--out", tmp_path, env=nowhere)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "latency_report.json").read_text())
    assert [row["name"] for row in report["ranking"]][-1] == "P=2"
    printed = " ".join(done.stdout.split())
    assert "the simulated device: simulated execute time, simulated" in printed
    assert all(sentence in printed for sentence in report["sentences"])
    assert "not ranked: P=7 needs at least two cores" in printed
    assert "Round 5 of 5." in done.stderr.splitlines()
    assert get_context_size_info(tmp_path / "latency_optimized_context_binary.bin")["rom"] > 0
    assert (tmp_path / "latency_optimized_config.json").is_file()


def test_a_registered_device_is_found_by_its_name(data: Path, tmp_path: Path) -> None:
    done = tunerweb(*LATENCY, "--device", "sim", "--data", data, "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["device"], report["origin"]) == ("sim", "simulated")


def test_the_environment_names_the_data_folder_too(data: Path, tmp_path: Path) -> None:
    environment = {"TUNERWEB_DATA": str(data)}
    done = tunerweb(*MODEL, "--criterion", "bandwidth", "--device", "sim", "--out", tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "from the compiler, simulated" in " ".join(done.stdout.split())


def test_a_data_folder_without_accounts_is_in_nobodys_way(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    in_django(MIGRATED, folder)
    arguments = ("--criterion", "bandwidth", "--device", "simulated", "--p", "0", "--out", tmp_path / "out")
    done = tunerweb(*MODEL, *arguments, env={"TUNERWEB_DATA": str(folder)})
    assert done.returncode == 0, done.stderr


def test_a_name_that_the_folder_does_not_know_is_told(data: Path, tmp_path: Path) -> None:
    done = tunerweb(*LATENCY, "--device", "board", "--data", data, "--out", tmp_path)
    assert (done.returncode, "no device 'board'" in complaint(done)) == (2, True)


def test_a_device_that_somebody_works_on_is_left_alone(data: Path, tmp_path: Path) -> None:
    in_django(HELD, data)
    try:
        done = tunerweb(*LATENCY, "--device", "sim", "--data", data, "--out", tmp_path)
    finally:
        in_django(HELD.rpartition("Hold.objects")[0] + "Hold.objects.all().delete()", data)
    assert (done.returncode, "the check of ada works on it" in complaint(done)) == (1, True)


def test_latency_on_this_host_is_refused_in_one_sentence(tmp_path: Path, nowhere: dict[str, str]) -> None:
    done = tunerweb(*LATENCY, "--device", "host", "--out", tmp_path / "out", env=nowhere)
    assert (done.returncode, "only emulates the NPU" in complaint(done)) == (2, True)
    assert not (tmp_path / "out").exists()


def test_bandwidth_on_this_host_says_where_it_comes_from(tmp_path: Path, nowhere: dict[str, str]) -> None:
    arguments = ("--criterion", "bandwidth", "--device", "host", "--out", tmp_path, "--p", "0")
    done = tunerweb(*MODEL, *arguments, env=nowhere)
    assert done.returncode == 0, done.stderr
    assert "from the compiler, simulated" in " ".join(done.stdout.split())
    assert "Running P=0." in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--device", "host"), 2, "needs --criterion latency or bandwidth"),
        (("--criterion", "latency"), 2, "needs --device"),
        (("--criterion", "speed", "--device", "host"), 2, "'speed' is no criterion"),
        (("--criterion", "latency", "--device", "simulated", "--rounds", 3), 2, "3 rounds are too few"),
        (("--criterion", "latency", "--device", "simulated", "--perf-profile", "fast"), 2, "perf_profile is 'fast'"),
        (("--criterion", "latency", "--device", "simulated", "--top", 2), 2, "--top is for a sweep by size"),
        (("--criterion", "latency", "--device", "-x"), 2, "no serial number"),
        (("--criterion", "latency", "--device", "a@127.0.0.1:1", "--host-key", "accept"), 1, "refuses connections"),
    ],
)
def test_a_mistake_is_one_sentence(
    options: tuple[object, ...], code: int, sentence: str, tmp_path: Path, nowhere: dict[str, str]
) -> None:
    done = tunerweb(*MODEL, *options, "--out", tmp_path / "out", env=nowhere)
    assert (done.returncode, sentence in complaint(done)) == (code, True)
    assert not (tmp_path / "out").exists()


def test_on_a_terminal_there_is_a_bar_of_rounds(tmp_path: Path, nowhere: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    command = [str(each) for each in (TUNERWEB, *LATENCY, "--device", "simulated", "--out", tmp_path)]
    environment = {**os.environ, **nowhere, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    assert b"of 5: " in shown
