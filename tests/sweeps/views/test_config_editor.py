"""The editor of a config: what it says while people type, and what changes the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sweeps.configs import read_config
from sweeps.configs.reviewing import LARGEST_TYPED
from sweeps.models import SourceModel
from tests.people import someone
from tests.sweeps.stored import stored_sweep
from tests.sweeps.views.config_pages import (
    HOSTILE,
    READY,
    TOO_MUCH_VTCM,
    WRAPPER,
    check,
    first_fix,
    headline,
    marks,
    new_text,
    said,
    text_before,
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


# Checking while people type


def test_what_is_found_comes_with_its_sentence_and_its_fix(client: Client) -> None:
    page = check(client, TOO_MUCH_VTCM).content.decode()
    assert "Use at most 8." in page
    assert "Set graphs[0].vtcm_mb to 8" in page


def test_the_marks_of_the_editor_have_line_and_kind(client: Client) -> None:
    (mark,) = marks(check(client, TOO_MUCH_VTCM))
    assert (mark["line"], mark["path"]) == (5, "graphs[0].vtcm_mb")


def test_the_text_is_checked_against_the_chosen_target(client: Client) -> None:
    assert len(marks(check(client, '{"graphs": [{"vtcm_mb": 8}]}', target="SM7325"))) == 1


def test_the_text_is_checked_against_the_graphs_of_the_chosen_model(client: Client, person: User) -> None:
    model = stored_sweep(person).source_model
    text = '{"graphs": [{"graph_names": ["nobody"]}]}'
    assert "Your config names &quot;nobody&quot;" in check(client, text, model=model.public_id).content.decode()


def test_a_model_that_is_converted_here_binds_the_only_entry_to_its_graph(client: Client, person: User) -> None:
    fields: dict[str, Any] = {"team": person.team, "owner": person, "sha256": "1" * 64, "size_bytes": 1}
    model = SourceModel.objects.create(name="m", format="onnx", description={"graphs": [{"name": "main"}]}, **fields)
    text = '{"graphs": [{"graph_names": ["theirs"]}], "devices": [{"soc_model": 57}]}'
    assert marks(check(client, text, model=model.public_id)) == []


def test_a_target_that_does_not_exist_is_told(client: Client) -> None:
    assert "There is no SoC &#x27;SM9999&#x27;" in check(client, READY, target="SM9999").content.decode()


def test_what_normalising_changes_is_shown(client: Client) -> None:
    page = check(client, READY.replace('"v75"', '"75"')).content.decode()
    assert 'class="diff-removed"' in page
    assert 'class="diff-added"' in page


def test_a_fix_changes_the_text_and_checks_it_again(client: Client) -> None:
    answer = check(client, TOO_MUCH_VTCM, fix=first_fix(check(client, TOO_MUCH_VTCM)))
    assert json.loads(new_text(answer) or "")["graphs"] == [{"O": 3, "vtcm_mb": 8}]
    assert marks(answer) == []


def test_a_fix_can_be_taken_back(client: Client) -> None:
    answer = check(client, TOO_MUCH_VTCM, fix=first_fix(check(client, TOO_MUCH_VTCM)))
    assert new_text(check(client, READY, before=text_before(answer), take_back="yes")) == TOO_MUCH_VTCM


@pytest.mark.parametrize("fix", ["x", "[]", '["remove", ["graphs"], null]', "[" * 10_000])
def test_a_fix_that_was_not_proposed_is_refused(client: Client, fix: str) -> None:
    answer = check(client, TOO_MUCH_VTCM, fix=fix)
    assert (new_text(answer), "has changed" in said(answer)) == (None, True)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_answered_with_a_sentence(client: Client, text: str) -> None:
    answer = check(client, text)
    assert answer.status_code == 200
    assert ("Nothing here yet." if not text else "cannot be read" if text != WRAPPER else "the wrapper") in headline(
        answer
    )


def test_the_template_of_a_target_can_be_written(client: Client) -> None:
    assert new_text(check(client, "", target="SM8650", template="settings")) == READY


def test_a_template_can_have_the_wrapper_in_it(client: Client) -> None:
    text = new_text(check(client, "", target="SM8650", template="wrapper")) or ""
    assert read_config(text.encode()).kind == "combined"


def test_a_template_needs_a_target(client: Client) -> None:
    assert said(check(client, READY, template="settings")) == "Choose a target first: the template is made for one."


def test_a_template_can_be_taken_back(client: Client) -> None:
    answer = check(client, "{typed}", target="SM8650", template="settings")
    assert text_before(answer) == "{typed}"


# Files and wrappers


def upload(client: Client, **files: bytes) -> Any:
    sent = [SimpleUploadedFile(name.replace("_", "."), data) for name, data in files.items()]
    return check(client, "typed before", file=sent)


def test_a_file_is_put_into_the_editor(client: Client) -> None:
    assert new_text(upload(client, config_json=READY.encode())) == READY


def test_a_file_without_settings_is_put_into_the_editor_to_be_corrected(client: Client) -> None:
    answer = upload(client, config_json=b'{"graphs": [}')
    assert (new_text(answer), len(marks(answer))) == ('{"graphs": [}', 1)


@pytest.mark.parametrize("data", [b"\x7fELF\0\0", b"\xff\xfe\0", bytes(range(256))])
def test_a_file_that_is_no_text_leaves_the_editor_alone(client: Client, data: bytes) -> None:
    answer = upload(client, model_bin=data)
    assert (new_text(answer), "is not a text file" in said(answer)) == (None, True)


@pytest.mark.parametrize("size_bytes", [LARGEST_TYPED + 1, 5 * 2**20, 9 * 2**20])
def test_a_file_that_no_editor_can_show_leaves_the_editor_alone(client: Client, size_bytes: int) -> None:
    answer = upload(client, large_json=b" " * size_bytes)
    assert (new_text(answer), said(answer).startswith("large.json has ")) == (None, True)


def test_a_file_of_the_largest_size_is_read(client: Client) -> None:
    text = READY + " " * (LARGEST_TYPED - len(READY))
    assert new_text(upload(client, large_json=text.encode())) == text


def test_of_a_wrapper_and_the_file_that_it_names_the_settings_are_taken(client: Client) -> None:
    answer = upload(client, wrapper_json=WRAPPER.encode(), inner_json=READY.encode())
    assert new_text(answer) == READY
    assert "was replaced by libQnnHtpNetRunExtensions.so" in said(answer)


def test_a_wrapper_alone_asks_for_the_file_that_it_names(client: Client) -> None:
    page = check(client, WRAPPER).content.decode()
    assert "./sub/inner.json" in page
    assert 'name="inner"' in page


def test_the_settings_of_a_wrapper_can_be_pasted(client: Client) -> None:
    assert new_text(check(client, WRAPPER, use_inner="yes", inner=READY)) == READY


def test_settings_that_cannot_be_read_do_not_take_the_place_of_the_wrapper(client: Client) -> None:
    answer = check(client, WRAPPER, use_inner="yes", inner="{")
    assert (new_text(answer), "cannot be used" in said(answer)) == (None, True)
