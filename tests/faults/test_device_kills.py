"""The processes that work on a device are killed while they hold it."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator

import pytest

from tests.postgres import fresh_database
from tests.server import Process, Server

pytestmark = pytest.mark.faults
LONGEST_WAIT_S = 0.8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("devices") / "data"
    with Server(data, fresh_database(database_url)) as running:
        yield running
        assert running.is_at_rest()


@pytest.fixture(scope="module")
def device(server: Server) -> int:
    """Checked once, so that its worker runs."""
    made: int = server.ask("register_simulated")
    assert server.ask("until_check_ends", pk=server.ask("check", device=made))["is_healthy"]
    return made


def horse_of(server: Server, device: int) -> list[Process]:
    workers = [each for each in server.of("device worker") if f"--queue device-{device} " in each.command]
    pids = {each.pid for each in workers}
    return [each for each in workers if each.parent in pids]


def worker_of(server: Server, device: int) -> list[Process]:
    workers = [each for each in server.of("device worker") if f"--queue device-{device} " in each.command]
    pids = {each.pid for each in workers}
    return [each for each in workers if each.parent not in pids]


def crew(server: Server, device: int) -> list[Process]:
    return server.of("crew")


@pytest.mark.parametrize("victims", [horse_of, worker_of, crew])
def test_a_kill_leaves_no_device_held(server: Server, device: int, seed: int, victims: object) -> None:
    check = server.ask("check", device=device)
    server.ask("until_check_runs", pk=check)
    random_wait(f"{victims} {seed}")
    for victim in victims(server, device):  # type: ignore[operator]
        os.kill(victim.pid, signal.SIGKILL)
    ended = server.ask("until_check_ends", pk=check, timeout_s=server.recovery_s + 15.0)
    assert (ended["state"], ended["is_healthy"], ended["held"]) == ("done", True, False)


def random_wait(name: str) -> None:
    """Not for something to happen: a moment that nobody chose."""
    signal.sigtimedwait([], random.Random(name).uniform(0, LONGEST_WAIT_S))
