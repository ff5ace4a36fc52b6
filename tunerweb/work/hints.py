"""A hint says "there is work on this queue", nothing more: losing one, or sending one too many, does no harm."""

from __future__ import annotations

import logging
from functools import cache

import django_rq
from django.conf import settings
from django.utils.module_loading import import_string
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.serializers import JSONSerializer

log = logging.getLogger(__name__)

# How long a hint may run: it claims for a minute and then works what it has claimed to its end, which has limits of
# its own. A day is longer than any of them.
LONGEST_S = 24 * 3600
RESULT_S = 0
FAILURE_S = 3600


def kind_of(name: str) -> str:
    """`device` of `device-7`: what a hint on the queue calls is said of its kind."""
    return name.partition("-")[0]


@cache
def queue_named(name: str) -> Queue:
    return Queue(name, connection=django_rq.get_connection(kind_of(name)), serializer=JSONSerializer)


def push(name: str) -> None:
    """As many hints as the queue has workers. Without a broker there is none; the reconciler hints again."""
    queue = queue_named(name)
    try:
        missing = max(1, Worker.count(connection=queue.connection, queue=queue)) - queue.count
        for _ in range(missing):
            _enqueue(queue, name)
    except RedisError as error:
        log.warning("no hint for queue %s: %s", name, error)


def leave_one(name: str) -> None:
    """Of a worker that stops claiming though there may be more."""
    try:
        _enqueue(queue_named(name), name)
    except RedisError as error:
        log.warning("no hint for queue %s: %s", name, error)


def push_where_work_waits() -> None:
    for waiting_queues in settings.WORK_WAITING:
        for name in import_string(waiting_queues)():
            push(name)


def _enqueue(queue: Queue, name: str) -> None:
    function = settings.WORK_QUEUES[kind_of(name)]
    queue.enqueue_call(function, timeout=LONGEST_S, result_ttl=RESULT_S, failure_ttl=FAILURE_S)
