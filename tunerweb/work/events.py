"""Tells open pages, after the commit, that something changed. A message is only a nudge: pages re-read."""

from __future__ import annotations

import asyncio
import logging
import threading
from functools import cache

from channels.layers import BaseChannelLayer, get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

log = logging.getLogger(__name__)
OVERVIEW = "overview"


def sweep_group(public_id: str) -> str:
    return f"sweep.{public_id}"


def announce(*groups: str) -> None:
    """Inside a transaction: after its commit."""
    transaction.on_commit(lambda: _publish(groups))


def _publish(groups: tuple[str, ...]) -> None:
    try:
        _loop().run(groups)
    except (RedisError, OSError) as error:
        log.warning("open pages were not told: %s", error)


class _Loop:
    """One event loop per process for sending: a loop per message would open a connection for each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runner = asyncio.Runner()

    def run(self, groups: tuple[str, ...]) -> None:
        with self._lock:
            self._runner.run(self._send(groups))

    async def _send(self, groups: tuple[str, ...]) -> None:
        layer: BaseChannelLayer = get_channel_layer()
        for group in groups:
            await layer.group_send(group, {"type": "changed"})


@cache
def _loop() -> _Loop:
    return _Loop()
