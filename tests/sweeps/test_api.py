from __future__ import annotations

import base64
import errno
import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sweeps.api import uploads
from sweeps.models import CompileConfig, Inspection, SourceModel, Sweep, Upload
from sweeps.saving import create_config
from tests.people import someone
from tests.sweeps.stored import (
    change,
    reopened,
    stored_config,
    stored_model,
    stored_sweep,
    stored_toolchain,
    trial_of,
)
from tunerweb.accounts.models import ApiToken, Membership, Team, User
from tunerweb.accounts.tokens import new_token
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db
SETTINGS = {"graphs": [{"vtcm_mb": 8}], "devices": [{"soc_model": 57}]}
DESCRIPTION = {
    "format": "dlc",
    "problem": None,
    "sha256": "ab" * 32,
    "size_bytes": 5,
    "precision": None,
    "model_file": "net.dlc",
    "graphs": [],
    "free_dimensions": [],
}


class Api(Client):
    """What a program with this token gets."""

    def __init__(self, token: ApiToken, secret: str) -> None:
        super().__init__(headers={"Authorization": f"Bearer {secret}"})
        self.token = token

    def send(self, path: str, value: Any = None) -> Any:
        return self.post(f"/api{path}", json.dumps(value) if value is not None else "", "application/json")

    def read(self, path: str, **asked: Any) -> Any:
        return self.get(f"/api{path}", asked)


def api_of(person: User) -> Api:
    return Api(*new_token(person, person.team, "a script"))


@pytest.fixture
def person() -> User:
    stored_toolchain()
    return someone("mira")


@pytest.fixture
def api(person: User) -> Api:
    return api_of(person)


def fields_told(answer: Any) -> list[str]:
    assert answer.status_code == 422, answer.content
    return [problem["field"] for problem in answer.json()["problems"]]


# Who is let in


@pytest.mark.parametrize("path", ["/models", "/configs", "/sweeps", "/sweeps/x", "/inspections/x", "/uploads/tus"])
def test_without_a_token_nobody_is_let_in(path: str) -> None:
    answer = Client().post("/api/uploads/tus") if path == "/uploads/tus" else Client().get(f"/api{path}")
    assert answer.status_code == 401
    assert "Bearer" in answer.json()["detail"]


def test_a_session_does_not_count(person: User) -> None:
    browser = Client()
    browser.force_login(person)
    assert browser.get("/api/sweeps").status_code == 401


def test_a_revoked_token_lets_nobody_in(api: Api) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())
    assert api.read("/sweeps").status_code == 401


def test_a_token_opens_one_team_of_its_owner(api: Api, person: User) -> None:
    other = Team.objects.create(name="another team")
    Membership.objects.create(team=other, user=person)
    sweep = stored_sweep(person)
    Sweep.objects.filter(pk=sweep.pk).update(team=other)
    assert api.read("/sweeps").json()["count"] == 0
    assert api.read(f"/sweeps/{sweep.public_id}").status_code == 404


