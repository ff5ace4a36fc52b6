"""From uploaded files to a model that is kept, and back to nothing."""

from __future__ import annotations

from typing import Any

import pytest

from sweeps.models import Inspection, SourceModel, Upload
from sweeps.uploads import (
    NotKept,
    NotUploaded,
    delete_model,
    discard,
    keep_model,
    start_inspection,
    uploads_named,
)
from tests.people import someone
from tests.sweeps.uploads.senders import CONTENT, Sender, age, id_of, inspected, uploaded
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import WorkState
from tunerweb.work.models import Artifact

pytestmark = pytest.mark.django_db


def test_an_inspection_waits_for_a_light_worker(
    person: User, hints: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        inspection = start_inspection(uploaded(person, CONTENT), person)
    assert (inspection.state, inspection.owner, inspection.uploads.count()) == (WorkState.QUEUED, person, 1)
    assert hints == ["light"]


def test_the_same_files_sent_twice_are_one_inspection(person: User) -> None:
    files = uploaded(person, CONTENT)
    assert start_inspection(files, person) == start_inspection(files, person)


def test_a_file_can_be_inspected_again_with_others(person: User) -> None:
    model, weights = uploaded(person, CONTENT, "m.onnx"), uploaded(person, b"weights", "m.data")
    first = start_inspection(model, person)
    second = start_inspection([*model, *weights], person)
    assert first.uploads.count() == 1
    assert sorted(upload.name for upload in second.uploads.all()) == ["m.data", "m.onnx"]


def test_an_unfinished_file_is_not_inspected(sender: Sender, person: User) -> None:
    url = sender.begin(len(CONTENT))
    with pytest.raises(NotUploaded, match="has not arrived whole"):
        uploads_named([id_of(url)], person, person.team)


def test_no_file_is_not_inspected(person: User) -> None:
    with pytest.raises(NotUploaded, match="No file"):
        uploads_named([], person, person.team)


def test_a_kept_model_has_its_files_name_and_tags(person: User) -> None:
    model = keep_model(inspected(person, CONTENT), "detector", "for the camera", ["int8", "int8"], person)
    assert (model.name, model.notes, [tag.name for tag in model.tags.all()]) == ("detector", "for the camera", ["int8"])
    assert [file.name for file in model.files.all()] == ["model.dlc"]
    assert server_store().read(model.files.get().artifact.sha256) == CONTENT


def test_the_model_is_the_first_of_its_files(person: User) -> None:
    files = [*uploaded(person, b"weights", "a.data"), *uploaded(person, CONTENT, "z.onnx")]
    inspection = start_inspection(files, person)
    inspection.description = {
        "format": "onnx",
        "sha256": "5a" * 32,
        "size_bytes": 1,
        "precision": "float",
        "model_file": "z.onnx",
    }
    model = keep_model(inspection, "z", "", [], person)
    assert [file.name for file in model.files.all()] == ["z.onnx", "a.data"]


def test_the_same_content_is_kept_once(person: User) -> None:
    first = keep_model(inspected(person, CONTENT), "first", "", [], person)
    second = keep_model(inspected(person, CONTENT), "second", "", [], person)
    assert (first, second.name, SourceModel.objects.count()) == (second, "first", 1)


def test_another_team_keeps_the_same_content_for_itself(person: User) -> None:
    stranger = someone()
    keep_model(inspected(person, CONTENT), "mine", "", [], person)
    keep_model(inspected(stranger, CONTENT), "theirs", "", [], stranger)
    assert SourceModel.objects.count() == 2
    assert len(list(server_store().hashes())) == 1


@pytest.mark.parametrize("description", [{"format": "context_binary"}, {"problem": "It is cut off."}])
def test_what_cannot_be_swept_cannot_be_kept(person: User, description: dict[str, str]) -> None:
    with pytest.raises(NotKept):
        keep_model(inspected(person, CONTENT, **description), "name", "", [], person)


def test_a_discarded_inspection_frees_its_files(person: User) -> None:
    inspection = inspected(person, CONTENT)
    age()
    discard(inspection)
    assert (Inspection.objects.count(), Upload.objects.count(), list(server_store().hashes())) == (0, 0, [])


def test_a_deleted_model_frees_its_files(person: User) -> None:
    model = keep_model(inspected(person, CONTENT), "name", "", [], person)
    age()
    freed = delete_model(model)
    assert (freed.files, freed.size_bytes, freed.blocked_by) == (1, len(CONTENT), "")
    assert (SourceModel.objects.count(), Artifact.objects.count(), list(server_store().hashes())) == (0, 0, [])


def test_what_another_model_needs_stays(person: User) -> None:
    first = keep_model(inspected(person, CONTENT), "first", "", [], person)
    keep_model(inspected(person, CONTENT, sha256="5a" * 32), "second", "", [], person)
    age()
    assert delete_model(first).size_bytes == 0
    assert len(list(server_store().hashes())) == 1
