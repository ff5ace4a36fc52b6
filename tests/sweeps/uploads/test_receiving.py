"""Files on their way in, by the library that speaks tus and into a real folder and store."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from resumable_upload import TusClient

from sweeps import uploads as module
from sweeps.models import Upload, UploadState
from sweeps.receiving import LARGEST_PIECE
from sweeps.uploads import (
    incoming,
    start_inspection,
    uploads_named,
)
from tests.sweeps.uploads.senders import CONTENT, TUS, Sender, id_of, parts
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import server_store
from tunerweb.work.incoming import Incoming

pytestmark = pytest.mark.django_db


def test_a_file_arrives_in_pieces(sender: Sender) -> None:
    sender.upload(CONTENT, "detector.dlc")
    row = Upload.objects.get()
    assert (row.name, row.size_bytes, row.state) == ("detector.dlc", len(CONTENT), UploadState.COMPLETE)
    assert server_store().read(row.artifact.sha256) == CONTENT
    assert parts() == []


def test_an_interrupted_upload_goes_on_where_it_stopped(sender: Sender) -> None:
    url = sender.begin(len(CONTENT))
    sender.patch(url, 0, CONTENT[:1000])
    head = sender.send("HEAD", url)
    assert (head.status_code, head["Upload-Offset"], head["Upload-Length"]) == (200, "1000", str(len(CONTENT)))
    assert sender.patch(url, 1000, CONTENT[1000:]).status_code == 204
    assert server_store().read(Upload.objects.get().artifact.sha256) == CONTENT


def test_an_upload_survives_a_restart_of_the_server(sender: Sender) -> None:
    url = sender.begin(len(CONTENT))
    sender.patch(url, 0, CONTENT[:1000])
    module._incoming_in.cache_clear()
    sender.patch(url, 1000, CONTENT[1000:])
    assert server_store().read(Upload.objects.get().artifact.sha256) == CONTENT


def test_a_server_that_dies_before_it_can_say_so_has_the_file(sender: Sender, person: User) -> None:
    url = sender.begin(len(CONTENT))
    sender.patch(url, 0, CONTENT[:-1])
    incoming().append(id_of(url), len(CONTENT) - 1, [CONTENT[-1:]])
    assert sender.send("HEAD", url)["Upload-Offset"] == str(len(CONTENT))
    (row,) = uploads_named([id_of(url)], person, person.team)
    assert row.state == UploadState.COMPLETE
    assert server_store().read(row.artifact.sha256) == CONTENT


def test_a_server_that_dies_while_it_stores_the_file_has_the_file(
    sender: Sender, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = sender.begin(len(CONTENT))
    with monkeypatch.context() as patch:
        patch.setattr(module, "known_to", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sender.patch(url, 0, CONTENT)
    assert sender.send("HEAD", url)["Upload-Offset"] == str(len(CONTENT))
    assert uploads_named([id_of(url)], person, person.team)[0].state == UploadState.COMPLETE


def test_a_piece_at_another_offset_is_refused(sender: Sender) -> None:
    url = sender.begin(len(CONTENT))
    sender.patch(url, 0, CONTENT[:1000])
    assert sender.patch(url, 500, CONTENT[500:]).status_code == 409
    assert sender.send("HEAD", url)["Upload-Offset"] == "1000"


def test_a_piece_beyond_the_declared_size_is_refused(sender: Sender) -> None:
    url = sender.begin(10)
    assert sender.patch(url, 0, b"x" * 11).status_code == 400
    assert incoming().length(id_of(url)) == 0


def test_a_piece_that_is_too_large_is_refused_unread(sender: Sender) -> None:
    url = sender.begin(2 * LARGEST_PIECE)
    assert sender.patch(url, 0, b"\0" * (LARGEST_PIECE + 1)).status_code == 413
    assert incoming().length(id_of(url)) == 0


def test_a_piece_with_a_wrong_checksum_is_refused(sender: Sender) -> None:
    url = sender.begin(4)
    checksum = base64.b64encode(hashlib.sha1(b"abcd").digest()).decode()
    wrong = sender.send("PATCH", url, b"abce", Upload_Offset="0", Upload_Checksum=f"sha1 {checksum}")
    right = sender.send("PATCH", url, b"abcd", Upload_Offset="0", Upload_Checksum=f"sha1 {checksum}")
    assert (wrong.status_code, right.status_code) == (460, 204)


def test_data_that_comes_with_the_creation_is_asked_for_again(sender: Sender) -> None:
    response = sender.send("POST", TUS, b"xyz", Upload_Length="2")
    assert (response.status_code, response["Upload-Offset"]) == (201, "0")
    assert incoming().length(id_of(response["Location"])) == 0


def test_a_cancelled_upload_leaves_nothing(sender: Sender) -> None:
    url = sender.begin(len(CONTENT))
    sender.patch(url, 0, CONTENT[:1000])
    assert sender.send("DELETE", url).status_code == 204
    assert (Upload.objects.count(), parts()) == (0, [])
    assert sender.send("HEAD", url).status_code == 404


def test_a_file_of_an_inspection_is_not_cancelled(sender: Sender, person: User) -> None:
    tus_id = sender.upload(CONTENT)
    start_inspection(uploads_named([tus_id], person, person.team), person)
    response = sender.send("DELETE", TUS + tus_id)
    assert (response.status_code, Upload.objects.count()) == (409, 1)


def test_what_the_server_can_do_is_told(sender: Sender) -> None:
    response = sender.send("OPTIONS", TUS)
    assert response["Tus-Extension"] == "creation,termination,checksum"
    assert response["Tus-Max-Size"] == str(4 * 2**30)


# Full disks and races


def test_a_disk_that_fills_up_is_told_and_the_upload_goes_on_later(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = sender.begin(len(CONTENT))
    sender.patch(url, 0, CONTENT[:1000])
    with monkeypatch.context() as patch:
        patch.setattr(Incoming, "path", lambda *_: Path("/dev/full"))
        full = sender.patch(url, 0, CONTENT[:10])
    assert full.status_code == 507
    assert full.content.decode().startswith("The server's disk is full. What has arrived is kept")
    assert sender.send("HEAD", url)["Upload-Offset"] == "1000"
    assert sender.patch(url, 1000, CONTENT[1000:]).status_code == 204


@pytest.mark.django_db(transaction=True)
def test_of_racing_pieces_one_is_written(person: User) -> None:
    url = Sender(person).begin(2 * 2**20)
    pieces = [bytes([number]) * 2**20 for number in range(4)]
    barrier, statuses = Barrier(len(pieces)), []

    def race(piece: bytes) -> None:
        sender = Sender(person)
        barrier.wait()
        statuses.append(sender.patch(url, 0, piece).status_code)
        connection.close()

    racers = [Thread(target=race, args=[piece]) for piece in pieces]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(statuses) == [204, 409, 409, 409]
    assert incoming().path(id_of(url)).read_bytes() in pieces


@pytest.mark.django_db(transaction=True)
def test_a_client_of_the_library_uploads_and_resumes(live_server: Any, person: User, tmp_path: Path) -> None:
    (tmp_path / "model.dlc").write_bytes(CONTENT)
    browser = Client()
    browser.force_login(person)
    token = "t" * 32
    cookies = f"sessionid={browser.cookies['sessionid'].value}; csrftoken={token}"
    client = TusClient(
        live_server.url + TUS.rstrip("/"),
        chunk_size=2**20,
        headers={"Cookie": cookies, "X-CSRFToken": token},
    )
    with client.create_uploader(str(tmp_path / "model.dlc"), metadata={"filename": "model.dlc"}) as uploader:
        uploader.upload_chunk()
    assert incoming().length(id_of(uploader.url)) == 2**20
    client.resume_upload(str(tmp_path / "model.dlc"), uploader.url)
    assert server_store().read(Upload.objects.get().artifact.sha256) == CONTENT
