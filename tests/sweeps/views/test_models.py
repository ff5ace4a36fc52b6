"""The list of models and the page of one."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client
from django.urls import reverse

from sweeps.models import SourceModel, Tag
from tests.people import someone
from tests.sweeps.stored import stored_sweep
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import keep, server_store

pytestmark = pytest.mark.django_db
FILES = {"model.dlc": b"the content of a model"}


@pytest.fixture
def person() -> User:
    return someone()


@pytest.fixture
def client(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def stored(person: User, name: str = "detector", files: dict[str, bytes] = FILES, **fields: Any) -> SourceModel:
    tags = fields.pop("tags", [])
    model = SourceModel.objects.create(
        **{
            "team": person.team,
            "owner": person,
            "name": name,
            "sha256": hashlib.sha256(name.encode()).hexdigest(),
            "format": "onnx",
            "size_bytes": 1000,
            "precision": "float",
            "description": {"format": "onnx", "kind_label": "ONNX model", "op_counts": {"Conv": 5, "Add": 2}},
            **fields,
        }
    )
    for file, content in files.items():
        model.files.create(name=file, artifact=keep(person.team, content))
    model.tags.set(Tag.objects.get_or_create(team=person.team, name=tag)[0] for tag in tags)
    return model


def listed(client: Client, **query: str) -> list[str]:
    page = client.get(reverse("sweeps:model_list"), query).context["page"]
    return [model.name for model in page]


def url_of(model: SourceModel, name: str = "model") -> str:
    return reverse(f"sweeps:{name}", args=[model.public_id])


# The list


def test_without_models_the_page_teaches(client: Client) -> None:
    page = client.get(reverse("sweeps:model_list")).content.decode()
    assert "No model yet" in page
    assert reverse("sweeps:model_upload") in page


def test_the_newest_comes_first(client: Client, person: User) -> None:
    for name in ("first", "second"):
        stored(person, name)
    assert listed(client) == ["second", "first"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"q": "det"}, ["detector"]),
        ({"q": "camera"}, ["detector"]),
        ({"q": "notes here"}, ["classifier"]),
        ({"format": "dlc"}, ["classifier"]),
        ({"precision": "float"}, ["detector"]),
        ({"tag": "camera"}, ["detector"]),
        ({"q": "nothing"}, []),
        ({"format": "tflite", "sort": "weight"}, ["classifier", "detector"]),
    ],
)
def test_the_list_is_narrowed_by_its_address(
    client: Client, person: User, query: dict[str, str], names: list[str]
) -> None:
    stored(person, "detector", tags=["camera", "camera 2"])
    stored(person, "classifier", format="dlc", precision="", notes="some notes are here")
    assert listed(client, **query) == names


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("name", ["a", "b"]),
        ("-name", ["b", "a"]),
        ("size", ["b", "a"]),
        ("-size", ["a", "b"]),
        ("added", ["a", "b"]),
        ("-sweeps", ["b", "a"]),
    ],
)
def test_the_list_is_sorted_by_its_address(client: Client, person: User, sort: str, names: list[str]) -> None:
    stored(person, "a", size_bytes=2000)
    second = stored(person, "b", size_bytes=1000)
    stored_sweep(person, source_model=second)
    assert [name for name in listed(client, sort=sort) if name in "ab"] == names


def test_a_long_list_has_pages(client: Client, person: User) -> None:
    for number in range(30):
        stored(person, f"model {number}", files={})
    assert len(listed(client, q="model", page="2")) == 5
    page = client.get(reverse("sweeps:model_list"), {"q": "model"}).content.decode()
    assert "q=model&amp;page=2" in page


def test_a_longer_list_asks_no_more_questions(client: Client, person: User, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        stored(person, f"model {number}", files={}, tags=["one"])
    with django_assert_max_num_queries(8):
        client.get(reverse("sweeps:model_list"))


def test_an_update_of_the_list_is_its_part_alone(client: Client, person: User) -> None:
    stored(person)
    headers = {"HX-Request": "true", "HX-Target": "results"}
    part = client.get(reverse("sweeps:model_list"), {"q": "det"}, headers=headers).content.decode()
    assert part.strip().startswith('<div id="results"')


def test_models_of_another_team_do_not_exist(client: Client) -> None:
    model = stored(someone())
    assert "No model yet" in client.get(reverse("sweeps:model_list")).content.decode()
    for name in ("model", "model_download"):
        assert client.get(url_of(model, name)).status_code == 404
    for name in ("model_about", "model_delete"):
        assert client.post(url_of(model, name), {"name": "mine"}).status_code == 404


# One model


def test_a_model_shows_its_facts(client: Client, person: User) -> None:
    model = stored(person, tags=["camera"])
    page = client.get(url_of(model)).content.decode()
    for fact in ("detector", "camera", "ONNX", model.sha256, "Conv", str(person), "7 nodes of 2 types"):
        assert fact in page
    assert f"{reverse('sweeps:launch')}?model={model.public_id}" in page


def test_its_sweeps_are_listed(client: Client, person: User) -> None:
    sweep = stored_sweep(person)
    page = client.get(url_of(sweep.source_model)).content.decode()
    assert sweep.get_absolute_url() in page
    assert "SM8650" in page


def test_name_tags_and_notes_can_be_changed(client: Client, person: User) -> None:
    model = stored(person, tags=["old"])
    client.post(url_of(model, "model_about"), {"name": "renamed", "tags": "new, newer", "notes": "why"})
    model.refresh_from_db()
    assert (model.name, [tag.name for tag in model.tags.all()], model.notes) == ("renamed", ["new", "newer"], "why")


def test_what_was_typed_is_kept_when_something_is_wrong(client: Client, person: User) -> None:
    response = client.post(url_of(stored(person), "model_about"), {"name": " ", "notes": "typed for long"})
    assert response.status_code == 422
    assert "typed for long" in response.content.decode()


def test_a_model_without_sweeps_can_be_deleted(client: Client, person: User) -> None:
    model = stored(person)
    assert "that frees 22 B" in client.get(url_of(model)).content.decode()
    assert client.post(url_of(model, "model_delete"))["Location"] == reverse("sweeps:model_list")
    assert SourceModel.objects.count() == 0


def test_a_model_with_sweeps_cannot_be_deleted(client: Client, person: User) -> None:
    model = stored_sweep(person).source_model
    assert "There is a sweep of this model: delete it first." in client.get(url_of(model)).content.decode()
    page = client.post(url_of(model, "model_delete"), follow=True).content.decode()
    assert "is not deleted" in page
    assert SourceModel.objects.count() == 1


def test_the_file_is_given_back_as_it_came(client: Client, person: User) -> None:
    response = client.get(url_of(stored(person), "model_download"))
    assert b"".join(response.streaming_content) == FILES["model.dlc"]
    assert response["Content-Disposition"] == 'attachment; filename="model.dlc"'
    assert response["Content-Length"] == "22"


def test_several_files_are_given_back_in_a_zip(client: Client, person: User) -> None:
    files = {"m.onnx": b"model", "m.data": b"weights"}
    response = client.get(url_of(stored(person, files=files), "model_download"))
    content = b"".join(response.streaming_content)
    assert len(content) == int(response["Content-Length"])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_under_asgi_a_file_is_streamed(person: User) -> None:
    client = AsyncClient()
    await client.aforce_login(person)
    model = await sync_to_async(stored)(person)
    response = await client.get(url_of(model, "model_download"))
    assert b"".join([chunk async for chunk in response.streaming_content]) == FILES["model.dlc"]
    # What ran in a thread of its own has a connection of its own.
    await sync_to_async(connections.close_all)()


def test_a_damaged_file_is_never_given_out_whole(client: Client, person: User) -> None:
    model = stored(person)
    server_store().path(model.files.get().artifact.sha256).write_bytes(b"other content of 22 by")
    response = client.get(url_of(model, "model_download"))
    with pytest.raises(OSError, match="damaged"):
        list(response.streaming_content)
