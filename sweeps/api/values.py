"""What programs send and get in more than one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Schema
from pydantic import AfterValidator, ConfigDict

from sweeps.models.sources import LONGEST_NAME
from sweeps.saving import LONGEST_TAG, MOST_TAGS
from tunerweb.accounts.models import ApiToken, Team, User

MOST_AT_ONCE = 200
LARGEST_OFFSET = 1_000_000
LONGEST_NOTES = 10_000
Row = TypeVar("Row")
Out = TypeVar("Out")


class TokenRequest(HttpRequest):
    """A request that a token has let in."""

    auth: ApiToken
    user: User


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("There is a NUL character in it, which no text has; leave it out.")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
Line = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
Name = Annotated[Line, Field(max_length=LONGEST_NAME)]
Tags = Annotated[list[Annotated[Line, Field(max_length=LONGEST_TAG)]], Field(max_length=MOST_TAGS)]
Notes = Annotated[Text, Field(max_length=LONGEST_NOTES)]


class Asked(Schema):
    """A field that nobody knows is a typing error, and no wish that goes unheard."""

    model_config = ConfigDict(extra="forbid")


class Slice(Asked):
    limit: int = Field(50, ge=1, le=MOST_AT_ONCE)
    offset: int = Field(0, ge=0, le=LARGEST_OFFSET)


class Page(Schema, Generic[Out]):
    """`count` of all that match, of which these are a part."""

    items: list[Out]
    count: int


def page_of(rows: QuerySet[Any], asked: Slice, show: Callable[[Sequence[Any]], list[Any]]) -> dict[str, Any]:
    part = list(rows[asked.offset : asked.offset + asked.limit])
    return {"items": show(part), "count": rows.count()}


def team_of(request: TokenRequest) -> Team:
    return request.auth.team


def mine(request: TokenRequest, rows: Any) -> Any:
    """A token opens one team, of which its owner still has to be a member."""
    return rows.of(request.user).filter(team=request.auth.team)


def found(request: TokenRequest, rows: Any, public_id: str) -> Any:
    return get_object_or_404(mine(request, rows), public_id=public_id)
