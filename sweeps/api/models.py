"""Models: send one, hear what it is, keep it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ninja import Field, File, Form, Query, Router, Schema, Status
from ninja.files import UploadedFile

from sweeps.api.refusals import CONFLICTS, INVALID, REFUSED, Conflict, Invalid, Refusal
from sweeps.api.uploads import disk_refusal, receive
from sweeps.api.values import Asked, Name, Notes, Page, Slice, Tags, Text, TokenRequest, found, mine, page_of, team_of
from sweeps.models import Inspection, SourceModel
from sweeps.uploads import NotUploaded, can_be_kept, keep_model, known_model, start_inspection, uploads_named
from tunerweb.work.leases import WorkState

router = Router(tags=["models"])
NOT_INSPECTED = "This is not inspected yet: it is {state}. Ask again in a moment."
BOTH_WAYS = "Send files, or the names of files that were uploaded in pieces, not both."


class ModelOut(Schema):
    id: str
    name: str
    sha256: str
    format: str
    size_bytes: int
    precision: str
    free_dimensions: list[str]
    graphs: list[dict[str, Any]]
    notes: str
    tags: list[str]
    created_at: datetime
    created_by: str


class InspectionOut(Schema):
    """`state`: queued, running, done or failed. Keep the model once it is done and `problem` is null."""

    id: str
    state: str
    problem: str | None
    can_be_kept: bool
    description: dict[str, Any] | None
    model: str | None


class Wanted(Asked):
    """`upload`: names of files that came in pieces, as their addresses end."""

    upload: list[Text] = Field(default_factory=list)


class Kept(Asked):
    """Without a name the model is called after its file."""

    name: Name = ""
    notes: Notes = ""
    tags: Tags = Field(default_factory=list)


@router.get("/models", response={200: Page[ModelOut], **REFUSED}, summary="All models")
def model_list(request: TokenRequest, asked: Query[Slice]) -> Any:
    rows = mine(request, SourceModel.objects.all()).order_by("-created_at", "-pk")
    return page_of(rows.select_related("owner").prefetch_related("tags"), asked, _models_out)


@router.post("/models", response={202: InspectionOut, **INVALID, 507: Refusal, 500: Refusal}, summary="Send a model")
def model_send(request: TokenRequest, wanted: Form[Wanted], files: File[list[UploadedFile]] = []) -> Any:  # noqa: B006
    """One request of up to 32 MiB: a DLC, an ONNX with its data files, or a zip of these. Larger files are uploaded by
    tus first. It is inspected then: ask for the inspection, and keep the model.
    """
    if files and wanted.upload:
        raise NotUploaded(BOTH_WAYS)
    try:
        uploads = receive(request, files) if files else uploads_named(wanted.upload, request.user, team_of(request))
    except OSError as error:
        status, sentence = disk_refusal(error)
        return Status(status, Refusal(detail=sentence))
    return Status(202, _inspection_out(start_inspection(uploads, request.user)))


@router.get("/models/{model_id}", response={200: ModelOut, **REFUSED}, summary="One model")
def model_read(request: TokenRequest, model_id: str) -> Any:
    return _model_out(found(request, SourceModel.objects.select_related("owner"), model_id))


@router.get("/inspections/{inspection_id}", response={200: InspectionOut, **REFUSED}, summary="What a file is")
def inspection_read(request: TokenRequest, inspection_id: str) -> Any:
    return _inspection_out(found(request, Inspection.objects.all(), inspection_id))


@router.post(
    "/inspections/{inspection_id}/keep",
    response={200: ModelOut, **CONFLICTS, 422: Invalid},
    summary="Keep what was inspected",
)
def inspection_keep(request: TokenRequest, inspection_id: str, kept: Kept | None = None) -> Any:
    """What the team has already is not kept twice: the answer is the model that is there."""
    row: Inspection = found(request, Inspection.objects.all(), inspection_id)
    if row.is_live:
        raise Conflict(NOT_INSPECTED.format(state=row.state))
    wanted = kept or Kept()
    name = wanted.name or (row.description or {}).get("model_file") or "model"
    return _model_out(keep_model(row, name, wanted.notes, wanted.tags, request.user))


def _models_out(rows: Sequence[SourceModel]) -> list[ModelOut]:
    return [_model_out(row) for row in rows]


def _model_out(row: SourceModel) -> ModelOut:
    return ModelOut(
        id=row.public_id,
        name=row.name,
        sha256=row.sha256,
        format=row.format,
        size_bytes=row.size_bytes,
        precision=row.precision,
        free_dimensions=row.description.get("free_dimensions", []),
        graphs=row.description.get("graphs", []),
        notes=row.notes,
        tags=[tag.name for tag in row.tags.all()],
        created_at=row.created_at,
        created_by=row.owner.get_username(),
    )


def _inspection_out(row: Inspection) -> InspectionOut:
    """The model is there when the team has it, whether kept from this inspection or earlier."""
    description = row.description
    problem = (description or {}).get("problem") or (row.reason if row.state != WorkState.DONE else None) or None
    model = row.source_model or (known_model(row) if description else None)
    return InspectionOut(
        id=row.public_id,
        state=row.state,
        problem=problem,
        can_be_kept=row.state == WorkState.DONE and can_be_kept(row),
        description=description,
        model=model.public_id if model else None,
    )
