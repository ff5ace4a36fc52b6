"""PostgreSQL dies in the middle of a sweep and comes back: the work goes on meanwhile, and nothing is lost."""

from __future__ import annotations

import random
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.sweeping import RunningSweep
from tests.postgres import Postgres, fresh_database, programs, running_postgres
from tests.server import Server

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(programs() is None, reason="NOT TESTED: an outage of PostgreSQL, which is not installed"),
]


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, database: Postgres) -> Iterator[Server]:
    data: Path = tmp_path_factory.mktemp("outage") / "data"
    with Server(data, fresh_database(database.url())) as running:
        yield running
        assert running.is_at_rest()
        assert running.ask("leftovers") == []


def test_a_death_of_the_database_loses_nothing(server: Server, database: Postgres, seed: int) -> None:
    sweep = RunningSweep(server, random.Random(f"outage {seed}"))
    sweep.goes_on_for_a_while()
    rows = sweep.running()
    database.end(signal.SIGQUIT)  # as a crash: nothing is written any more
    database.start()
    assert 0 <= sweep.recovery_s(rows, database.started_at) <= server.recovery_s
    assert sweep.ends_well()


def test_work_that_runs_through_an_outage_is_kept(server: Server, database: Postgres) -> None:
    """Longer than a lease, so that only the rest after the outage keeps others from taking the work over."""
    sweep = RunningSweep(server, random.Random(0), "sample_detector.dlc", p_values="0")
    rows = sweep.running("finalize")
    database.end(signal.SIGQUIT)
    server.children_end()
    database.start()
    assert sweep.ends_well()
    fences = {trial["compilation"]: trial["fence"] for trial in sweep.trials()}
    assert [fences[row] for row, _ in rows] == [fence for _, fence in rows]


def test_the_pages_come_back_with_the_database(server: Server, database: Postgres) -> None:
    database.end(signal.SIGQUIT)
    with pytest.raises(urllib.error.HTTPError, match="503"):
        urllib.request.urlopen(f"{server.url}/healthz")
    database.start()
    with urllib.request.urlopen(f"{server.url}/healthz") as answer:
        assert answer.status == 200
