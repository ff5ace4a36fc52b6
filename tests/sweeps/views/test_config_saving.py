"""Saving a config: a new one, another version, a stale form."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from sweeps.models import CompileConfig
from sweeps.saving import create_config, save_version
from tests.people import someone
from tests.sweeps.views.config_pages import (
    HOSTILE,
    READY,
    TOO_MUCH_VTCM,
    create,
    messages_of,
    said,
    save,
    stored,
    url_of,
)
from tunerweb.accounts.models import User, new_public_id

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return someone()


@pytest.fixture
def client(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


# A new config


def test_a_new_config_begins_as_the_template_of_the_asked_target(client: Client) -> None:
    assert client.get(reverse("sweeps:config_new"), {"target": "SM8650"}).context["text"] == READY


def test_a_new_config_can_begin_as_a_copy(client: Client, person: User) -> None:
    row = stored(person, text=TOO_MUCH_VTCM)
    page = client.get(reverse("sweeps:config_new"), {"copy": row.public_id})
    assert (page.context["text"], page.context["form"].data["name"]) == (TOO_MUCH_VTCM, "mobilenet (copy)")


def test_a_target_of_the_address_that_does_not_exist_is_told(client: Client) -> None:
    page = client.get(reverse("sweeps:config_new"), {"target": "toaster"}).content.decode()
    assert "There is no SoC &#x27;toaster&#x27;" in page


def test_saving_leads_to_the_page_of_the_config(client: Client) -> None:
    answer = create(client)
    assert answer.headers["HX-Redirect"] == url_of(CompileConfig.objects.get(name="new"))


def test_without_htmx_saving_leads_there_too(client: Client) -> None:
    answer = client.post(reverse("sweeps:config_new"), {"name": "new", "text": READY})
    assert answer.headers["Location"] == url_of(CompileConfig.objects.get(name="new"))


def test_a_saved_version_has_the_text_as_it_was_typed_and_its_soc(client: Client, person: User) -> None:
    create(client, text="// why\r\n" + READY)
    version = CompileConfig.objects.get(name="new").latest
    assert (version.text, version.number, version.soc_model) == ("// why\n" + READY, 1, 57)
    assert version.created_by == person


def test_a_form_that_is_sent_twice_makes_one_config(client: Client) -> None:
    public_id = new_public_id()
    assert [create(client, public_id=public_id).headers["HX-Redirect"] for _ in range(2)] == [
        reverse("sweeps:config", args=[public_id])
    ] * 2
    assert CompileConfig.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_at_one_moment_makes_one_config(person: User) -> None:
    public_id = new_public_id()

    def send(_: int) -> None:
        try:
            create_config(person.team, person, name="new", text=READY, public_id=public_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    assert [version.number for version in CompileConfig.objects.get().versions.all()] == [1]


def test_the_id_of_a_foreign_config_is_not_taken_over(client: Client) -> None:
    foreign = stored(someone())
    create(client, public_id=foreign.public_id)
    assert (foreign.versions.count(), CompileConfig.objects.filter(name="new").count()) == (1, 1)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "Give the config a name"),
        ("  \n ", "Give the config a name"),
        ("x" * 301, "This has 301 characters; at most 300 fit."),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_a_name_that_cannot_be_is_told(client: Client, name: str, sentence: str) -> None:
    assert said(create(client, name=name)).startswith(sentence)
    assert CompileConfig.objects.count() == 0


def test_without_htmx_a_refused_form_keeps_what_was_typed(client: Client) -> None:
    page = client.post(reverse("sweeps:config_new"), {"name": "", "text": TOO_MUCH_VTCM, "target": "SM8650"})
    assert (page.context["text"], page.context["form"].data["target"]) == (TOO_MUCH_VTCM, "SM8650")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_without_settings_is_refused_and_kept(client: Client, text: str) -> None:
    answer = client.post(reverse("sweeps:config_new"), {"name": "new", "text": text})
    assert (answer.status_code, answer.context["text"]) == (200, text)
    assert said(answer)
    assert CompileConfig.objects.count() == 0


def test_markup_in_a_name_stays_text(client: Client) -> None:
    name = "<script>alert(1)</script>" + "x" * 275
    create(client, name=name)
    row = CompileConfig.objects.get()
    pages = [client.get(url) for url in (url_of(row), reverse("sweeps:config_list"))]
    assert all("<script>alert" not in page.content.decode() for page in pages)
    assert row.name == name


def test_a_number_that_no_soc_has_is_not_taken_for_one(client: Client) -> None:
    create(client, text='{"devices": [{"soc_model": 4000000000}]}')
    assert CompileConfig.objects.get().latest.soc_model is None


# Another version


def test_changed_text_is_a_new_version(client: Client, person: User) -> None:
    row = stored(person)
    save(client, row, TOO_MUCH_VTCM)
    assert [version.text for version in row.versions.all()] == [READY, TOO_MUCH_VTCM]


def test_the_same_text_is_no_new_version(client: Client, person: User) -> None:
    row = stored(person)
    save(client, row, READY.replace("\n", "\r\n"))
    assert row.versions.count() == 1
    assert messages_of(client, row) == "Nothing has changed since version 1, so no new version was saved."


def test_a_version_with_problems_is_saved_and_said_to_have_them(client: Client, person: User) -> None:
    row = stored(person)
    save(client, row, TOO_MUCH_VTCM)
    assert messages_of(client, row) == "Saved as version 2. It has 1 problem for SM8650."


def test_unreadable_text_is_no_version(client: Client, person: User) -> None:
    row = stored(person)
    answer = save(client, row, "{")
    assert (row.versions.count(), said(answer).startswith("The config is not JSON")) == (1, True)


def test_a_stale_form_does_not_write_over_what_others_saved(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, someone("ada", person.team), TOO_MUCH_VTCM, seen=1)
    page = save(client, row, READY + "\n", seen=1).content.decode()
    assert row.versions.count() == 2
    assert "Version 2 was saved by ada" in page
    assert 'class="diff-removed"' in page


def test_a_stale_form_can_be_saved_on_top(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, person, TOO_MUCH_VTCM, seen=1)
    save(client, row, READY + "\n", seen=1, on_top=2)
    assert row.latest.number == 3


def test_a_form_that_became_stale_again_is_told_again(client: Client, person: User) -> None:
    row = stored(person)
    for seen, text in ((1, TOO_MUCH_VTCM), (2, READY)):
        save_version(row, person, text, seen=seen)
    assert "Version 3 was saved" in save(client, row, READY + "\n", seen=1, on_top=2).content.decode()


def test_a_stale_form_with_the_latest_text_changes_nothing(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, person, TOO_MUCH_VTCM, seen=1)
    save(client, row, TOO_MUCH_VTCM, seen=1)
    assert row.versions.count() == 2


def test_an_old_version_can_be_looked_at(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, person, TOO_MUCH_VTCM, seen=1)
    page = client.get(url_of(row), {"version": 1})
    assert page.context["text"] == READY
    assert "This is version 1" in page.content.decode()


def test_an_old_version_is_restored_as_a_new_one(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, person, TOO_MUCH_VTCM, seen=1)
    client.post(url_of(row, "config_restore", 1))
    assert (row.latest.number, row.latest.text) == (3, READY)


def test_two_versions_are_compared(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, person, TOO_MUCH_VTCM, seen=1)
    rows = client.get(url_of(row, "config_compare"), {"old": 1, "new": 2}).context["diff"].rows
    assert [row.sign + row.text.strip() for row in rows if row.sign] == [
        '\N{MINUS SIGN}"vtcm_mb": 0',
        '+"vtcm_mb": 80',
    ]


@pytest.mark.parametrize("query", [{}, {"old": "1"}, {"old": "1", "new": "9"}, {"old": "x", "new": "1"}])
def test_versions_that_are_not_there_are_not_compared(client: Client, person: User, query: dict[str, str]) -> None:
    assert client.get(url_of(stored(person), "config_compare"), query).status_code == 404
