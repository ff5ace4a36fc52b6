"""What is refused before a byte of it is sent, and to whom."""

from __future__ import annotations

import pytest
from django.test import Client

from sweeps.models import Upload
from sweeps.receiving import clean_name
from sweeps.uploads import (
    NotUploaded,
    uploads_named,
)
from tests.people import someone
from tests.sweeps.uploads.senders import CONTENT, TUS, Sender, id_of, parts
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db


# What is refused before a byte is sent


def test_a_file_over_the_limit_is_refused_by_its_declared_size(sender: Sender) -> None:
    response = sender.create(5 * 2**30, "huge.onnx")
    assert response.status_code == 413
    assert response.content.decode() == "huge.onnx is 5 GiB large, and this server takes files up to 4 GiB."
    assert (Upload.objects.count(), parts()) == (0, [])


def test_a_file_larger_than_the_free_disk_is_refused(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sweeps.receiving.free_bytes", lambda: 2**20)
    response = sender.create(2 * 2**20)
    assert response.status_code == 507
    assert "the server's disk has 1 MiB left" in response.content.decode()
    assert Upload.objects.count() == 0


@pytest.mark.parametrize("size", ["-1", "many", "", "1e9"])
def test_a_size_that_is_none_is_refused(sender: Sender, size: str) -> None:
    assert sender.create(size).status_code == 400


def test_an_empty_file_is_refused(sender: Sender) -> None:
    response = sender.create(0, "empty.dlc")
    assert response.status_code == 400
    assert response.content.decode() == "empty.dlc is empty (0 bytes), so there is nothing to upload."


def test_a_size_that_comes_later_is_refused(sender: Sender) -> None:
    response = sender.send("POST", TUS, Upload_Defer_Length="1")
    assert response.status_code == 400
    assert "Say how large the file is" in response.content.decode()


def test_parts_of_uploads_are_not_joined(sender: Sender) -> None:
    assert sender.send("POST", TUS, Upload_Length="5", Upload_Concat="partial").status_code == 400


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("model.dlc", "model.dlc"),
        ("/home/me/model.dlc", "model.dlc"),
        ("C:\\models\\model.dlc", "model.dlc"),
        ("", "unnamed"),
        ("..", "unnamed"),
        ("folder/", "folder"),
        ("<script>alert(1)</script>.onnx", "script>.onnx"),
        ("<b>bold</b>", "b>"),
        ("a\x00b\nc\x1b[31m.dlc", "abc[31m.dlc"),
        ("evil\u202egnp.dlc", "evilgnp.dlc"),
        ("模型 v2.onnx", "模型 v2.onnx"),
    ],
)
def test_a_name_is_the_last_part_of_what_a_browser_says(sent: str, shown: str) -> None:
    assert clean_name(sent) == shown


def test_a_long_name_keeps_its_ending(sender: Sender) -> None:
    sender.upload(b"x", "n" * 400 + ".onnx")
    name = Upload.objects.get().name
    assert (len(name), name[-6:]) == (300, "n.onnx")


def test_a_file_without_a_name_is_taken(sender: Sender) -> None:
    assert sender.send("POST", TUS, Upload_Length="5").status_code == 201
    assert Upload.objects.get().name == "unnamed"


# Whose it is


@pytest.mark.parametrize("method", ["HEAD", "PATCH", "DELETE"])
def test_an_upload_of_another_team_does_not_exist(sender: Sender, method: str) -> None:
    url = sender.begin(len(CONTENT))
    assert Sender(someone()).send(method, url, Upload_Offset="0").status_code == 404
    assert parts() == [id_of(url)]


@pytest.mark.parametrize("method", ["HEAD", "PATCH", "DELETE"])
def test_an_upload_of_a_colleague_does_not_exist(sender: Sender, person: User, method: str) -> None:
    url = sender.begin(len(CONTENT))
    assert Sender(someone(team=person.team)).send(method, url, Upload_Offset="0").status_code == 404


def test_files_of_others_are_not_inspected(sender: Sender) -> None:
    tus_id, stranger = sender.upload(CONTENT), someone()
    with pytest.raises(NotUploaded, match="not on the server"):
        uploads_named([tus_id], stranger, stranger.team)


@pytest.mark.parametrize("path", ["../../etc/passwd", "x", "00000000-0000-0000-0000-00000000000g"])
def test_an_id_that_is_none_is_not_found(sender: Sender, path: str) -> None:
    assert sender.send("HEAD", TUS + path).status_code == 404


def test_nobody_uploads_without_signing_in() -> None:
    response = Client().generic("POST", TUS, b"", headers={"Tus-Resumable": "1.0.0", "Accept": "*/*"})
    assert response.status_code == 401


def test_a_request_from_another_site_is_refused(person: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "5"}
    assert client.generic("POST", TUS, b"", headers=headers).status_code == 403
    client.cookies["csrftoken"] = token = "t" * 32
    assert client.generic("POST", TUS, b"", headers={**headers, "X-CSRFToken": token}).status_code == 201