def test_a_token_of_somebody_who_left_the_team_opens_nothing(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    Membership.objects.filter(user=person).delete()
    assert api.read(f"/sweeps/{sweep.public_id}").status_code == 404


def test_the_documentation_is_open() -> None:
    assert Client().get("/api/docs").status_code == 200
    paths = Client().get("/api/openapi.json").json()["paths"]
    assert {"/api/models", "/api/configs", "/api/sweeps", "/api/sweeps/{sweep_id}/results"} <= set(paths)


@pytest.mark.parametrize("status", ["201", "401", "404", "422"])
def test_the_documentation_declares_every_answer_to_a_launch(status: str) -> None:
    schema = Client().get("/api/openapi.json").json()
    assert status in schema["paths"]["/api/sweeps"]["post"]["responses"]


# Models


def test_a_model_is_sent_in_one_request(api: Api, person: User) -> None:
    answer = api.post("/api/models", {"files": SimpleUploadedFile("net.dlc", b"a DLC")})
    assert answer.status_code == 202
    upload = Inspection.objects.get(public_id=answer.json()["id"]).uploads.get()
    assert (upload.name, upload.owner) == ("net.dlc", person)
    assert server_store().read(upload.artifact.sha256) == b"a DLC"


def test_a_model_of_several_files_is_one_inspection(api: Api) -> None:
    files = [SimpleUploadedFile(name, b"x") for name in ("net.onnx", "weights.bin")]
    answer = api.post("/api/models", {"files": files})
    assert Inspection.objects.get(public_id=answer.json()["id"]).uploads.count() == 2


def test_without_a_file_there_is_nothing_to_inspect(api: Api) -> None:
    assert fields_told(api.post("/api/models")) == ["files"]


def test_files_come_in_one_way_or_the_other(api: Api) -> None:
    both = {"files": SimpleUploadedFile("net.dlc", b"x"), "upload": "abc"}
    assert fields_told(api.post("/api/models", both)) == ["files"]


def test_a_full_disk_is_told(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(uploads, "keep", full)
    answer = api.post("/api/models", {"files": SimpleUploadedFile("net.dlc", b"x")})
    assert (answer.status_code, answer.json()["detail"][:27]) == (507, "The server's disk is full: ")


def test_a_large_model_comes_in_pieces(api: Api) -> None:
    tus = {"Tus-Resumable": "1.0.0"}
    name = base64.b64encode(b"net.dlc").decode()
    start = {**tus, "Upload-Length": "6", "Upload-Metadata": f"filename {name}"}
    place = api.post("/api/uploads/tus", headers=start)["Location"]
    for offset, piece in ((0, b"abc"), (3, b"def")):
        headers = {**tus, "Upload-Offset": str(offset)}
        answer = api.patch(place, piece, "application/offset+octet-stream", headers=headers)
        assert answer.status_code == 204
    answer = api.post("/api/models", {"upload": place.rsplit("/", 1)[1]})
    upload = Inspection.objects.get(public_id=answer.json()["id"]).uploads.get()
    assert server_store().read(upload.artifact.sha256) == b"abcdef"


def test_an_upload_of_somebody_else_is_not_there(api: Api, person: User) -> None:
    other = api_of(someone("jo", person.team))
    other.post("/api/models", {"files": SimpleUploadedFile("net.dlc", b"x")})
    assert fields_told(api.post("/api/models", {"upload": Upload.objects.get().public_id})) == ["files"]


def inspected(person: User, description: dict[str, Any] | None = None, **fields: Any) -> Inspection:
    values = {"state": WorkState.DONE, "description": DESCRIPTION | (description or {}), **fields}
    return Inspection.objects.create(team=person.team, owner=person, **values)


def test_an_inspection_says_what_the_file_is(api: Api, person: User) -> None:
    answer = api.read(f"/inspections/{inspected(person).public_id}").json()
    assert (answer["state"], answer["can_be_kept"], answer["description"]["format"]) == ("done", True, "dlc")


def test_an_inspection_says_what_is_wrong_with_the_file(api: Api, person: User) -> None:
    row = inspected(person, {"problem": "This is a picture of a cat."})
    answer = api.read(f"/inspections/{row.public_id}").json()
    assert (answer["problem"], answer["can_be_kept"]) == ("This is a picture of a cat.", False)


def test_reading_an_inspection_keeps_nothing(api: Api, person: User) -> None:
    api.read(f"/inspections/{inspected(person).public_id}")
    assert not SourceModel.objects.exists()


def test_a_model_is_kept_under_the_name_of_its_file(api: Api, person: User) -> None:
    answer = api.send(f"/inspections/{inspected(person).public_id}/keep")
    assert (answer.status_code, answer.json()["name"]) == (200, "net.dlc")


def test_a_model_is_kept_with_what_is_said_of_it(api: Api, person: User) -> None:
    said = {"name": "the net", "notes": "before the release", "tags": ["new", "small"]}
    answer = api.send(f"/inspections/{inspected(person).public_id}/keep", said).json()
    assert {name: answer[name] for name in said} == said


def test_a_model_is_not_kept_twice(api: Api, person: User) -> None:
    ids = {api.send(f"/inspections/{inspected(person).public_id}/keep").json()["id"] for _ in range(2)}
    assert len(ids) == 1


def test_what_is_not_inspected_yet_is_not_kept(api: Api, person: User) -> None:
    row = inspected(person, state=WorkState.QUEUED, description=None)
    assert api.send(f"/inspections/{row.public_id}/keep").status_code == 409


def test_what_cannot_be_swept_is_not_kept(api: Api, person: User) -> None:
    row = inspected(person, {"problem": "This is a picture of a cat."})
    assert fields_told(api.send(f"/inspections/{row.public_id}/keep")) == ["inspection"]


def test_a_foreign_inspection_is_not_there(api: Api) -> None:
    row = inspected(someone())
    assert api.read(f"/inspections/{row.public_id}").status_code == 404
    assert api.send(f"/inspections/{row.public_id}/keep").status_code == 404


def test_models_are_listed_a_part_at_a_time(api: Api, person: User) -> None:
    for number in range(3):
        SourceModel.objects.create(
            team=person.team, owner=person, name=str(number), sha256=str(number) * 64, format="dlc", size_bytes=1
        )
    answer = api.read("/models", limit=2, offset=1).json()
    assert (answer["count"], [item["name"] for item in answer["items"]]) == (3, ["1", "0"])


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 201}, {"offset": -1}, {"limit": "all"}])
def test_an_impossible_part_is_told(api: Api, asked: dict[str, Any]) -> None:
    assert fields_told(api.read("/models", **asked)) == list(asked)


