"""Configs: save one, save a new version of it, read what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Prefetch
from ninja import Field, Query, Router, Schema, Status

from sweeps.api.refusals import CONFLICTS, INVALID, REFUSED, Invalid
from sweeps.api.values import Asked, Name, Page, Slice, Text, TokenRequest, found, mine, page_of, team_of
from sweeps.configs import ConfigUnreadable
from sweeps.configs.json_text import LARGEST_FILE_BYTES
from sweeps.configs.reviewing import laid_out, review
from sweeps.models import CompileConfig, ConfigVersion
from sweeps.saving import Saved, create_config, save_version

router = Router(tags=["configs"])
ONE_OF_TWO = "Give the config as text, or as settings, which is the JSON itself."


class FindingOut(Schema):
    kind: str
    path: str
    sentence: str


class ConfigOut(Schema):
    """`text` as it was typed. `findings` are those of the SoC that the config names, if it names one."""

    id: str
    name: str
    version: int
    text: str
    soc_model: int | None
    findings: list[FindingOut]
    notes: str
    tags: list[str]
    created_at: datetime
    saved_at: datetime
    saved_by: str


class ConfigText(Asked):
    """The inner settings or a wrapper with them: as `text`, comments and all, or as `settings`, the JSON itself."""

    text: Text | None = Field(None, max_length=LARGEST_FILE_BYTES)
    settings: dict[str, Any] | None = None

    def as_text(self) -> str:
        if (self.text is None) == (self.settings is None):
            raise ConfigUnreadable(ONE_OF_TWO)
        return self.text if self.text is not None else laid_out(self.settings or {})


class NewConfig(ConfigText):
    name: Name = Field(min_length=1)


class NewVersion(ConfigText):
    """`seen`: the number of the version that this one follows; when another was saved since, nothing is."""

    seen: int = Field(ge=1, le=2**31 - 1)


@router.get("/configs", response={200: Page[ConfigOut], **REFUSED}, summary="All configs")
def config_list(request: TokenRequest, asked: Query[Slice]) -> Any:
    rows = mine(request, CompileConfig.objects.filter(archived_at=None)).order_by("name", "pk")
    return page_of(rows.prefetch_related("tags", _versions()), asked, _configs_out)


@router.post("/configs", response={201: ConfigOut, **INVALID}, summary="Save a config")
def config_save(request: TokenRequest, config: NewConfig) -> Any:
    """One with problems is saved all the same, since it may be for another target: `findings` tells."""
    text = _checked(config)
    return Status(201, _saved_out(create_config(team_of(request), request.user, name=config.name, text=text)))


@router.get("/configs/{config_id}", response={200: ConfigOut, **REFUSED}, summary="One config, its latest version")
def config_read(request: TokenRequest, config_id: str) -> Any:
    return _config_out(found(request, CompileConfig.objects.prefetch_related("tags", _versions()), config_id))


@router.post(
    "/configs/{config_id}/versions", response={201: ConfigOut, **CONFLICTS, 422: Invalid}, summary="Save a new version"
)
def config_version(request: TokenRequest, config_id: str, version: NewVersion) -> Any:
    """A text that has not changed makes no new version."""
    config = found(request, CompileConfig.objects.all(), config_id)
    return Status(201, _saved_out(save_version(config, request.user, _checked(version), seen=version.seen)))


def _checked(config: ConfigText) -> str:
    text = config.as_text()
    if refusal := review(text).refusal:
        raise ConfigUnreadable(refusal)
    return text


def _versions() -> Prefetch[Any, Any, Any]:
    newest_first = ConfigVersion.objects.select_related("created_by").order_by("-number")
    return Prefetch("versions", queryset=newest_first, to_attr="newest_first")


def _configs_out(rows: Sequence[CompileConfig]) -> list[ConfigOut]:
    return [_config_out(row) for row in rows]


def _config_out(row: Any) -> ConfigOut:
    """With its versions loaded."""
    return _version_out(row, row.newest_first[0])


def _saved_out(saved: Saved) -> ConfigOut:
    return _version_out(saved.version.config, saved.version)


def _version_out(row: CompileConfig, version: ConfigVersion) -> ConfigOut:
    return ConfigOut(
        id=row.public_id,
        name=row.name,
        version=version.number,
        text=version.text,
        soc_model=version.soc_model,
        findings=[
            FindingOut(kind=each.kind, path=each.path, sentence=each.sentence) for each in review(version.text).findings
        ],
        notes=row.notes,
        tags=[tag.name for tag in row.tags.all()],
        created_at=row.created_at,
        saved_at=version.created_at,
        saved_by=version.created_by.get_username(),
    )
