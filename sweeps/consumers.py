"""Live parts of open pages over websockets: HTML that htmx swaps in by element id.

A socket re-reads what its page shows when it is told that something changed, and each second while work runs. It sends
what differs from what it sent before, so nothing can be missed and there is nothing to catch up with.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from django.contrib.auth import HASH_SESSION_KEY
from django.http import HttpRequest, QueryDict
from django.urls import path, reverse
from redis.exceptions import RedisError

from sweeps.models import Sweep
from sweeps.rows.page import parts, sweeps_for_page
from sweeps.rows.views import PageView
from tunerweb.accounts.models import User
from tunerweb.work.events import OVERVIEW, sweep_group

log = logging.getLogger(__name__)

SIGNED_OUT = 4401
NOT_FOUND = 4404
TRY_AGAIN = 1013
SHORTEST_GAP_S = 0.25
TICK_S = 1.0
CHECK_RIGHTS_S = 60.0
TRY_BROKER_AGAIN_S = 5.0


class Parts(NamedTuple):
    """Element ids to their HTML; `is_live`: they change with time alone."""

    html: dict[str, str]
    is_live: bool


class Gone(Exception):
    """What the page shows does not exist any more for this person."""


class PartsConsumer(AsyncWebsocketConsumer):
    """One open page. A subclass says which group nudges it and what its parts are."""

    # It listens by itself: a broker that is down must not keep the page from being live.
    channel_layer_alias = "none"

    def group(self) -> str:
        raise NotImplementedError

    def parts(self, user: User, *, is_first: bool) -> Parts:
        """Synchronous, with the database. Raise `Gone`."""
        raise NotImplementedError

    async def connect(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()
        self._sent: dict[str, int] = {}
        await self.accept()
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._follow())]

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages have nothing to say."""

    async def _listen(self) -> None:
        """Nudges. Without a broker there are none, and the ticks have to do."""
        while True:
            try:
                await self._hear_nudges(get_channel_layer())
            except (RedisError, OSError) as error:
                log.warning("no nudges for an open page: %s", error)
                await asyncio.sleep(TRY_BROKER_AGAIN_S)

    async def _hear_nudges(self, layer: Any) -> None:
        channel = await layer.new_channel()
        try:
            await layer.group_add(self.group(), channel)
            while True:
                self._changed.set()  # also for what changed before this could be heard
                await layer.receive(channel)
        finally:
            with contextlib.suppress(RedisError, OSError):
                await layer.group_discard(self.group(), channel)

    async def _follow(self) -> None:
        try:
            await self._follow_until_gone()
        except _Ended as ended:
            await self.close(code=ended.code)
        except OSError:
            return  # the page was closed while something was sent to it
        except Exception:
            log.exception("an open page lost its live parts and asks again")
            await self.close(code=TRY_AGAIN)

    async def _follow_until_gone(self) -> None:
        checked_at, is_first = float("-inf"), True
        user: User | None = None
        while True:
            started_at = time.monotonic()
            self._changed.clear()
            if user is None or started_at - checked_at >= CHECK_RIGHTS_S:
                user, checked_at = await self._user(), started_at
            found = await self._read(user, is_first=is_first)
            await self._send_changes(found.html)
            is_first = False
            await asyncio.sleep(max(0.0, SHORTEST_GAP_S - (time.monotonic() - started_at)))
            await self._wait(TICK_S if found.is_live else CHECK_RIGHTS_S, started_at)

    async def _wait(self, longest_s: float, started_at: float) -> None:
        left_s = longest_s - (time.monotonic() - started_at)
        try:
            await asyncio.wait_for(self._changed.wait(), max(0.0, left_s))
        except TimeoutError:
            return

    async def _user(self) -> User:
        user = await database_sync_to_async(_signed_in)(self.scope)
        if user is None:
            raise _Ended(SIGNED_OUT)
        return user

    async def _read(self, user: User, *, is_first: bool) -> Parts:
        try:
            return await database_sync_to_async(self.parts)(user, is_first=is_first)
        except Gone:
            raise _Ended(NOT_FOUND) from None

    async def _send_changes(self, html: dict[str, str]) -> None:
        changed = {name: text for name, text in html.items() if self._sent.get(name) != hash(text)}
        for message in _messages(changed.values()):
            await self.send(text_data=message)
        self._sent |= {name: hash(text) for name, text in changed.items()}


class SweepConsumer(PartsConsumer):
    @property
    def public_id(self) -> str:
        public_id: str = self.scope["url_route"]["kwargs"]["public_id"]
        return public_id

    def group(self) -> str:
        return sweep_group(self.public_id)

    def parts(self, user: User, *, is_first: bool) -> Parts:
        sweep = sweeps_for_page().of(user).filter(public_id=self.public_id).first()
        if sweep is None:
            raise Gone
        query = QueryDict(self.scope["query_string"])
        request = _request(reverse("sweeps:sweep", args=[self.public_id]), query)
        return Parts(parts(sweep, PageView.read(query), request, all_of_it=is_first), sweep.finished_at is None)


class OverviewConsumer(PartsConsumer):
    def group(self) -> str:
        return OVERVIEW

    def parts(self, user: User, *, is_first: bool) -> Parts:
        overview_parts: Callable[[User], dict[str, str]] = import_module("sweeps.rows_overview").overview_parts
        return Parts(overview_parts(user), Sweep.objects.of(user).unfinished().exists())


class _Ended(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _signed_in(scope: dict[str, Any]) -> User | None:
    """As the session says now: it may have ended, or all sessions of this person may have been signed out."""
    user, session = scope.get("user"), scope.get("session")
    if user is None or not user.is_authenticated or session is None:
        return None
    fresh: User | None = User.objects.filter(pk=user.pk, is_active=True).first()
    if fresh is None or not session.exists(session.session_key):
        return None
    return fresh if session.get(HASH_SESSION_KEY) == fresh.get_session_auth_hash() else None


def _request(address: str, query: QueryDict) -> HttpRequest:
    """What templates ask of the request: where the page is."""
    request = HttpRequest()
    request.method, request.path = "GET", address
    request.GET = query  # type: ignore[assignment]
    return request


def _messages(html: Iterable[str]) -> list[str]:
    """Parts of one kind go together: a row of a table is dropped by the parser when it follows something else."""
    kinds: dict[str, list[str]] = {}
    for text in html:
        kinds.setdefault(text[1:].split(maxsplit=1)[0], []).append(text)
    rows, heads = kinds.pop("tr", []), kinds.pop("thead", [])
    others = [text for texts in kinds.values() for text in texts]
    return ["\n".join(texts) for texts in (others, heads, rows) if texts]


websocket_urls = [
    path("ws/sweeps/<str:public_id>/", SweepConsumer.as_asgi()),
    path("ws/overview/", OverviewConsumer.as_asgi()),
]
