"""A hint says "there is work on this queue", nothing more: losing one, or sending one too many, does no harm."""

from __future__ import annotations

import logging
from functools import cache

import django_rq
from django.conf import settings
from django.utils.module_loading import import_string
from redis.exceptions import RedisError
from rq import Queue, Worker

log = logging.getLogger(__name__)

# How long a hint may run: it claims for a minute and then works what it has claimed to its end, which has limits of
# its own. A day is longer than any of them.
LONGEST_S = 24 * 3600
RESULT_S = 0
FAILURE_S = 3600


@cache
def queue_named(name: str) -> Queue:
    return django_rq.get_queue(name)


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
    for name, is_waiting in settings.WORK_WAITING.items():
        if import_string(is_waiting)():
            push(name)


def _enqueue(queue: Queue, name: str) -> None:
    queue.enqueue_call(settings.WORK_QUEUES[name], timeout=LONGEST_S, result_ttl=RESULT_S, failure_ttl=FAILURE_S)