def test_one_model_is_read(api: Api, person: User) -> None:
    model = stored_model(person)
    assert api.read(f"/models/{model.public_id}").json()["sha256"] == model.sha256


def test_a_foreign_model_is_not_there(api: Api) -> None:
    assert api.read(f"/models/{stored_model(someone()).public_id}").status_code == 404


# Configs


@pytest.mark.parametrize("config", [{"text": json.dumps(SETTINGS)}, {"settings": SETTINGS}])
def test_a_config_is_saved(api: Api, config: dict[str, Any]) -> None:
    answer = api.send("/configs", {"name": "ours", **config})
    assert answer.status_code == 201
    assert json.loads(CompileConfig.objects.get(public_id=answer.json()["id"]).latest.text) == SETTINGS


def test_a_saved_config_is_told_what_is_wrong_with_it(api: Api) -> None:
    answer = api.send("/configs", {"name": "ours", "settings": {**SETTINGS, "graphs": [{"vtcm_mb": 64}]}}).json()
    assert "problem" in [finding["kind"] for finding in answer["findings"]]


@pytest.mark.parametrize(
    ("config", "fields"),
    [
        ({"name": "x", "text": "{"}, ["text"]),
        ({"name": "x"}, ["text"]),
        ({"name": "x", "text": "{}", "settings": {}}, ["text"]),
        ({"name": "", "text": "{}"}, ["name"]),
        ({"name": "n" * 301, "text": "{}"}, ["name"]),
        ({"name": "nul \0 byte", "text": "{}"}, ["name"]),
        ({"name": "x", "text": '{"a": "\0"}'}, ["text"]),
        ({"name": "x", "text": "{}", "colour": "red"}, ["colour"]),
    ],
)
def test_a_config_that_cannot_be_saved_is_told_why(api: Api, config: dict[str, Any], fields: list[str]) -> None:
    assert fields_told(api.send("/configs", config)) == fields
    assert not CompileConfig.objects.exists()


def test_a_new_version_follows_the_one_that_was_seen(api: Api, person: User) -> None:
    config = stored_config(person).config
    answer = api.send(f"/configs/{config.public_id}/versions", {"settings": SETTINGS, "seen": 1})
    assert (answer.status_code, answer.json()["version"]) == (201, 2)


def test_a_version_that_somebody_else_saved_is_not_overtaken(api: Api, person: User) -> None:
    config = stored_config(person).config
    api.send(f"/configs/{config.public_id}/versions", {"settings": SETTINGS, "seen": 1})
    answer = api.send(f"/configs/{config.public_id}/versions", {"settings": {}, "seen": 1})
    assert (answer.status_code, config.versions.count()) == (409, 2)


def test_configs_are_listed_with_their_latest_version(api: Api, person: User) -> None:
    config = stored_config(person).config
    api.send(f"/configs/{config.public_id}/versions", {"settings": SETTINGS, "seen": 1})
    listed = api.read("/configs").json()["items"]
    assert [(item["id"], item["version"]) for item in listed] == [(config.public_id, 2)]
    assert api.read(f"/configs/{config.public_id}").json() == listed[0]


def test_a_foreign_config_is_not_there(api: Api) -> None:
    config = stored_config(someone()).config
    assert api.read(f"/configs/{config.public_id}").status_code == 404
    assert api.send(f"/configs/{config.public_id}/versions", {"text": "{}", "seen": 1}).status_code == 404


# Sweeps


def asked(person: User, **fields: Any) -> dict[str, Any]:
    return {"model": stored_model(person).public_id, "target": "SM8650", "p_values": "0-2", **fields}


