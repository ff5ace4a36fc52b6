"""The list of configs, and what is done with a saved one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from devices.targets import find_target
from sweeps.configs import check_config, read_config
from sweeps.configs.starting import starting_text
from sweeps.models import CompileConfig
from sweeps.saving import describe_config, save_version
from tests.people import someone
from tests.sweeps.stored import stored_sweep
from tests.sweeps.views.config_pages import (
    HTMX,
    READY,
    TOO_MUCH_VTCM,
    check,
    listed,
    messages_of,
    stored,
    url_of,
)
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return someone()


@pytest.fixture
def client(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


# The list


def test_without_configs_the_page_offers_a_template(client: Client) -> None:
    page = client.get(reverse("sweeps:config_list")).content.decode()
    assert "No config yet" in page
    assert "Start from a template" in page


def test_the_config_that_was_saved_last_comes_first(client: Client, person: User) -> None:
    first, _ = stored(person, "first"), stored(person, "second")
    save_version(first, person, TOO_MUCH_VTCM, seen=1)
    assert listed(client) == ["first", "second"]


@pytest.mark.parametrize("query", ["DETECT", "vtcm", "detector vtcm", "phone"])
def test_a_search_looks_at_names_notes_and_tags(client: Client, person: User, query: str) -> None:
    stored(person, "other")
    row = stored(person)
    describe_config(row, name="detector", notes="little VTCM", tags=["phone"])
    assert listed(client, q=query) == ["detector"]


def test_a_target_is_found_by_any_of_its_names(client: Client, person: User) -> None:
    stored(person, "for the 8 Gen 3")
    stored(person, "for the 888", starting_text(find_target("SM8350")))
    assert listed(client, target="Snapdragon 8 Gen 3") == ["for the 8 Gen 3"]


def test_the_target_is_that_of_the_latest_version(client: Client, person: User) -> None:
    row = stored(person)
    save_version(row, person, starting_text(find_target("SM8350")), seen=1)
    assert (listed(client, target="SM8650"), listed(client, target="SM8350")) == ([], ["mobilenet"])


def test_a_list_can_be_of_one_tag(client: Client, person: User) -> None:
    stored(person, "a", tags=("phone", "camera"))
    stored(person, "b", tags=("car",))
    assert listed(client, tag="camera") == ["a"]


def test_a_list_can_be_of_one_person(client: Client, person: User) -> None:
    colleague = someone("colleague", person.team)
    stored(person, "mine")
    stored(colleague, "theirs")
    assert listed(client, owner=colleague.public_id) == ["theirs"]


@pytest.mark.parametrize(("sort", "expected"), [("name", ["a", "B", "c"]), ("-name", ["c", "B", "a"])])
def test_names_sort_without_regard_to_case(client: Client, person: User, sort: str, expected: list[str]) -> None:
    for name in ("c", "a", "B"):
        stored(person, name)
    assert listed(client, sort=sort) == expected


def test_versions_and_sweeps_are_counted(client: Client, person: User) -> None:
    row = stored_sweep(person).config_version.config  # type: ignore[union-attr]
    stored_sweep(person, config_version=row.latest)
    save_version(row, person, READY, seen=1)
    shown = next(one for one in client.get(reverse("sweeps:config_list")).context["rows"] if one["config"] == row)
    assert (shown["counts"]["version_count"], shown["counts"]["sweep_count"]) == (2, 2)


@pytest.mark.parametrize(("sort", "expected"), [("versions", ["once", "twice"]), ("-versions", ["twice", "once"])])
def test_a_list_can_be_in_order_of_versions(client: Client, person: User, sort: str, expected: list[str]) -> None:
    save_version(stored(person, "twice", tags=("a", "b")), person, TOO_MUCH_VTCM, seen=1)
    stored(person, "once", tags=("a", "b", "c"))
    assert listed(client, sort=sort, q="c") == expected


def test_a_list_can_be_in_order_of_sweeps(client: Client, person: User) -> None:
    stored_sweep(person)
    stored(person, "unused")
    assert listed(client, sort="sweeps") == ["unused", "default 8 MB"]


def test_archived_configs_are_left_out_until_they_are_asked_for(client: Client, person: User) -> None:
    row = stored(person, "old")
    client.post(url_of(row, "config_archive"), {"archived": "yes"})
    assert (listed(client), listed(client, archived="yes")) == ([], ["old"])


def test_a_config_can_be_taken_out_of_the_archive(client: Client, person: User) -> None:
    row = stored(person)
    CompileConfig.objects.update(archived_at=timezone.now())
    client.post(url_of(row, "config_archive"), {"archived": "no"})
    assert listed(client) == ["mobilenet"]


def test_a_list_says_which_configs_have_problems(client: Client, person: User) -> None:
    stored(person, text=TOO_MUCH_VTCM)
    page = client.get(reverse("sweeps:config_list")).content.decode()
    assert "1 problem for SM8650." in page


@pytest.mark.parametrize("query", [{"sort": "'"}, {"page": "x"}, {"target": "SDM845"}, {"q": "\0"}, {"owner": "\0"}])
def test_a_wrong_address_still_has_a_list(client: Client, person: User, query: dict[str, str]) -> None:
    stored(person)
    assert listed(client, **query) == ["mobilenet"]


def test_a_live_search_answers_with_the_table_alone(client: Client, person: User) -> None:
    stored(person)
    answer = client.get(reverse("sweeps:config_list"), headers=HTMX)
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer.headers["Vary"]


def test_a_longer_list_asks_no_more_questions(
    client: Client, person: User, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    stored(person, tags=("a",))
    with django_assert_max_num_queries(15) as few:
        listed(client)
    for number in range(20):
        stored(person, f"config {number}", tags=("a", "b"))
    with django_assert_num_queries(len(few)):
        listed(client)


# Only what the own team has


def test_another_teams_configs_are_not_listed(client: Client) -> None:
    stored(someone())
    assert listed(client) == []


@pytest.mark.parametrize("name", ["config", "config_compare"])
@pytest.mark.parametrize("public_id", [None, "nosuchconfig", "%00", "x" * 300, "'"])
def test_a_page_of_a_foreign_or_unknown_config_does_not_exist(client: Client, name: str, public_id: str | None) -> None:
    public_id = public_id or stored(someone()).public_id
    url = reverse(f"sweeps:{name}", args=["PLACE"]).replace("PLACE", public_id)
    assert client.get(url).status_code == 404


@pytest.mark.parametrize("name", ["config", "config_about", "config_archive", "config_delete"])
def test_a_foreign_config_cannot_be_changed(client: Client, name: str) -> None:
    row = stored(someone())
    assert client.post(url_of(row, name), {"text": "{}", "name": "x", "seen": 1}).status_code == 404


def test_a_foreign_version_cannot_be_restored_or_downloaded(client: Client) -> None:
    row = stored(someone())
    answers = [client.post(url_of(row, "config_restore", 1)), client.get(url_of(row, "config_file", 1, "typed"))]
    assert [answer.status_code for answer in answers] == [404, 404]


def test_a_foreign_config_is_not_copied(client: Client) -> None:
    row = stored(someone(), text=READY + "\n\n")
    page = client.get(reverse("sweeps:config_new"), {"copy": row.public_id})
    assert page.context["text"] == ""


def test_a_foreign_model_is_not_checked_against(client: Client) -> None:
    model = stored_sweep(someone()).source_model
    assert "does not exist any more" in check(client, READY, model=model.public_id).content.decode()


@pytest.mark.parametrize("number", ["0", "2", "99999999999999999999", "x", "-1", "²"])
def test_a_version_that_is_not_there_does_not_exist(client: Client, person: User, number: str) -> None:
    assert client.get(url_of(stored(person)), {"version": number}).status_code == 404


# Around a config


def test_the_page_shows_the_sweeps_that_used_it(client: Client, person: User) -> None:
    sweep = stored_sweep(person)
    page = client.get(url_of(sweep.config_version.config)).content.decode()  # type: ignore[union-attr]
    assert sweep.get_absolute_url() in page


def test_a_sweep_can_be_launched_from_the_page(client: Client, person: User) -> None:
    row = stored(person)
    assert f"{reverse('sweeps:launch')}?config={row.public_id}" in client.get(url_of(row)).content.decode()


def test_name_tags_and_notes_can_be_changed(client: Client, person: User) -> None:
    row = stored(person)
    form = {"name": " a\nb ", "tags": "phone, camera,, phone", "notes": "why\nnot"}
    client.post(url_of(row, "config_about"), form)
    row.refresh_from_db()
    assert (row.name, row.notes, [tag.name for tag in row.tags.all()]) == ("a b", "why\nnot", ["camera", "phone"])


@pytest.mark.parametrize(
    "form", [{"name": ""}, {"name": "x" * 301}, {"tags": "x" * 41}, {"tags": ",".join("abcdefghijklmnopqrstuvwxyz")}]
)
def test_wrong_names_and_tags_change_nothing_and_are_kept(client: Client, person: User, form: dict[str, str]) -> None:
    row = stored(person)
    page = client.post(url_of(row, "config_about"), {"name": "new", "tags": "", "notes": "typed", **form})
    row.refresh_from_db()
    assert row.name == "mobilenet"
    assert "typed" in page.content.decode()


def test_a_config_that_no_sweep_used_is_deleted(client: Client, person: User) -> None:
    client.post(url_of(stored(person), "config_delete"))
    assert CompileConfig.objects.count() == 0


def test_a_config_that_a_sweep_used_is_not_deleted_and_names_the_sweep(client: Client, person: User) -> None:
    sweep = stored_sweep(person)
    answer = client.post(url_of(sweep.config_version.config, "config_delete"))  # type: ignore[union-attr]
    assert (answer.status_code, CompileConfig.objects.count()) == (409, 1)
    assert sweep.get_absolute_url() in answer.content.decode()


@pytest.mark.parametrize("name", ["config_about", "config_archive", "config_delete"])
def test_looking_changes_nothing(client: Client, person: User, name: str) -> None:
    assert client.get(url_of(stored(person), name)).status_code == 405


# Downloads


def downloaded(client: Client, row: CompileConfig, kind: str) -> Any:
    return client.get(url_of(row, "config_file", 1, kind))


def test_the_settings_are_downloaded_as_strict_json(client: Client, person: User) -> None:
    row = stored(person, text='{"graphs": {"O": 3,}} // why')
    assert json.loads(downloaded(client, row, "settings").content) == {"graphs": [{"O": 3}]}


def test_downloaded_settings_are_the_config_that_a_sweep_compiles(client: Client, person: User) -> None:
    row = stored(person)
    given = read_config(downloaded(client, row, "settings").content)
    assert check_config(given).config == check_config(read_config(READY.encode())).config


def test_the_wrapper_names_the_file_of_the_settings(client: Client, person: User) -> None:
    row = stored(person, name="Détector/8 MB")
    name = downloaded(client, row, "settings").headers["Content-Disposition"]
    assert name == 'attachment; filename="detector8-mb_v1.json"'
    wrapper = json.loads(downloaded(client, row, "wrapper").content)
    assert wrapper["backend_extensions"]["config_file_path"] == "detector8-mb_v1.json"


def test_what_was_typed_is_downloaded_to_the_byte(client: Client, person: User) -> None:
    text = "// ü\n" + TOO_MUCH_VTCM
    assert downloaded(client, stored(person, text=text), "typed").content == text.encode()


def test_settings_with_problems_are_not_downloaded_and_it_is_said_why(client: Client, person: User) -> None:
    row = stored(person, text=TOO_MUCH_VTCM)
    assert downloaded(client, row, "settings").status_code == 302
    assert "has 1 problem for SM8650." in messages_of(client, row)


def test_another_kind_of_download_does_not_exist(client: Client, person: User) -> None:
    assert downloaded(client, stored(person), "binary").status_code == 404
