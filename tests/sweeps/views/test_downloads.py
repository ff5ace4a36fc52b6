from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client
from django.urls import reverse

from sweeps.models import Sweep
from tests.people import someone
from tests.sweeps.stored import reopened, stored_sweep, trial_of
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import server_store

pytestmark = pytest.mark.django_db
OF_A_SWEEP = ("bundle", "size_report", "csv")


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
    return stored_sweep(person, name="Détecteur, release 3")


def get(browser: Client, name: str, *args: str, **headers: str) -> Any:
    return browser.get(reverse(f"sweeps:{name}", args=args), headers=headers)


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.mark.parametrize("name", OF_A_SWEEP)
def test_a_download_is_an_attachment_of_known_size(browser: Client, sweep: Sweep, name: str) -> None:
    answer = get(browser, name, sweep.public_id)
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment; filename=")
    assert int(answer["Content-Length"]) == len(content(answer))


@pytest.mark.parametrize("name", OF_A_SWEEP)
def test_no_cache_keeps_a_download_for_others(browser: Client, sweep: Sweep, name: str) -> None:
    answer = get(browser, name, sweep.public_id)
    assert (answer["Cache-Control"], answer["X-Content-Type-Options"]) == ("private", "nosniff")


def test_the_bundle_opens(browser: Client, sweep: Sweep) -> None:
    answer = get(browser, "bundle", sweep.public_id)
    with zipfile.ZipFile(io.BytesIO(content(answer))) as bundle:
        assert bundle.testzip() is None


def test_the_bundle_is_named_after_the_sweep(browser: Client, sweep: Sweep) -> None:
    answer = get(browser, "bundle", sweep.public_id)
    assert answer["Content-Disposition"] == 'attachment; filename="detecteur_release_3.zip"'


def test_the_report_is_json(browser: Client, sweep: Sweep) -> None:
    answer = get(browser, "size_report", sweep.public_id)
    assert answer["Content-Type"] == "application/json"
    assert json.loads(content(answer))["target"]["name"] == "SM8650"


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_under_asgi_a_download_is_streamed_without_a_warning(person: User) -> None:
    """Django warns when it has to read a plain iterator into memory, and warnings are errors here."""
    browser = AsyncClient()
    await browser.aforce_login(person)
    sweep = await sync_to_async(stored_sweep)(person)
    answer = await browser.get(reverse("sweeps:bundle", args=[sweep.public_id]))
    content = b"".join([chunk async for chunk in answer.streaming_content])
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        assert bundle.testzip() is None


def test_a_trial_hands_out_its_binary(browser: Client, sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=4")
    answer = get(browser, "trial_file", sweep.public_id, trial.public_id, "context_binary.bin")
    assert content(answer) == server_store().read(trial.compilation.binary.sha256)


def test_asked_for_the_head_alone_nothing_is_read(browser: Client, sweep: Sweep) -> None:
    answer = browser.head(reverse("sweeps:bundle", args=[sweep.public_id]))
    assert int(answer["Content-Length"]) > 0
    assert content(answer) == b""


@pytest.mark.parametrize("name", ["bundle", "size_report"])
def test_before_the_end_a_page_says_when_to_come_back(browser: Client, sweep: Sweep, name: str) -> None:
    answer = get(browser, name, reopened(sweep, "P=4").public_id)
    assert answer.status_code == 409
    assert "This sweep is not finished." in answer.content.decode()


def test_before_the_end_the_table_is_there(browser: Client, sweep: Sweep) -> None:
    assert get(browser, "csv", reopened(sweep, "P=4").public_id).status_code == 200


def test_a_file_that_the_disk_lost_is_told_on_a_page(browser: Client, sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=4")
    server_store().path(trial.compilation.binary.sha256).unlink()
    answer = get(browser, "trial_file", sweep.public_id, trial.public_id, "context_binary.bin")
    assert answer.status_code == 409
    assert "launch again" in answer.content.decode()


@pytest.mark.parametrize("name", OF_A_SWEEP)
def test_of_a_foreign_sweep_there_is_nothing(browser: Client, name: str) -> None:
    foreign = stored_sweep(someone())
    assert get(browser, name, foreign.public_id).status_code == 404


@pytest.mark.parametrize("name", OF_A_SWEEP)
def test_of_an_unknown_sweep_there_is_nothing(browser: Client, name: str) -> None:
    assert get(browser, name, "nosuchsweep").status_code == 404


def test_of_a_foreign_trial_there_is_nothing(browser: Client, sweep: Sweep) -> None:
    foreign = trial_of(stored_sweep(someone()), "P=4")
    assert get(browser, "trial_file", sweep.public_id, foreign.public_id, "config.json").status_code == 404


def test_a_trial_is_found_under_its_own_sweep_alone(browser: Client, person: User, sweep: Sweep) -> None:
    trial = trial_of(stored_sweep(person), "P=4")
    assert get(browser, "trial_file", sweep.public_id, trial.public_id, "config.json").status_code == 404


def test_of_another_name_there_is_no_file(browser: Client, sweep: Sweep) -> None:
    trial = trial_of(sweep, "P=4")
    assert get(browser, "trial_file", sweep.public_id, trial.public_id, "passwd").status_code == 404


def test_a_download_is_only_read(browser: Client, sweep: Sweep) -> None:
    assert browser.post(reverse("sweeps:bundle", args=[sweep.public_id])).status_code == 405
