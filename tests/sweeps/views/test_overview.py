from __future__ import annotations

import shutil
from collections import namedtuple
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from sweeps import rows_overview
from sweeps.models import Sweep
from sweeps.rows_overview import Workers, compile_workers, overview_parts, queue_lengths, running_sweeps
from tests.people import someone
from tests.sweeps.stored import change, reopened, stored_model, stored_sweep, trial_of
from tunerweb.accounts.models import User
from tunerweb.work import hints
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_overview, "compile_workers", lambda: Workers(1, 2))


@pytest.fixture
def person() -> User:
    return someone("mira")


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def page_of(browser: Client) -> str:
    return " ".join(browser.get(reverse("sweeps:overview")).content.decode().split())


def running_sweep(person: User, **fields: Any) -> Sweep:
    sweep = reopened(stored_sweep(person, **fields), "P=4", "P=5")
    change(trial_of(sweep, "P=4"), WorkState.RUNNING, started_at=timezone.now())
    return sweep


def test_the_first_page_shows_the_three_steps_to_a_ranking(browser: Client) -> None:
    page = page_of(browser)
    for name in ("model_upload", "config_new", "launch"):
        assert reverse(f"sweeps:{name}") in page


def test_a_step_that_is_done_is_marked(browser: Client, person: User) -> None:
    stored_model(person)
    assert page_of(browser).count('class="is-done"') == 1


def test_the_page_before_the_first_sweep_waits_for_nothing(browser: Client) -> None:
    assert "ws-connect" not in page_of(browser)


def test_a_running_sweep_shows_how_far_it_is(browser: Client, person: User) -> None:
    running_sweep(person)
    assert '<span class="nowrap">16/18</span>' in page_of(browser)


def test_a_running_sweep_says_how_long_the_rest_takes(person: User) -> None:
    running_sweep(person)
    assert running_sweeps(person)[0].progress.left_text.startswith("about ")


def test_a_paused_sweep_says_so(browser: Client, person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    Sweep.objects.filter(pk=sweep.pk).update(paused_at=timezone.now())
    assert "state-paused" in page_of(browser)


def test_a_finished_sweep_is_remembered_by_its_verdict(browser: Client, person: User) -> None:
    sweep = stored_sweep(person)
    assert sweep.headline
    assert sweep.headline in page_of(browser)


def test_what_other_teams_do_is_not_shown(browser: Client, person: User) -> None:
    stored_sweep(person)
    running_sweep(someone(), name="not ours")
    stored_sweep(someone(), name="not ours either")
    assert "not ours" not in page_of(browser)


def test_markup_in_a_name_is_shown_as_it_was_typed(browser: Client, person: User) -> None:
    running_sweep(person, name="<b>bold</b>")
    page = page_of(browser)
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold</b>" not in page


def test_the_number_of_queries_does_not_depend_on_the_number_of_sweeps(
    browser: Client, person: User, django_assert_num_queries: Any
) -> None:
    running_sweep(person)
    page_of(browser)  # the first request of a process and of a session asks more
    with CaptureQueriesContext(connection) as first:
        page_of(browser)
    for soc_model in (69, 43, 36):
        stored_sweep(person, soc_model=soc_model, name="finished")
        running_sweep(person, soc_model=soc_model, name="running")
    with django_assert_num_queries(len(first)):
        page_of(browser)


def test_the_live_parts_carry_the_ids_of_the_page(browser: Client, person: User) -> None:
    running_sweep(person)
    page = page_of(browser)
    parts = overview_parts(person)
    for name, html in parts.items():
        assert f'id="{name}"' in page
        assert html.startswith("<section")
        assert f'id="{name}"' in html
        assert 'hx-swap-oob="morph"' in html


def test_a_live_part_holds_what_the_page_holds(browser: Client, person: User) -> None:
    stored_sweep(person)
    part = " ".join(overview_parts(person)["overview-recent"].split())
    assert part.replace('hx-swap-oob="morph"', "") in page_of(browser)


def test_cancelling_ends_the_sweep(browser: Client, person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    answer = browser.post(reverse("sweeps:overview_cancel", args=[sweep.public_id]))
    sweep.refresh_from_db()
    assert answer.url == reverse("sweeps:overview")
    assert sweep.cancelled_at


def test_cancelling_in_place_answers_with_the_new_parts(browser: Client, person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    address = reverse("sweeps:overview_cancel", args=[sweep.public_id])
    answer = browser.post(address, headers={"HX-Request": "true"}).content.decode()
    assert "Nothing runs at the moment." in answer


def test_a_foreign_sweep_cannot_be_cancelled(browser: Client) -> None:
    sweep = reopened(stored_sweep(someone()), "P=4")
    assert browser.post(reverse("sweeps:overview_cancel", args=[sweep.public_id])).status_code == 404
    sweep.refresh_from_db()
    assert sweep.cancelled_at is None


def test_workers_are_counted(browser: Client) -> None:
    assert "1 of 2 busy" in page_of(browser)


def test_without_workers_the_page_says_what_that_means(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_overview, "compile_workers", lambda: Workers(0, 0))
    assert "nothing compiles until one starts" in page_of(browser)


def test_a_broker_that_is_down_is_told(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert compile_workers() == Workers(None, None)
    assert "broker not reachable" in page_of(browser)


def test_a_registered_worker_that_is_busy_counts_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    states = {"rq:worker:a": b"busy", "rq:worker:b": b"idle", "rq:worker:gone": None}
    monkeypatch.setattr(rows_overview.worker_registration, "get_keys", lambda queue: set(states))
    monkeypatch.setattr(hints.queue_named("compile"), "connection", _Registry(states))
    assert compile_workers() == Workers(1, 2)


class _Registry:
    """Answers as the broker does."""

    def __init__(self, states: dict[str, bytes | None]) -> None:
        self.states = states
        self.asked: list[str] = []

    def pipeline(self, transaction: bool) -> _Registry:
        return self

    def __enter__(self) -> _Registry:
        return self

    def __exit__(self, *exc: object) -> None: ...

    def hget(self, key: str, field: str) -> None:
        self.asked.append(key)

    def execute(self) -> list[bytes | None]:
        return [self.states[key] for key in self.asked]


def test_only_what_a_trial_waits_for_counts_as_queued(person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4", "P=5")
    trial_of(sweep, "P=5").compilation.trials.update(cancelled_at=timezone.now())
    assert queue_lengths(person)["compiles"] == 1


def test_the_store_is_counted_for_the_team_alone(person: User) -> None:
    stored_sweep(someone())
    assert rows_overview.stored_bytes(person) == 0


def test_a_disk_that_is_nearly_full_is_told(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 10**6, 10**6))
    assert "delete sweeps that nobody needs" in page_of(browser)


def test_strangers_are_sent_to_sign_in() -> None:
    assert Client().get("/").status_code == 302
