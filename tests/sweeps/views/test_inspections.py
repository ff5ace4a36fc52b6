"""The page that says what uploaded files are, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from sweeps.inspecting import describe
from sweeps.jobs.inspections import LIMITS
from sweeps.jobs.loops import work_on_inspections
from sweeps.jobs.sources import lay_out
from sweeps.models import Inspection, SourceModel, Upload
from sweeps.uploads import start_inspection, uploads_named
from tests.people import someone
from tests.sweeps.toolchain import onnx_models
from tests.sweeps.uploads.senders import Sender
from tunerweb.accounts.models import User
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunerweb.work.hints.push", lambda queue: None)


@pytest.fixture
def person() -> User:
    return someone()


@pytest.fixture
def client(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def waiting(person: User, *files: tuple[str, bytes]) -> Inspection:
    sender = Sender(person)
    ids = [sender.upload(content, name) for name, content in files]
    return start_inspection(uploads_named(ids, person, person.team), person)


def inspected(person: User, folder: Path, *files: tuple[str, bytes]) -> Inspection:
    """With what a worker finds."""
    row = waiting(person, *files)
    laid_out = lay_out(row.uploads.order_by("pk").values_list("name", "artifact__sha256"), folder)
    description = describe([(path.name, path) for path in laid_out], LIMITS)
    Inspection.objects.filter(pk=row.pk).update(state=WorkState.DONE, description=description)
    row.refresh_from_db()
    return row


def page_of(client: Client, row: Inspection, **headers: str) -> str:
    return client.get(reverse("sweeps:inspection", args=[row.public_id]), headers=headers).content.decode()


def post(client: Client, view: str, row: Inspection, **fields: str) -> HttpResponse:
    return client.post(reverse(f"sweeps:{view}", args=[row.public_id]), fields)


def test_the_upload_page_says_where_to_send_what(client: Client) -> None:
    page = client.get(reverse("sweeps:model_upload")).content.decode()
    assert 'data-endpoint="/uploads/tus/"' in page
    assert f'data-max-bytes="{4 * 2**30}"' in page
    assert 'data-done-url="/models/uploads/"' in page


def test_finished_uploads_become_an_inspection(client: Client, person: User, small_dlc: Path) -> None:
    tus_id = Sender(person).upload(small_dlc.read_bytes(), "small.dlc")
    response = client.post(reverse("sweeps:inspect"), {"upload": [tus_id]}, headers=HTMX)
    row = Inspection.objects.get()
    assert response["HX-Redirect"] == reverse("sweeps:inspection", args=[row.public_id])
    assert [upload.tus_id for upload in row.uploads.all()] == [tus_id]


@pytest.mark.parametrize("ids", [[], ["nothing"]])
def test_uploads_that_are_not_there_are_told_in_a_sentence(client: Client, ids: list[str]) -> None:
    response = client.post(reverse("sweeps:inspect"), {"upload": ids}, headers=HTMX)
    assert response.status_code == 422
    assert response["Content-Type"].startswith("text/plain")
    assert response.content.decode().endswith(".")


def test_a_waiting_inspection_asks_again_every_second(client: Client, person: User) -> None:
    row = waiting(person, ("small.dlc", b"x"))
    page = page_of(client, row)
    assert "Waiting for a worker." in page
    assert 'hx-trigger="every 1s"' in page


def test_the_poll_gets_the_part_alone(client: Client, person: User) -> None:
    part = page_of(client, waiting(person, ("small.dlc", b"x")), **HTMX)
    assert part.strip().startswith('<div id="inspection"')
    assert "<html" not in part


def test_a_finished_inspection_asks_no_more(client: Client, person: User, tmp_path: Path, small_dlc: Path) -> None:
    row = inspected(person, tmp_path, ("small.dlc", small_dlc.read_bytes()))
    assert "hx-trigger" not in page_of(client, row, **HTMX)


def test_an_onnx_shows_its_facts(client: Client, person: User, tmp_path: Path, sample_onnx: Path) -> None:
    row = inspected(person, tmp_path, ("sample.onnx", sample_onnx.read_bytes()))
    page = page_of(client, row)
    for fact in (
        "heatmap",
        "8 \N{MULTIPLICATION SIGN} 80",
        "float32",
        "quantized",
        "opset 17",
        "DequantizeLinear",
        "603 KiB",
    ):
        assert fact in page
    assert "Keep this model" in page


def test_free_dimensions_are_marked(client: Client, person: User, tmp_path: Path) -> None:
    content = onnx_models.free_batch(tmp_path / "free.onnx").read_bytes()
    page = page_of(client, inspected(person, tmp_path, ("free.onnx", content)))
    assert 'title="free: a sweep gives it a number">N</span>' in page


def test_a_wrong_kind_of_file_is_named_and_cannot_be_kept(client: Client, person: User, tmp_path: Path) -> None:
    row = inspected(person, tmp_path, ("weights.dlc", b"GGUF" + b"\0" * 100))
    page = page_of(client, row)
    assert "&quot;weights.dlc&quot; is a GGUF model" in page
    assert "Keep this model" not in page
    post(client, "inspection_keep", row, name="forced")
    assert SourceModel.objects.count() == 0


def test_markup_in_names_is_text(client: Client, person: User, tmp_path: Path) -> None:
    row = inspected(person, tmp_path, ("<img src=x onerror=alert(1)>.dlc", b"GGUF"))
    page = page_of(client, row)
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;.dlc" in page


def test_a_kept_model_is_opened(client: Client, person: User, tmp_path: Path, small_dlc: Path) -> None:
    row = inspected(person, tmp_path, ("small.dlc", small_dlc.read_bytes()))
    response = post(client, "inspection_keep", row, name="my detector", tags="int8, camera", notes="first")
    model = SourceModel.objects.get()
    assert response["Location"] == reverse("sweeps:model", args=[model.public_id])
    assert (model.name, [tag.name for tag in model.tags.all()], model.notes) == (
        "my detector",
        ["camera", "int8"],
        "first",
    )


def test_what_was_typed_is_kept_when_something_is_wrong(
    client: Client, person: User, tmp_path: Path, small_dlc: Path
) -> None:
    row = inspected(person, tmp_path, ("small.dlc", small_dlc.read_bytes()))
    response = post(client, "inspection_keep", row, name="", tags="int8", notes="my long notes")
    page = response.content.decode()
    assert response.status_code == 422
    assert "Give the model a name that your team will know it by." in page
    assert "my long notes" in page


def test_content_that_the_team_has_is_recognised(client: Client, person: User, tmp_path: Path, small_dlc: Path) -> None:
    first = inspected(person, tmp_path, ("small.dlc", small_dlc.read_bytes()))
    post(client, "inspection_keep", first, name="the first one")
    (tmp_path / "again").mkdir()
    again = inspected(person, tmp_path / "again", ("other.dlc", small_dlc.read_bytes()))
    page = page_of(client, again)
    assert "You already have this model:" in page
    assert reverse("sweeps:model", args=[SourceModel.objects.get().public_id]) in page
    assert "Keep this model" not in page


def test_a_discarded_inspection_is_gone(client: Client, person: User) -> None:
    row = waiting(person, ("small.dlc", b"x"))
    assert post(client, "inspection_discard", row)["Location"] == reverse("sweeps:model_upload")
    assert (Inspection.objects.count(), Upload.objects.count()) == (0, 0)
    assert client.get(reverse("sweeps:inspection", args=[row.public_id])).status_code == 404


def test_a_failed_inspection_can_be_tried_again(client: Client, person: User) -> None:
    row = waiting(person, ("small.dlc", b"x"))
    Inspection.objects.filter(pk=row.pk).update(state=WorkState.FAILED, reason="The child crashed.")
    assert "The child crashed." in page_of(client, row)
    post(client, "inspection_again", row)
    row.refresh_from_db()
    assert row.state == WorkState.QUEUED


def test_an_undecided_inspection_is_found_again(client: Client, person: User) -> None:
    row = waiting(person, ("forgotten.dlc", b"x"))
    page = client.get(reverse("sweeps:model_upload")).content.decode()
    assert "forgotten.dlc" in page
    assert reverse("sweeps:inspection", args=[row.public_id]) in page


@pytest.mark.parametrize("name", ["inspection_keep", "inspection_discard", "inspection_again"])
def test_an_inspection_of_another_team_does_not_exist(client: Client, name: str) -> None:
    row = waiting(someone(), ("small.dlc", b"x"))
    assert client.get(reverse("sweeps:inspection", args=[row.public_id])).status_code == 404
    assert post(client, name, row).status_code == 404
    assert Inspection.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_inspects_what_was_uploaded(
    client: Client, person: User, small_dlc: Path, django_assert_num_queries: Any
) -> None:
    row = waiting(person, ("small.dlc", small_dlc.read_bytes()))
    work_on_inspections()
    row.refresh_from_db()
    assert (row.state, row.description["format"], row.description["problem"]) == (WorkState.DONE, "dlc", None)
    with django_assert_num_queries(7):
        page_of(client, row)
