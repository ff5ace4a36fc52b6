from __future__ import annotations

import threading

import pytest
from django.db import connection
from django.test import Client

from tests.people import someone
from tests.tunerweb.accounts.conftest import PASSWORD, Clock
from tunerweb.accounts import first_start
from tunerweb.accounts.links import SETUP_LASTS, new_setup_link
from tunerweb.accounts.models import Link, LinkPurpose, Team, User

RACERS = 50
FORM = {"username": "ada", "password": PASSWORD, "again": PASSWORD, "team_name": "Detectors"}


def setup_path() -> str:
    path = new_setup_link()
    assert path is not None
    return path


@pytest.mark.django_db
def test_the_link_creates_the_administrator_and_the_first_team() -> None:
    Client().post(setup_path(), FORM)
    ada = User.objects.get()
    assert (ada.username, ada.is_superuser, ada.team.name) == ("ada", True, "Detectors")


@pytest.mark.django_db
def test_who_sets_the_server_up_is_signed_in() -> None:
    client = Client()
    client.post(setup_path(), FORM)
    assert client.get("/account/").status_code == 200


@pytest.mark.django_db
def test_looking_at_the_set_up_page_does_not_use_the_link_up() -> None:
    path = setup_path()
    client = Client()
    assert client.get(path).status_code == client.get(path).status_code == 200


@pytest.mark.django_db
def test_a_used_set_up_link_is_answered_with_a_sentence() -> None:
    path = setup_path()
    Client().post(path, FORM)
    answer = Client().post(path, FORM | {"username": "eve"})
    assert answer.status_code == 404
    assert "has been used: it works once" in answer.content.decode()


@pytest.mark.django_db
def test_a_used_set_up_link_creates_nobody() -> None:
    path = setup_path()
    Client().post(path, FORM)
    Client().post(path, FORM | {"username": "eve"})
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_a_set_up_link_runs_out_after_an_hour(clock: Clock) -> None:
    path = setup_path()
    clock.pass_(minutes=61)
    answer = Client().get(path)
    assert answer.status_code == 404
    assert "has run out" in answer.content.decode()


@pytest.mark.django_db
def test_a_new_set_up_link_ends_the_older_one() -> None:
    older = setup_path()
    setup_path()
    assert Client().get(older).status_code == 404


def administrator() -> None:
    User.objects.create_superuser("administrator", password="correct horse")


@pytest.mark.django_db
def test_a_user_who_is_no_administrator_does_not_end_the_set_up() -> None:
    someone()
    assert new_setup_link() is not None


@pytest.mark.django_db
def test_no_set_up_link_is_made_once_there_is_an_administrator() -> None:
    administrator()
    assert new_setup_link() is None


@pytest.mark.django_db
def test_a_set_up_link_is_dead_once_there_is_an_administrator() -> None:
    path = setup_path()
    administrator()
    answer = Client().post(path, FORM)
    assert answer.status_code == 404
    assert "the server has its administrator" in answer.content.decode()


@pytest.mark.django_db
def test_only_a_hash_of_the_link_is_stored() -> None:
    token = setup_path().split("/")[-2]
    assert token not in str(Link.objects.values().get(purpose=LinkPurpose.SETUP))


@pytest.mark.django_db
def test_what_was_typed_is_kept_when_something_is_wrong() -> None:
    answer = Client().post(setup_path(), FORM | {"again": "different"})
    page = answer.content.decode()
    assert 'value="ada"' in page
    assert 'value="Detectors"' in page
    assert "The two passwords differ." in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("username", "x" * 300, "A name can be at most 64 characters long; this one has 300."),
        ("username", "ada lovelace", "A name can have letters, digits"),
        ("username", "<b>ada</b>", "A name can have letters, digits"),
        ("username", "", "A name is missing."),
        ("username", "a\0da", "A name contains a character that cannot be stored."),
        ("team_name", "x" * 300, "name can be at most 100 characters long; this one has 300."),
        ("password", "short", "It must contain at least 10 characters."),
        ("password", "password123", "This password is too common."),
        ("password", "x" * 2000, "The password can be at most 1000 characters long"),
    ],
)
def test_a_bad_value_is_answered_with_a_sentence(field: str, value: str, sentence: str) -> None:
    answer = Client().post(setup_path(), FORM | {field: value})
    assert sentence in answer.content.decode()
    assert not User.objects.exists()


@pytest.mark.django_db
def test_markup_in_a_team_name_is_shown_as_text() -> None:
    client = Client()
    client.post(setup_path(), FORM | {"team_name": "<b>Detectors</b>"})
    page = client.get("/team/").content.decode()
    assert "&lt;b&gt;Detectors" in page
    assert "<b>Detectors" not in page


@pytest.mark.django_db(transaction=True)
def test_of_fifty_who_race_for_one_link_one_becomes_administrator() -> None:
    path = setup_path()
    race([path] * RACERS)
    assert (User.objects.count(), Team.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_of_those_who_race_for_several_links_one_becomes_administrator() -> None:
    paths = [f"/setup/{Link.new(LinkPurpose.SETUP, lasts=SETUP_LASTS)[1]}/" for _ in range(8)]
    race(paths)
    assert (User.objects.count(), Team.objects.count()) == (1, 1)


def race(paths: list[str]) -> None:
    barrier = threading.Barrier(len(paths))

    def claim(number: int, path: str) -> None:
        barrier.wait()
        Client().post(path, FORM | {"username": f"racer{number}"})
        connection.close()

    threads = [threading.Thread(target=claim, args=(number, path)) for number, path in enumerate(paths)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.django_db
def test_the_command_prints_a_path_that_opens(capsys: pytest.CaptureFixture[str]) -> None:
    first_start.main()
    path = capsys.readouterr().out.strip()
    assert Client().get(path).status_code == 200


@pytest.mark.django_db
def test_the_command_prints_nothing_once_there_is_an_administrator(capsys: pytest.CaptureFixture[str]) -> None:
    administrator()
    first_start.main()
    assert capsys.readouterr().out == ""
