"""Live parts over a websocket: who may see them, what is sent and when."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.layers import channel_layers, get_channel_layer
from channels.routing import URLRouter
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.utils import timezone
from redis import Redis

from sweeps import consumers
from sweeps.consumers import websocket_urls
from sweeps.models import Sweep, Trial
from tests.people import someone
from tests.sweeps.stored import change, reopened, stored_sweep, trial_of
from tunerweb.accounts.models import Membership, User
from tunerweb.supervisor.broker import broker_command, broker_url
from tunerweb.work.events import announce, sweep_group
from tunerweb.work.leases import WorkState

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
LONG_S = 20.0
SILENCE_S = 0.6
ROW = re.compile(r'<tr id="trial-(\w+)"')

in_database = database_sync_to_async


@pytest.fixture(autouse=True)
def without_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only nudges, where a test does not say otherwise."""
    monkeypatch.setattr(consumers, "TICK_S", 60.0)
    monkeypatch.setattr(consumers, "SHORTEST_GAP_S", 0.05)


def seeded() -> tuple[User, Sweep]:
    person = someone()
    return person, reopened(stored_sweep(person), "P=4", "P=5")


def session_of(person: User) -> SessionStore:
    client = Client()
    client.force_login(person)
    return SessionStore(client.session.session_key)


class Socket(ApplicationCommunicator):
    """A browser's end. The one that Channels brings wants another web server to be installed."""

    async def text(self) -> str:
        message = await self.receive_output(LONG_S)
        assert message["type"] == "websocket.send", message
        return str(message["text"])

    async def everything(self) -> str:
        """All that comes until the page is left in peace."""
        messages = [await self.text()]
        while not await self.is_silent():
            messages.append(await self.text())
        return "\n".join(messages)

    async def is_silent(self) -> bool:
        return await self.receive_nothing(SILENCE_S)

    async def closing_code(self) -> int:
        while True:
            message = await self.receive_output(LONG_S)
            if message["type"] == "websocket.close":
                return int(message["code"])


@asynccontextmanager
async def page(person: User | None, path: str, session: SessionStore | None = None) -> AsyncIterator[Socket]:
    session = session or (await in_database(session_of)(person) if person else None)
    path, _, query = path.partition("?")
    about = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": [], "subprotocols": []}
    socket = Socket(URLRouter(websocket_urls), {**about, "user": person, "session": session})
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(LONG_S))["type"] == "websocket.accept"
    try:
        yield socket
    finally:
        await socket.send_input({"type": "websocket.disconnect", "code": 1001})
        await socket.wait(LONG_S)


def address(sweep: Sweep, query: str = "") -> str:
    return f"/ws/sweeps/{sweep.public_id}/{query}"


async def nudge(sweep: Sweep) -> None:
    await get_channel_layer().group_send(sweep_group(sweep.public_id), {"type": "changed"})


def start(trial: Trial, phase: str) -> None:
    change(trial, WorkState.RUNNING, phase=phase, started_at=timezone.now())


# Who may see it


async def test_without_a_sign_in_it_closes() -> None:
    _, sweep = await in_database(seeded)()
    async with page(None, address(sweep)) as socket:
        assert await socket.closing_code() == 4401


async def test_a_sweep_of_another_team_does_not_exist() -> None:
    _, sweep = await in_database(seeded)()
    stranger = await in_database(someone)()
    async with page(stranger, address(sweep)) as socket:
        assert await socket.closing_code() == 4404


async def test_an_unknown_sweep_closes() -> None:
    person = await in_database(someone)()
    async with page(person, "/ws/sweeps/nothere/") as socket:
        assert await socket.closing_code() == 4404


async def test_who_leaves_the_team_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        await in_database(Membership.objects.filter(user=person).delete)()
        await nudge(sweep)
        assert await socket.closing_code() == 4404


async def test_who_signs_out_is_left_out_at_the_next_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "CHECK_RIGHTS_S", 0.2)
    person, sweep = await in_database(seeded)()
    session = await in_database(session_of)(person)
    async with page(person, address(sweep), session) as socket:
        await in_database(SessionStore(session.session_key).delete)()
        assert await socket.closing_code() == 4401


async def test_who_is_signed_out_everywhere_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "CHECK_RIGHTS_S", 0.2)
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        await in_database(User.objects.filter(pk=person.pk).update)(session_salt="another")
        assert await socket.closing_code() == 4401


# What is sent


async def test_on_arrival_every_row_comes() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        rows = set(ROW.findall(await socket.everything()))
    assert rows == set(await in_database(lambda: set(sweep.trials.values_list("public_id", flat=True)))())


async def test_on_arrival_head_verdict_counts_and_plots_come() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        said = await socket.everything()
    for name in ("sweep-title", "sweep-actions", "sweep-verdict", "trials-counts", "chart-source", "ranking"):
        assert f'id="{name}"' in said


