"""A hint says "there is work on this queue", nothing more."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings
from rq.serializers import JSONSerializer

from tests.valkey import Valkey
from tunerweb.work import hints
from tunerweb.work.hints import queue_named
from tunerweb.work.worker import HintWorker

QUEUE = "compile"


def waiting() -> int:
    return queue_named(QUEUE).count


@pytest.fixture
def workers(broker: Valkey) -> Iterator[None]:
    """Three that have introduced themselves and do nothing."""
    made = [
        HintWorker([queue_named(QUEUE)], name=secrets.token_hex(4), connection=queue_named(QUEUE).connection)
        for _ in range(3)
    ]
    for worker in made:
        worker.register_birth()
    yield
    for worker in made:
        worker.connection.close()


def test_there_are_as_many_hints_as_workers(workers: None) -> None:
    hints.push(QUEUE)
    assert waiting() == 3


def test_hints_that_are_there_already_count(workers: None) -> None:
    hints.push(QUEUE)
    hints.push(QUEUE)
    assert waiting() == 3


def test_a_queue_that_no_worker_is_known_of_gets_one(broker: Valkey) -> None:
    hints.push(QUEUE)
    assert waiting() == 1


def test_a_worker_that_goes_on_later_leaves_one_more(broker: Valkey) -> None:
    hints.push(QUEUE)
    hints.leave_one(QUEUE)
    assert waiting() == 2


def test_a_hint_names_the_function_of_its_queue_and_nothing_else(broker: Valkey, settings: Settings) -> None:
    hints.push(QUEUE)
    [job] = queue_named(QUEUE).jobs
    assert JSONSerializer.loads(job.data) == [settings.WORK_QUEUES[QUEUE], None, [], {}]


def test_hints_are_pushed_again_after_the_broker_forgot_them(broker: Valkey) -> None:
    hints.push(QUEUE)
    broker.kill()
    broker.start()
    hints.push(QUEUE)
    assert waiting() == 1


@pytest.mark.parametrize("push", [hints.push, hints.leave_one])
def test_a_broker_that_is_away_is_no_error(push: object, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        push(QUEUE)  # type: ignore[operator]
    assert "no hint for queue compile" in caplog.text


def test_only_queues_where_work_waits_get_hints(broker: Valkey, settings: Settings) -> None:
    settings.WORK_WAITING = [f"{__name__}.queues_with_work"]
    hints.push_where_work_waits()
    assert (waiting(), queue_named("light").count) == (1, 0)


def queues_with_work() -> list[str]:
    return [QUEUE]


def test_a_queue_of_one_device_calls_what_is_said_of_its_kind(broker: Valkey, settings: Settings) -> None:
    hints.push("device-7")
    [job] = queue_named("device-7").jobs
    assert job.func_name == settings.WORK_QUEUES["device"]
