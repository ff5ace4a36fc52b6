"""The page of a sweep and what can be asked of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from sweeps.models import Sweep, Tag
from tests.people import someone
from tests.sweeps.stored import change, large_sweep, reopened, stored_sweep, trial_of
from tunerweb.accounts.models import User
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db
ACTIONS = ("sweep_cancel", "sweep_pause", "sweep_resume", "sweep_retry", "sweep_priority", "sweep_delete")
IN_PLACE = {"HX-Request": "true"}


@pytest.fixture
def person() -> User:
    return someone("mira")


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def sweep(person: User) -> Sweep:
    return stored_sweep(person)


def address(sweep: Sweep, name: str = "sweep") -> str:
    return reverse(f"sweeps:{name}", args=[sweep.public_id])


def text(response: HttpResponse) -> str:
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def page_of(browser: Client, sweep: Sweep, query: str = "") -> str:
    return text(browser.get(f"{address(sweep)}{query}"))


def ask(browser: Client, sweep: Sweep, name: str, **fields: str) -> Sweep:
    assert browser.post(address(sweep, name), fields).status_code == 302
    sweep.refresh_from_db()
    return sweep


def in_place(browser: Client, sweep: Sweep, query: str, on_page: str = "", target: str = "results") -> HttpResponse:
    """What htmx asks for when a link is clicked."""
    current = f"http://testserver{address(sweep)}{on_page}"
    headers = {**IN_PLACE, "HX-Target": target, "HX-Current-URL": current}
    response: HttpResponse = browser.get(f"{address(sweep)}{query}", headers=headers)
    return response


# What it shows


def test_the_verdict_comes_before_the_ranking_and_the_trials(browser: Client, sweep: Sweep) -> None:
    page = page_of(browser, sweep)
    assert page.index('id="sweep-verdict"') < page.index('id="ranking"') < page.index('id="trials"')
    assert "ROM: P=22 saves 1.1 % against as given" in page


def test_the_head_names_model_config_target_toolchain_and_person(browser: Client, sweep: Sweep) -> None:
    page = page_of(browser, sweep)
    for fact in ("sample_detector", "default 8 MB v1", "SM8650 (v75, 8 MB VTCM)", "QAIRT 2.51", "by mira", "18 points"):
        assert fact in page


def test_tags_and_notes_are_on_the_page(browser: Client, sweep: Sweep) -> None:
    sweep.tags.add(Tag.objects.create(team=sweep.team, name="release 3"))
    Sweep.objects.filter(pk=sweep.pk).update(notes="after the VTCM fix")
    page = page_of(browser, sweep)
    assert "release 3" in page
    assert "after the VTCM fix" in page


def test_the_metric_to_rank_by_is_in_the_address(browser: Client, sweep: Sweep) -> None:
    page = page_of(browser, sweep, "?by=cycles")
    assert "Simulated cycles: ship P=8" in page
    assert "not ranked: another simulated clock (2115 MHz; P=0: 805 MHz)" in page


def test_an_address_that_makes_no_sense_shows_the_page_as_it_is(browser: Client, sweep: Sweep) -> None:
    assert 'id="ranking"' in page_of(browser, sweep, "?by=%00&sort=\ud7ff&page=-3&all=maybe&selected=<b>")


def test_names_with_markup_are_text(browser: Client, sweep: Sweep) -> None:
    Sweep.objects.filter(pk=sweep.pk).update(name="<script>alert(1)</script>", notes="<b>{{ 7 }}</b>")
    page = page_of(browser, sweep)
    assert "<script>alert(1)" not in page
    assert "&lt;b&gt;{{ 7 }}&lt;/b&gt;" in page


def test_a_name_of_300_characters_is_shown(browser: Client, sweep: Sweep) -> None:
    Sweep.objects.filter(pk=sweep.pk).update(name="n" * 300)
    assert "n" * 300 in page_of(browser, sweep)


def test_the_page_needs_no_script_or_style_of_its_own(browser: Client, sweep: Sweep) -> None:
    page = page_of(browser, sweep)
    assert not re.search(r"\son[a-z]+=|\sstyle=|hx-on|javascript:", page)
    assert set(re.findall(r"<script(?! src)[^>]*>", page)) == {'<script id="chart-data" type="application/json">'}


def test_a_running_sweep_says_how_far_it_is(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4", "P=5")
    change(trial_of(sweep, "P=6"), WorkState.REJECTED, reason="no")
    page = page_of(browser, sweep)
    assert "15 of 18 compiled, 1 rejected; waiting for a free worker." in page
    assert "16/18" in page


def test_a_paused_sweep_says_so(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    Sweep.objects.filter(pk=sweep.pk).update(paused_at=timezone.now())
    assert "Paused" in page_of(browser, sweep)


def test_when_nothing_compiled_the_reason_is_the_first_thing(browser: Client, sweep: Sweep) -> None:
    for trial in sweep.trials.with_work():
        change(trial, WorkState.REJECTED, reason="Op 17 is not supported on v75.")
    page = page_of(browser, sweep)
    assert page.index("Nothing compiled.") < page.index("Op 17 is not supported on v75.") < page.index('id="ranking"')


def test_a_long_list_of_trials_has_pages(browser: Client, person: User) -> None:
    sweep = large_sweep(person, 120)
    assert page_of(browser, sweep, "?page=2").count('<tr id="trial-') == 20


def test_the_socket_asks_for_what_the_page_shows(browser: Client, sweep: Sweep) -> None:
    assert f'ws-connect="/ws/sweeps/{sweep.public_id}/?by=ram&amp;sort=-rom"' in page_of(
        browser, sweep, "?by=ram&sort=-rom"
    )


def test_a_page_takes_the_same_few_queries_for_many_trials(browser: Client, sweep: Sweep, person: User) -> None:
    many = large_sweep(person, 60, name="many")
    counts = []
    for each in (sweep, many):
        page_of(browser, each)
        with CaptureQueriesContext(connection) as queries:
            page_of(browser, each)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 10


# In place


def test_a_tab_brings_the_results_and_the_socket_for_them(browser: Client, sweep: Sweep) -> None:
    answer = text(in_place(browser, sweep, "?by=ram"))
    assert answer.startswith('<div id="results"')
    assert 'hx-swap-oob="outerHTML"' in answer
    assert "<html" not in answer


def test_a_tab_keeps_what_is_selected_in_the_address(browser: Client, sweep: Sweep) -> None:
    answer = in_place(browser, sweep, "?by=ram", on_page="?by=dram&sort=-rom&selected=a&selected=b&plot_x=cycles")
    assert answer["HX-Push-Url"] == f"{address(sweep)}?selected=a&selected=b&plot_x=cycles&by=ram"


def test_closing_the_drawer_brings_nothing_and_keeps_the_view(browser: Client, sweep: Sweep) -> None:
    answer = in_place(browser, sweep, "", on_page="trials/x/?by=ram", target="drawer")
    assert answer.content == b""
    assert answer["HX-Push-Url"] == f"{address(sweep)}?by=ram"


def test_an_address_of_another_site_is_not_followed(browser: Client, sweep: Sweep) -> None:
    headers = {**IN_PLACE, "HX-Target": "results", "HX-Current-URL": "https://elsewhere.example/x?selected=a"}
    answer = browser.get(f"{address(sweep)}?by=ram", headers=headers)
    assert answer["HX-Push-Url"] == f"{address(sweep)}?by=ram"


# Who may see it


@pytest.mark.parametrize("name", ["sweep", *ACTIONS])
def test_a_sweep_of_another_team_does_not_exist(browser: Client, name: str) -> None:
    foreign = stored_sweep(someone())
    assert browser.post(address(foreign, name)).status_code == (405 if name == "sweep" else 404)
    assert browser.get(address(foreign, name)).status_code in (404, 405)


def test_an_unknown_sweep_is_not_found(browser: Client) -> None:
    assert browser.get(reverse("sweeps:sweep", args=["nothere"])).status_code == 404


@pytest.mark.parametrize("name", [name for name in ACTIONS if name != "sweep_delete"])
def test_a_look_changes_nothing(browser: Client, sweep: Sweep, name: str) -> None:
    assert browser.get(address(sweep, name)).status_code == 405


def test_without_the_token_of_the_form_nothing_is_done(person: User, sweep: Sweep) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    assert client.post(address(sweep, "sweep_cancel")).status_code == 403


# What can be asked


def test_cancel_ends_what_is_live(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4", "P=5")
    assert ask(browser, sweep, "sweep_cancel").finished_at
    assert {trial.label for trial in sweep.trials.with_work() if trial.cancelled_at} == {"P=4", "P=5"}


def test_cancelled_twice_is_cancelled_once(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    first = ask(browser, sweep, "sweep_cancel").cancelled_at
    assert ask(browser, sweep, "sweep_cancel").cancelled_at == first


def test_pause_and_resume(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    assert ask(browser, sweep, "sweep_pause").paused_at
    assert ask(browser, sweep, "sweep_resume").paused_at is None


def test_priority_is_set(browser: Client, sweep: Sweep) -> None:
    assert ask(browser, sweep, "sweep_priority", priority="-10").priority == -10


@pytest.mark.parametrize("priority", ["", "high", "101", "-101", "1e3", "²", "9" * 40])
def test_a_priority_that_is_none_changes_nothing_and_says_why(browser: Client, sweep: Sweep, priority: str) -> None:
    assert ask(browser, sweep, "sweep_priority", priority=priority).priority == 0
    assert "A priority is a whole number from -100 to 100." in page_of(browser, sweep)


def test_retry_gives_failed_trials_new_work(browser: Client, sweep: Sweep) -> None:
    change(trial_of(sweep, "P=4"), WorkState.FAILED, reason="It crashed.")
    assert "Retry failed (1)" in page_of(browser, sweep)
    assert ask(browser, sweep, "sweep_retry").finished_at is None
    assert trial_of(sweep, "P=4").state == "queued"


def test_in_place_the_answer_is_the_parts_as_they_are_now(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    answer = text(browser.post(address(sweep, "sweep_pause"), headers=IN_PLACE))
    assert "Paused" in answer
    assert '<template><tr id="trial-' in answer


def test_deletion_shows_first_what_would_go(browser: Client, sweep: Sweep) -> None:
    page = text(browser.get(address(sweep, "sweep_delete")))
    assert "18 trials are deleted for good, with 36 files that nothing else needs" in page
    assert Sweep.objects.filter(pk=sweep.pk).exists()


def test_the_question_comes_in_place(browser: Client, sweep: Sweep) -> None:
    answer = text(browser.get(address(sweep, "sweep_delete"), headers=IN_PLACE))
    assert answer.startswith("<form")
    assert "csrfmiddlewaretoken" in answer


def test_a_sweep_whose_files_others_need_says_that_they_stay(browser: Client, sweep: Sweep, person: User) -> None:
    stored_sweep(person)
    assert "its files stay, because other sweeps need them" in text(browser.get(address(sweep, "sweep_delete")))


def test_a_deleted_sweep_is_gone(browser: Client, sweep: Sweep) -> None:
    answer = browser.post(address(sweep, "sweep_delete"))
    assert answer["Location"] == reverse("sweeps:sweep_list")
    assert not Sweep.objects.filter(pk=sweep.pk).exists()


def test_a_running_sweep_is_not_deleted_and_says_why(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    ask(browser, sweep, "sweep_delete")
    assert "was not deleted. It is still running: cancel it first." in page_of(browser, sweep)


def test_clone_starts_a_launch_from_this_sweep(browser: Client, sweep: Sweep) -> None:
    assert f'href="{reverse("sweeps:launch")}?clone={sweep.public_id}"' in page_of(browser, sweep)


def test_downloads_are_offered_once_there_is_something(browser: Client, sweep: Sweep) -> None:
    page = page_of(browser, sweep)
    for name in ("bundle", "size_report", "csv"):
        assert address(sweep, name) in page


def test_the_best_binaries_are_offered_when_it_has_finished(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    page = page_of(browser, sweep)
    assert address(sweep, "bundle") not in page
    assert address(sweep, "csv") in page


def test_pages_are_not_kept_by_the_browser(browser: Client, sweep: Sweep) -> None:
    """A part that was asked for in place has the same address as the page: Back would show it alone."""
    response: Any = browser.get(address(sweep))
    assert "no-store" in response["Cache-Control"]