async def test_after_a_nudge_only_what_changed_comes() -> None:
    person, sweep = await in_database(seeded)()
    trial = await in_database(trial_of)(sweep, "P=4")
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        await in_database(start)(trial, "composing")
        await nudge(sweep)
        said = await socket.everything()
    assert ROW.findall(said) == [trial.public_id]
    assert "composing" in said


async def test_a_nudge_without_a_change_sends_nothing() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        await nudge(sweep)
        assert await socket.is_silent()


async def test_many_nudges_are_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "SHORTEST_GAP_S", 0.25)
    person, sweep = await in_database(seeded)()
    looks = 0
    look = consumers.parts

    def counted(*args: Any, **options: Any) -> dict[str, str]:
        nonlocal looks
        looks += 1
        return look(*args, **options)

    monkeypatch.setattr(consumers, "parts", counted)
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        looks, started_at = 0, time.monotonic()
        for _ in range(50):
            await nudge(sweep)
            await asyncio.sleep(0.02)
        elapsed_s = time.monotonic() - started_at
    assert 1 <= looks <= elapsed_s * 4 + 1


async def test_rows_come_in_a_message_of_their_own() -> None:
    """A parser drops the tags of a row that stands after anything but a row."""
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        first = [await socket.text() for _ in range(3)]
    assert [message[:4] for message in first] == ["<div", "<the", "<tr "]
    assert "<div id=" not in first[2]


async def test_the_view_in_the_address_is_the_one_that_is_sent() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep, "?by=ram")) as socket:
        said = await socket.everything()
    assert re.search(r'href="\?by=ram"[^>]*aria-current="true"', said)


async def test_when_the_last_trial_ends_verdict_and_ranking_come() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        for label in ("P=4", "P=5"):
            await in_database(change)(await in_database(trial_of)(sweep, label), WorkState.FAILED, reason="It crashed.")
        await in_database(Sweep.objects.filter(pk=sweep.pk).update)(finished_at=timezone.now())
        await nudge(sweep)
        said = await socket.everything()
    assert '<h2 id="verdict-title">Verdict</h2>' in said
    assert '<section id="ranking"' in said


async def test_a_sweep_that_is_deleted_closes_its_pages() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        await in_database(sweep.delete)()
        await nudge(sweep)
        assert await socket.closing_code() == 4404


# Time, and a broker that is not there


async def test_while_it_runs_time_alone_moves_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "TICK_S", 0.3)
    person, sweep = await in_database(seeded)()
    trial = await in_database(trial_of)(sweep, "P=4")
    await in_database(start)(trial, "composing")
    async with page(person, address(sweep)) as socket:
        while True:
            rows = ROW.findall(await socket.text())
            if rows == [trial.public_id]:
                return


async def test_a_finished_sweep_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "TICK_S", 0.1)
    person, sweep = await in_database(seeded)()
    await in_database(Sweep.objects.filter(pk=sweep.pk).update)(finished_at=timezone.now())
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        monkeypatch.delattr(consumers, "parts")
        assert await socket.is_silent()


@pytest.fixture
def broker(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A real Valkey that pages listen to; it is not started yet."""
    path = tmp_path / "broker.sock"
    layer = {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [broker_url(path)]}}
    settings.CHANNEL_LAYERS = {"default": layer}
    channel_layers.backends.clear()
    yield path
    channel_layers.backends.clear()


async def test_without_a_broker_the_ticks_have_to_do(broker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "TICK_S", 0.3)
    person, sweep = await in_database(seeded)()
    trial = await in_database(trial_of)(sweep, "P=4")
    async with page(person, address(sweep)) as socket:
        await socket.everything()
        await in_database(start)(trial, "composing")
        assert "composing" in await socket.text() + await socket.text()


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(*broker_command(path), stdout=subprocess.DEVNULL)
    client = Redis.from_url(broker_url(path))
    while not path.exists() or not await asyncio.to_thread(_answers, client):
        await asyncio.sleep(0.05)
    try:
        yield
    finally:
        client.close()
        process.terminate()
        await process.wait()


def _answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except (OSError, ConnectionError):
        return False


async def test_what_a_worker_announces_reaches_the_page_through_the_broker(broker: Path) -> None:
    person, sweep = await in_database(seeded)()
    trial = await in_database(trial_of)(sweep, "P=4")

    def worker() -> None:
        start(trial, "composing")
        announce(sweep_group(sweep.public_id))

    async with running(broker):
        async with page(person, address(sweep)) as socket:
            await socket.everything()
            await in_database(worker)()
            assert "composing" in await socket.everything()
        await get_channel_layer().flush()


# The overview


async def test_the_overview_is_live_too() -> None:
    person, sweep = await in_database(seeded)()
    async with page(person, "/ws/overview/") as socket:
        assert sweep.name in await socket.everything()