def test_a_sweep_is_launched(api: Api, person: User) -> None:
    answer = api.send("/sweeps", asked(person, name="by a script", top_k=2))
    sweep = Sweep.objects.get()
    assert (answer.status_code, answer.json()["id"]) == (201, sweep.public_id)
    assert (sweep.name, sweep.top_k, sweep.owner, sweep.team) == ("by a script", 2, person, person.team)


def test_a_launch_answers_with_every_point(api: Api, person: User) -> None:
    answer = api.send("/sweeps", asked(person)).json()
    assert [point["label"] for point in answer["points"]] == ["P=0", "as given", "P=1", "P=2"]
    assert {point["state"] for point in answer["points"]} == {"queued"}


def test_a_sweep_takes_the_latest_version_of_its_config(api: Api, person: User) -> None:
    config = create_config(person.team, person, name="ours", text=json.dumps(SETTINGS)).version.config
    answer = api.send("/sweeps", asked(person, config=config.public_id, target="")).json()
    assert (answer["config"], answer["config_version"], answer["target"]["name"]) == (config.public_id, 1, "SM8650")


def test_sent_again_with_the_same_submission_it_is_the_same_sweep(api: Api, person: User) -> None:
    ids = {api.send("/sweeps", asked(person, submission="build 7")).json()["id"] for _ in range(2)}
    assert len(ids) == 1


def test_two_people_may_choose_the_same_submission(api: Api, person: User) -> None:
    other = someone()
    api.send("/sweeps", asked(person, submission="build 7"))
    assert api_of(other).send("/sweeps", asked(other, submission="build 7")).status_code == 201


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("model", "nosuchmodel", "model"),
        ("config", "nosuchconfig", "config"),
        ("target", "SM9999", "target"),
        ("target", "", "target"),
        ("p_values", "x", "p_values"),
        ("p_values", "1," * 200, "p_values"),
        ("top_k", 0, "top_k"),
        ("top_k", "many", "top_k"),
        ("top_k", 10**30, "top_k"),
        ("parallel_compiles", 1000, "parallel_compiles"),
        ("timeout_s", -1, "timeout_s"),
        ("memory_bytes", 1, "memory_bytes"),
        ("memory_bytes", 2**80, "memory_bytes"),
        ("priority", 101, "priority"),
        ("name", "nul \0 byte", "name"),
        ("free_dimensions", {"batch": 1}, "free_dimensions"),
        ("free_dimensions", {"batch": "one"}, "free_dimensions.batch"),
        ("config_version", 0, "config_version"),
        ("colour", "red", "colour"),
    ],
)
def test_a_sweep_that_cannot_be_launched_is_told_why(api: Api, person: User, field: str, value: Any, told: str) -> None:
    assert fields_told(api.send("/sweeps", asked(person, **{field: value}))) == [told]
    assert not Sweep.objects.exists()


def test_a_body_that_is_no_json_is_told(api: Api) -> None:
    answer = api.post("/api/sweeps", "{bad", "application/json")
    assert (answer.status_code, list(answer.json())) == (400, ["detail"])


def test_a_foreign_model_cannot_be_swept(api: Api, person: User) -> None:
    foreign = stored_model(someone())
    assert fields_told(api.send("/sweeps", asked(person, model=foreign.public_id))) == ["model"]


