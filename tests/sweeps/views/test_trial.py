"""One trial: a drawer over the page of its sweep."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sweeps.models import Sweep, Trial
from tests.people import someone
from tests.sweeps.stored import change, reopened, stored_sweep, trial_of
from tunerweb.accounts.models import User
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db
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


def address(trial: Trial, name: str = "trial") -> str:
    return reverse(f"sweeps:{name}", args=[trial.sweep.public_id, trial.public_id])


def text(response: HttpResponse) -> str:
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def drawer(browser: Client, trial: Trial, on_page: str = "") -> HttpResponse:
    current = f"http://testserver{on_page or trial.sweep.get_absolute_url()}"
    headers = {**IN_PLACE, "HX-Target": "drawer", "HX-Current-URL": current}
    response: HttpResponse = browser.get(address(trial), headers=headers)
    return response


def test_a_direct_link_shows_the_page_with_the_drawer_open(browser: Client, sweep: Sweep) -> None:
    page = text(browser.get(address(trial_of(sweep, "P=22"))))
    assert page.index('id="ranking"') < page.index('id="drawer"') < page.index("Context binary")


def test_the_head_of_the_page_stays_that_of_the_sweep(browser: Client, sweep: Sweep) -> None:
    change(trial_of(sweep, "P=4"), WorkState.FAILED, reason="It crashed.")
    page = text(browser.get(address(trial_of(sweep, "P=4"))))
    assert "state state-done" in page.split('id="sweep-actions"')[0]


def test_in_place_only_the_drawer_comes(browser: Client, sweep: Sweep) -> None:
    answer = text(drawer(browser, trial_of(sweep, "P=22")))
    assert answer.startswith('<div class="drawer-head">')


def test_the_address_of_the_drawer_keeps_the_view_behind_it(browser: Client, sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=22")
    answer = drawer(browser, trial, f"{sweep.get_absolute_url()}?by=ram&selected=a")
    assert answer["HX-Push-Url"] == f"{address(trial)}?by=ram&selected=a"
    assert f'href="{sweep.get_absolute_url()}?by=ram&amp;selected=a"' in text(answer)


def test_a_drawer_that_refreshes_itself_adds_nothing_to_the_history(browser: Client, sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=22")
    assert drawer(browser, trial, address(trial))["HX-Push-Url"] == "false"


def test_a_live_trial_refreshes_its_drawer(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    assert 'hx-trigger="every 2s"' in text(drawer(browser, trial_of(sweep, "P=4")))
    assert 'hx-trigger="every 2s"' not in text(drawer(browser, trial_of(sweep, "P=22")))


def test_it_shows_sizes_traffic_cycles_and_phases(browser: Client, sweep: Sweep) -> None:
    said = text(drawer(browser, trial_of(sweep, "P=22")))
    for part in ("761,856 bytes", "I/O tensors", "458,662", "simulated schedule", "VTCM Allocation", "peak memory"):
        assert part in said


def test_its_files_can_be_downloaded(browser: Client, sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=22")
    said = text(drawer(browser, trial))
    for name in ("context_binary.bin", "config.json", "wrapper.json"):
        url = reverse("sweeps:trial_file", args=[sweep.public_id, trial.public_id, name])
        assert f'href="{url}"' in said


def test_a_refusal_shows_the_reason_and_the_compilers_own_words(browser: Client, sweep: Sweep) -> None:
    error = {
        "sentence": "The compiler said no.", "kind": "refusal", "log_tail": ["<E> last"], "exit_code": 0,
        "native_errors": ["<E> QnnBackend_validateOpConfig failed 3110"], "signal": None, "error_code": 3110,
    }  # fmt: skip
    change(trial_of(sweep, "P=4"), WorkState.REJECTED, reason="The compiler said no.", error=error)
    said = text(drawer(browser, trial_of(sweep, "P=4")))
    assert "The compiler said no." in said
    assert "&lt;E&gt; QnnBackend_validateOpConfig failed 3110" in said


def test_attempts_and_crashes_are_told(browser: Client, sweep: Sweep) -> None:
    change(trial_of(sweep, "P=4"), WorkState.FAILED, reason="It crashed.", attempts=3, crashes=3)
    assert "3, 3 crashes of the compiler" in text(drawer(browser, trial_of(sweep, "P=4")))


def test_the_sweeps_that_share_the_compile_are_linked(browser: Client, sweep: Sweep, person: User) -> None:
    other = stored_sweep(person, name="the same again")
    said = text(drawer(browser, trial_of(sweep, "P=22")))
    assert f'<a href="{address(trial_of(other, "P=22"))}">the same again</a>' in said


def test_the_log_comes_in_place_as_text(browser: Client, sweep: Sweep) -> None:
    said = text(browser.get(address(trial_of(sweep, "P=22"), "trial_log"), headers=IN_PLACE))
    assert "&lt;I&gt; QnnContext_getBinary done successfully." in said


def test_the_log_has_an_address_of_its_own(browser: Client, sweep: Sweep) -> None:
    answer = browser.get(address(trial_of(sweep, "P=22"), "trial_log"))
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert b"<I> QnnContext_getBinary done" in answer.content


def test_a_trial_without_a_log_says_so(browser: Client, sweep: Sweep) -> None:
    change(trial_of(sweep, "P=4"), WorkState.FAILED, reason="It crashed.")
    assert "No log was kept." in text(browser.get(address(trial_of(sweep, "P=4"), "trial_log"), headers=IN_PLACE))


def test_cancelling_a_trial_leaves_the_others(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4", "P=5")
    assert browser.post(address(trial_of(sweep, "P=4"), "trial_cancel")).status_code == 302
    assert trial_of(sweep, "P=4").state == "cancelled"
    assert trial_of(sweep, "P=5").state == "queued"


def test_a_trial_that_is_done_is_not_cancelled(browser: Client, sweep: Sweep) -> None:
    browser.post(address(trial_of(sweep, "P=22"), "trial_cancel"))
    assert trial_of(sweep, "P=22").state == "done"


def test_cancelled_in_place_the_row_comes_back_as_it_is(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4", "P=5")
    trial = trial_of(sweep, "P=4")
    said = text(browser.post(address(trial, "trial_cancel"), headers=IN_PLACE))
    row = said.split(f'<tr id="trial-{trial.public_id}"')[1].split("</tr>")[0]
    assert "cancelled" in row


@pytest.mark.parametrize("name", ["trial", "trial_log", "trial_cancel"])
def test_a_trial_is_found_under_its_own_sweep_only(browser: Client, sweep: Sweep, person: User, name: str) -> None:
    other = trial_of(stored_sweep(person), "P=22")
    url = reverse(f"sweeps:{name}", args=[sweep.public_id, other.public_id])
    assert (browser.post(url) if name == "trial_cancel" else browser.get(url)).status_code == 404


@pytest.mark.parametrize("name", ["trial", "trial_log", "trial_cancel"])
def test_a_trial_of_another_team_does_not_exist(browser: Client, name: str) -> None:
    url = address(trial_of(stored_sweep(someone()), "P=22"), name)
    assert (browser.post(url) if name == "trial_cancel" else browser.get(url)).status_code == 404


def test_a_running_trial_shows_its_phase(browser: Client, sweep: Sweep) -> None:
    reopened(sweep, "P=4")
    change(trial_of(sweep, "P=4"), WorkState.RUNNING, phase="finalizing", started_at=timezone.now())
    assert "finalizing" in text(drawer(browser, trial_of(sweep, "P=4")))
