from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from sweeps.models import Sweep, Tag, Trial
from tests.people import someone
from tests.sweeps.stored import change, reopened, stored_model, stored_sweep, stored_toolchain
from tunerweb.accounts.models import User
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return someone("mira")


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def page_of(browser: Client, **asked: Any) -> str:
    answer = browser.get(reverse("sweeps:sweep_list"), asked)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def names(browser: Client, **asked: Any) -> list[str]:
    rows = browser.get(reverse("sweeps:sweep_list"), asked).context["rows"]
    return [row.sweep.name for row in rows]


def bare_sweep(person: User, name: str, **fields: Any) -> Sweep:
    """Without trials: for lists, where they are only counted."""
    return Sweep.objects.create(
        **{
            "team": person.team,
            "owner": person,
            "name": name,
            "source_model": stored_model(person),
            "soc_model": 57,
            "toolchain": stored_toolchain(),
            **fields,
        }
    )


def ended(person: User, name: str, state: WorkState, soc_model: int = 57) -> Sweep:
    """One trial, which ended so."""
    sweep = stored_sweep(person, name=name, soc_model=soc_model)
    first, *others = sweep.trials.with_work()
    Trial.objects.filter(pk__in=[trial.pk for trial in others]).delete()
    change(first, state)
    return sweep


def test_an_empty_list_offers_the_first_launch(browser: Client) -> None:
    page = page_of(browser)
    assert "No sweep yet" in page
    assert reverse("sweeps:launch") in page


def test_the_newest_sweep_is_the_first(browser: Client, person: User) -> None:
    now = timezone.now()
    bare_sweep(person, "old", created_at=now - timedelta(days=1))
    bare_sweep(person, "new", created_at=now)
    assert names(browser) == ["new", "old"]


def test_a_finished_sweep_shows_its_verdict(browser: Client, person: User) -> None:
    sweep = stored_sweep(person)
    assert sweep.headline in page_of(browser)


def test_a_running_sweep_shows_its_progress(browser: Client, person: User) -> None:
    reopened(stored_sweep(person), "P=4")
    assert '<span class="nowrap">17/18</span>' in page_of(browser)


def test_what_failed_is_counted(browser: Client, person: User) -> None:
    ended(person, "bad", WorkState.FAILED)
    assert "0/1, 1 failed" in page_of(browser)


@pytest.mark.parametrize(
    ("word", "found"), [("next", ["on the next chip"]), ("CHIP next", ["on the next chip"]), ("nowhere", [])]
)
def test_the_search_takes_every_word(browser: Client, person: User, word: str, found: list[str]) -> None:
    bare_sweep(person, "on the next chip")
    bare_sweep(person, "on this chip")
    assert names(browser, q=word) == found


def test_the_search_looks_into_notes_and_model_names(browser: Client, person: User) -> None:
    bare_sweep(person, "one", notes="before the release")
    assert names(browser, q="release") == ["one"]
    assert names(browser, q="sample_detector") == ["one"]


@pytest.mark.parametrize("state", ["running", "paused", "finished", "failed", "cancelled"])
def test_a_sweep_is_in_one_state_at_a_time(browser: Client, person: User, state: str) -> None:
    now = timezone.now()
    bare_sweep(person, "running")
    bare_sweep(person, "paused", paused_at=now)
    bare_sweep(person, "cancelled", cancelled_at=now, finished_at=now)
    ended(person, "finished", WorkState.DONE)
    ended(person, "failed", WorkState.FAILED, soc_model=69)
    assert names(browser, state=state) == [state]


def test_the_filters_go_together(browser: Client, person: User) -> None:
    other = someone("jo", person.team)
    tag = Tag.objects.create(team=person.team, name="release 3")
    wanted = bare_sweep(person, "wanted", soc_model=69)
    wanted.tags.add(tag)
    bare_sweep(other, "by another").tags.add(tag)
    bare_sweep(person, "other target")
    asked = {"owner": person.public_id, "tag": "release 3", "target": "SM8750", "model": stored_model(person).public_id}
    assert names(browser, **asked) == ["wanted"]


@pytest.mark.parametrize(
    ("sort", "first"), [("name", "a"), ("-name", "b"), ("target", "b"), ("-target", "a"), ("created", "a")]
)
def test_the_order_is_in_the_address(browser: Client, person: User, sort: str, first: str) -> None:
    now = timezone.now()
    bare_sweep(person, "a", soc_model=69, created_at=now - timedelta(days=1))
    bare_sweep(person, "b", soc_model=57, created_at=now)
    assert names(browser, sort=sort)[0] == first


@pytest.mark.parametrize(
    "asked",
    [
        {"sort": "trials; drop"},
        {"state": "nowhere"},
        {"page": "x"},
        {"page": "99999999999999999999"},
        {"q": "nul \0 byte"},
        {"q": "%_"},
        {"owner": "x" * 999},
        {"target": "SM8"},
        {"tag": "\U0001f9ea"},
    ],
)
def test_what_is_wrong_in_an_address_breaks_nothing(browser: Client, person: User, asked: dict[str, str]) -> None:
    bare_sweep(person, "one")
    page_of(browser, **asked)


def test_when_nothing_matches_the_way_back_is_shown(browser: Client, person: User) -> None:
    bare_sweep(person, "one")
    assert "Show all sweeps" in page_of(browser, q="nothing like it")


def test_pages_keep_the_filters(browser: Client, person: User) -> None:
    for number in range(30):
        bare_sweep(person, f"sweep {number}")
    assert "q=sweep&amp;page=2" in page_of(browser, q="sweep")


def test_the_list_of_another_team_is_another(browser: Client) -> None:
    bare_sweep(someone(), "not ours")
    assert "not ours" not in page_of(browser)


def test_a_foreign_tag_finds_nothing(browser: Client, person: User) -> None:
    bare_sweep(person, "ours")
    stranger = someone()
    bare_sweep(stranger, "theirs").tags.add(Tag.objects.create(team=stranger.team, name="secret"))
    assert names(browser, tag="secret") == []


def test_markup_in_a_name_is_shown_as_it_was_typed(browser: Client, person: User) -> None:
    bare_sweep(person, "<i>slanted</i>" + "n" * 280)
    page = page_of(browser)
    assert "&lt;i&gt;slanted&lt;/i&gt;" in page
    assert "<i>slanted" not in page


def test_the_number_of_queries_does_not_depend_on_the_number_of_sweeps(
    browser: Client, person: User, django_assert_num_queries: Any
) -> None:
    def one_more() -> None:
        sweep = stored_sweep(person)
        sweep.tags.add(Tag.objects.get_or_create(team=person.team, name="same")[0])

    one_more()
    page_of(browser)  # the first request of a process and of a session asks more
    with CaptureQueriesContext(connection) as first:
        page_of(browser)
    for _ in range(3):
        one_more()
    with django_assert_num_queries(len(first)):
        page_of(browser)