def test_sweeps_are_listed_without_their_points(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    answer = api.read("/sweeps").json()
    assert (answer["count"], answer["items"][0]["id"]) == (1, sweep.public_id)
    assert (answer["items"][0]["state"], answer["items"][0]["trials"]["done"]) == ("done", 18)
    assert "points" not in answer["items"][0]


def test_sweeps_are_filtered(api: Api, person: User) -> None:
    stored_sweep(person)
    assert api.read("/sweeps", finished="true").json()["count"] == 1
    assert api.read("/sweeps", finished="false").json()["count"] == 0
    assert api.read("/sweeps", model="another").json()["count"] == 0


def test_the_number_of_queries_does_not_depend_on_the_number_of_sweeps(
    api: Api, person: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        stored_sweep(person)
    with django_assert_max_num_queries(5):
        api.read("/sweeps")


def test_a_trial_that_failed_says_why(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    change(trial_of(sweep, "P=4"), WorkState.FAILED, reason="The compiler crashed.")
    points = {point["label"]: point for point in api.read(f"/sweeps/{sweep.public_id}").json()["points"]}
    assert (points["P=4"]["state"], points["P=4"]["reason"]) == ("failed", "The compiler crashed.")


def test_results_hold_the_report_and_the_rankings(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    answer = api.read(f"/sweeps/{sweep.public_id}/results").json()
    assert answer["headline"] == sweep.headline
    assert answer["rankings"]["rom"]["entries"][0]["rank"] == 1
    report = api.read(f"/sweeps/{sweep.public_id}/files/size_report.json")
    assert answer["report"].items() <= json.loads(b"".join(report.streaming_content)).items()


def test_results_wait_for_the_end(api: Api, person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    assert api.read(f"/sweeps/{sweep.public_id}/results").status_code == 409


@pytest.mark.parametrize(("verb", "state"), [("pause", "paused"), ("cancel", "cancelled"), ("resume", "running")])
def test_a_running_sweep_is_told_what_to_do(api: Api, person: User, verb: str, state: str) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    assert api.send(f"/sweeps/{sweep.public_id}/{verb}").json()["state"] == state


@pytest.mark.parametrize("verb", ["pause", "cancel", "resume", "retry"])
def test_a_sweep_that_is_over_cannot_be_told_anything(api: Api, person: User, verb: str) -> None:
    sweep = stored_sweep(person)
    assert api.send(f"/sweeps/{sweep.public_id}/{verb}").status_code == 409


def test_cancelling_twice_is_cancelling_once(api: Api, person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    states = [api.send(f"/sweeps/{sweep.public_id}/cancel").json()["state"] for _ in range(2)]
    assert states == ["cancelled", "cancelled"]


def test_what_failed_is_retried(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    change(trial_of(sweep, "P=4"), WorkState.FAILED)
    answer = api.send(f"/sweeps/{sweep.public_id}/retry").json()
    assert (answer["state"], answer["trials"]["queued"]) == ("running", 1)


@pytest.mark.parametrize("path", ["", "/results", "/files", "/files/bundle.zip"])
def test_of_a_foreign_sweep_there_is_nothing(api: Api, path: str) -> None:
    assert api.read(f"/sweeps/{stored_sweep(someone()).public_id}{path}").status_code == 404


@pytest.mark.parametrize("verb", ["pause", "cancel", "resume", "retry"])
def test_a_foreign_sweep_cannot_be_told_anything(api: Api, verb: str) -> None:
    sweep = reopened(stored_sweep(someone()), "P=4")
    assert api.send(f"/sweeps/{sweep.public_id}/{verb}").status_code == 404


# Files


def test_every_listed_file_is_there(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    files = api.read(f"/sweeps/{sweep.public_id}/files").json()
    assert {"bundle.zip", "trials.csv", "size_report.json", "rom_optimized_config.json"} <= {f["name"] for f in files}
    for file in files:
        answer = api.get(file["url"])
        assert (answer.status_code, int(answer["Content-Length"])) == (200, len(b"".join(answer.streaming_content)))


def test_the_bundle_opens(api: Api, person: User) -> None:
    answer = api.read(f"/sweeps/{stored_sweep(person).public_id}/files/bundle.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as bundle:
        assert bundle.testzip() is None


def test_files_of_the_bundle_wait_for_the_end(api: Api, person: User) -> None:
    sweep = reopened(stored_sweep(person), "P=4")
    assert api.read(f"/sweeps/{sweep.public_id}/files").status_code == 409
    assert api.read(f"/sweeps/{sweep.public_id}/files/bundle.zip").status_code == 409
    assert api.read(f"/sweeps/{sweep.public_id}/files/trials.csv").status_code == 200


def test_every_listed_file_of_a_trial_is_there(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    files = api.read(f"/sweeps/{sweep.public_id}/trials/{trial_of(sweep, 'P=4').public_id}/files").json()
    assert [file["name"] for file in files] == ["context_binary.bin", "config.json", "wrapper.json", "log.txt"]
    assert {api.get(file["url"]).status_code for file in files} == {200}


def test_of_another_name_there_is_no_file(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    assert api.read(f"/sweeps/{sweep.public_id}/files/passwd").status_code == 404


def test_a_file_that_the_disk_lost_is_told(api: Api, person: User) -> None:
    sweep = stored_sweep(person)
    trial = trial_of(sweep, "P=4")
    server_store().path(trial.compilation.binary.sha256).unlink()
    answer = api.get(reverse("api:trial_file", args=[sweep.public_id, trial.public_id, "context_binary.bin"]))
    assert (answer.status_code, "launch again" in answer.json()["detail"]) == (409, True)
