"""`tunerweb up` as its users run it, with everything that it starts."""

from __future__ import annotations

import os
import re
import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import descendants
from tests.tunerweb.cli.commands import TUNERWEB, complaint, tunerweb
from tests.tunerweb.supervisor.running import Running

ADDRESS = r"Tunerweb is at (http://127\.0\.0\.1:\d+)/"
SETUP = r"Nobody has an account yet\. Make the first one here, once: (\S+)"
MEMBERS = {"prepare", "broker", "web", "compile-1", "light", "devices", "reconciler"}


class Up(Running):
    def __init__(self, data: Path) -> None:
        super().__init__([TUNERWEB, "up", "--port", "0", "--workers", "1", "--data", data], data)

    def ready(self) -> str:
        self.url: str = self.until(ADDRESS)[1]
        return self.url

    def members(self) -> dict[str, int]:
        """Process ids by what their command line says they are."""
        return {name: pid for pid in descendants(self.pid) if (name := member_name(pid))}


def member_name(pid: int) -> str | None:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return None
    patterns = {
        "broker": r"valkey-server",
        "web": r"-m uvicorn",
        "reconciler": r"work\.reconciler",
        "devices": r"work\.crew",
    }
    for name, pattern in patterns.items():
        if re.search(pattern, command):
            return name
    worker = re.search(r"work\.worker .*--name (\S+)", command)
    return worker[1] if worker else None


def get(url: str) -> tuple[int, str]:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.status, answer.read().decode()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that is looked at, and never stopped."""
    with Up(tmp_path_factory.mktemp("up") / "data") as running:
        running.ready()
        yield running


def test_the_address_it_prints_answers(up: Up) -> None:
    assert get(f"{up.url}/healthz") == (200, '{"database": "ok"}')


def test_the_first_start_prints_a_link_that_makes_an_account(up: Up) -> None:
    status, page = get(up.until(SETUP)[1])
    assert status == 200
    assert "password" in page


def test_everything_runs(up: Up) -> None:
    assert set(up.members()) == MEMBERS - {"prepare"}


def test_each_process_has_a_log(up: Up) -> None:
    assert {path.stem for path in (up.data / "logs").iterdir()} == MEMBERS


def test_a_second_one_on_the_same_data_is_refused(up: Up) -> None:
    refused = tunerweb("up", "--port", "0", "--data", up.data)
    assert refused.returncode == 1
    assert f"in use by another tunerweb up (process {up.pid})" in complaint(refused)


def test_the_web_server_is_back_after_a_kill_and_nobody_is_turned_away(up: Up) -> None:
    os.kill(up.members()["web"], signal.SIGKILL)
    up.until("web died .*killed by SIGKILL")
    assert get(f"{up.url}/healthz")[0] == 200


def test_ctrl_c_stops_it_with_success_and_leaves_no_process(tmp_path: Path) -> None:
    with Up(tmp_path) as up:
        up.ready()
        up.send(signal.SIGINT)
        assert up.end() == 0
        assert up.nobody_is_left()
        assert up.printed.endswith("Stopped.\n")
        assert " died " not in up.printed


def test_a_kill_of_it_leaves_no_process(tmp_path: Path) -> None:
    with Up(tmp_path) as up:
        up.ready()
        up.send(signal.SIGKILL)
        up.end()
        assert up.nobody_is_left()


def test_any_data_folder_will_do(tmp_path: Path) -> None:
    data = tmp_path / "a long and odd name, with 'quotes\" and 50% more: ä #1?" / ("x" * 100)
    with Up(data) as up:
        url = up.ready()
        assert get(f"{url}/healthz")[0] == 200
        assert (data / "tunerweb.sqlite3").exists()
        up.send(signal.SIGTERM)
        assert up.end() == 0
        assert " died " not in up.printed


def test_a_busy_port_is_one_sentence_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = tunerweb("up", "--port", port, "--data", tmp_path / "data")
    assert refused.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in complaint(refused)
    assert not (tmp_path / "data").exists()


def test_a_broker_of_your_own_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    refused = tunerweb("up", "--port", "0", "--data", tmp_path, env={"REDIS_URL": "redis://127.0.0.1:1"})
    assert refused.returncode == 1
    assert "The broker of REDIS_URL does not answer" in complaint(refused)


def test_a_database_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    refused = tunerweb(
        "up", "--port", "0", "--data", tmp_path, env={"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    )
    assert refused.returncode == 1
    assert "The database cannot be prepared" in complaint(refused)
    assert "Connection refused" in complaint(refused)


def test_a_wrong_setting_is_told_by_its_name(tmp_path: Path) -> None:
    refused = tunerweb("up", "--data", tmp_path, env={"TUNERWEB_WORKERS": "many"})
    assert refused.returncode == 2
    assert complaint(refused).startswith("tunerweb: TUNERWEB_WORKERS: ")
