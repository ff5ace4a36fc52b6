"""How the API says no: a status, a sentence, and for what was sent wrong each field with its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, ValidationError

from devices.actions import NotNow
from devices.forms import DeviceRejected
from sweeps.configs import ConfigUnreadable
from sweeps.exports import NotThere
from sweeps.saving import StaleConfig
from sweeps.specs import SpecRejected
from sweeps.uploads import NotKept, NotUploaded

NO_TOKEN = "Send a personal token: Authorization: Bearer tw_…. The account page makes one."
NOTHING_HERE = "There is nothing of this id that your token's team has."
WRONG_INPUT = "What was sent cannot be used; problems says what has to change."
NO_SUCH_FIELD = "There is no field of this name; the documentation at /api/docs lists them."
# Fields of the spec that are called otherwise here.
API_NAMES = {"soc": "target", "config_version": "config"}
Json = dict[str, Any]


class Refusal(Schema):
    detail: str


class ProblemOut(Schema):
    field: str
    sentence: str


class Invalid(Refusal):
    problems: list[ProblemOut]


class Conflict(Exception):
    """Not in the state that this needs."""


REFUSED: dict[int, Any] = {401: Refusal, 404: Refusal}
CONFLICTS: dict[int, Any] = {**REFUSED, 409: Refusal}
INVALID: dict[int, Any] = {**REFUSED, 422: Invalid}


def handle_refusals(api: NinjaAPI) -> None:
    for kind, (status, told_by) in ANSWERS.items():
        api.add_exception_handler(kind, partial(_answer, api, status, told_by))


def _answer(
    api: NinjaAPI, status: int, told_by: Callable[[Any], Json], request: HttpRequest, error: Any
) -> HttpResponse:
    return api.create_response(request, told_by(error), status=status)


def _invalid(problems: Iterable[tuple[str, str]]) -> Json:
    listed = [{"field": field, "sentence": sentence} for field, sentence in problems]
    return {"detail": WRONG_INPUT, "problems": listed}


def _of_spec(error: SpecRejected) -> Json:
    return _invalid((API_NAMES.get(each.field, each.field), each.sentence) for each in error.problems)


def _of_schema(error: ValidationError) -> Json:
    return _invalid((_place(each["loc"]), _sentence(each)) for each in error.errors)


def _conflict(error: Exception) -> Json:
    return {"detail": str(error)}


ANSWERS: dict[type[Exception], tuple[int, Callable[[Any], Json]]] = {
    AuthenticationError: (401, lambda _: {"detail": NO_TOKEN}),
    Http404: (404, lambda _: {"detail": NOTHING_HERE}),
    Conflict: (409, _conflict),
    NotThere: (409, _conflict),
    StaleConfig: (409, _conflict),
    NotNow: (409, _conflict),
    DeviceRejected: (422, lambda error: _invalid(error.problems)),
    SpecRejected: (422, _of_spec),
    ValidationError: (422, _of_schema),
    ConfigUnreadable: (422, lambda error: _invalid([("text", str(error))])),
    NotUploaded: (422, lambda error: _invalid([("files", str(error))])),
    NotKept: (422, lambda error: _invalid([("inspection", str(error))])),
}


def _place(location: tuple[Any, ...]) -> str:
    """Without where in the request it was and what the code calls it: `top_k`, `free_dimensions.batch`."""
    parts = location[2:] if location[:1] == ("body",) else location[1:]
    return ".".join(str(part) for part in parts)


def _sentence(error: Json) -> str:
    if error["type"] == "extra_forbidden":
        return NO_SUCH_FIELD
    message = str(error["msg"]).removeprefix("Value error, ")
    return message if message.endswith(".") else f"{message}."
