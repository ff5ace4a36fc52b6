"""From files that arrive to models that are kept: finish an upload, inspect it, keep or discard it, delete a model."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, Sum
from django.utils import timezone
from django.utils.crypto import get_random_string

from sweeps.models import Compilation, Conversion, Inspection, SourceFile, SourceModel, Sweep, Tag, Upload, UploadState
from sweeps.models.sources import SourceFormat
from tunerweb.accounts.models import Team, User
from tunerweb.work import hints
from tunerweb.work.artifacts import Freed, drop_unreferenced, forget, known_to, server_store
from tunerweb.work.incoming import Incoming
from tunerweb.work.leases import WorkState
from tunerweb.work.models import Artifact

ABANDONED = timedelta(hours=24)
UNDECIDED = timedelta(days=7)
TIDY_EVERY_S = 3600.0
FINISH_WAIT_S = 5.0
MOST_FILES = 1000
ONE_SWEEP = "There is a sweep of this model: delete it first."
MANY_SWEEPS = "There are {count} sweeps of this model: delete them first."


class NotUploaded(ValueError):
    """These files cannot be inspected; the message is a sentence for the person who sent them."""


class NotKept(ValueError):
    """What was inspected is not a model that can be kept."""


@cache
def _incoming_in(folder: Path) -> Incoming:
    return Incoming(folder)


def incoming() -> Incoming:
    return _incoming_in(settings.ENVIRONMENT.incoming)


def finish(upload: Upload) -> None:
    """Into the store with a file that has arrived whole. Its part goes last: a death before that loses nothing."""
    stored = incoming().move_into(server_store(), upload.tus_id)
    with transaction.atomic():
        upload.artifact = known_to(upload.team, stored)
        upload.state = UploadState.COMPLETE
        upload.save(update_fields=["artifact", "state", "touched_at"])
    incoming().remove(upload.tus_id)


def uploads_named(ids: Iterable[str], user: User, team: Team) -> list[Upload]:
    """By public id, or by what a client of tus knows. Raises `NotUploaded`."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise NotUploaded("No file was chosen.")
    if len(wanted) > MOST_FILES:
        raise NotUploaded(f"These are {len(wanted)} files; at most {MOST_FILES} make a model. Pack them in a zip.")
    mine = Upload.objects.of(user).filter(owner=user, team=team)
    found = list(mine.filter(Q(public_id__in=wanted) | Q(tus_id__in=wanted)).order_by("pk"))
    if len(found) < len(wanted):
        raise NotUploaded("A file of these is not on the server any more. Choose the files again.")
    for upload in found:
        _finish_late(upload)
    return found


def _finish_late(upload: Upload) -> None:
    """A file that arrived whole, though its last request died before it could say so."""
    if upload.state == UploadState.COMPLETE:
        return
    unfinished = f"{upload.name} has not arrived whole. Choose it again: it goes on where it stopped."
    try:
        with incoming().locked(upload.tus_id, FINISH_WAIT_S):
            if incoming().length(upload.tus_id) != upload.size_bytes:
                raise NotUploaded(unfinished)
            finish(upload)
    except FileNotFoundError:
        upload.refresh_from_db()
        if upload.state != UploadState.COMPLETE:
            raise NotUploaded(unfinished) from None


def start_inspection(uploads: Sequence[Upload], user: User) -> Inspection:
    """Of one model: its file, or a zip, or the file and those that hold its weights. The same sent twice is one."""
    with transaction.atomic():
        rows = list(Upload.objects.select_for_update().filter(pk__in=[upload.pk for upload in uploads]).order_by("pk"))
        if same := _inspection_of(rows):
            return same
        inspection = Inspection.objects.create(team=rows[0].team, owner=user)
        for row in rows:
            _attach(row, inspection)
        transaction.on_commit(lambda: hints.push(Inspection.queue))
        return inspection


def _inspection_of(rows: Sequence[Upload]) -> Inspection | None:
    known = {row.inspection for row in rows}
    inspection = known.pop() if len(known) == 1 else None
    return inspection if inspection and inspection.uploads.count() == len(rows) else None


def _attach(row: Upload, inspection: Inspection) -> None:
    """An upload that another inspection has stays with it, and this one gets another row of the same file."""
    if row.inspection_id is not None:
        row.pk, row._state.adding = None, True
        row.public_id = Upload._meta.get_field("public_id").get_default()
        row.tus_id = get_random_string(32)
    row.inspection = inspection
    row.save()


def known_model(inspection: Inspection) -> SourceModel | None:
    """The model that the team has already with the same content."""
    sha256 = (inspection.description or {}).get("sha256")
    return SourceModel.objects.filter(team=inspection.team, sha256=sha256).first() if sha256 else None


def can_be_kept(inspection: Inspection) -> bool:
    description = inspection.description or {}
    return description.get("format") in SourceFormat.values and not description.get("problem")


def keep_model(inspection: Inspection, name: str, notes: str, tags: Iterable[str], user: User) -> SourceModel:
    """Raises `NotKept`. What the team has already is not kept twice: it is given back as it is."""
    if not can_be_kept(inspection):
        raise NotKept("This is not a model that can be swept, so it cannot be kept.")
    try:
        with transaction.atomic():
            model = known_model(inspection) or _new_model(inspection, name, notes, tags, user)
    except IntegrityError:
        # Somebody else kept the same content at this moment.
        known = known_model(inspection)
        if known is None:
            raise
        model = known
    Inspection.objects.filter(pk=inspection.pk).update(source_model=model)
    return model


def _new_model(inspection: Inspection, name: str, notes: str, tags: Iterable[str], user: User) -> SourceModel:
    description = inspection.description or {}
    model: SourceModel = SourceModel.objects.create(
        team=inspection.team,
        owner=user,
        name=name,
        sha256=description["sha256"],
        format=description["format"],
        size_bytes=description["size_bytes"],
        precision=description["precision"] or "",
        description=description,
        notes=notes,
    )
    uploads = sorted(inspection.uploads.order_by("pk"), key=lambda row: row.name != description["model_file"])
    for upload in uploads:
        model.files.create(name=upload.name, artifact=upload.artifact)
    _set_tags(model, tags)
    return model


def describe_model(model: SourceModel, name: str, notes: str, tags: Iterable[str]) -> None:
    with transaction.atomic():
        model.name, model.notes = name, notes
        model.save(update_fields=["name", "notes"])
        _set_tags(model, tags)


def _set_tags(model: SourceModel, names: Iterable[str]) -> None:
    model.tags.set(Tag.objects.get_or_create(team=model.team, name=name)[0] for name in dict.fromkeys(names))


def discard(inspection: Inspection) -> None:
    """With its files. A worker that is at it finds the row gone, and its result counts for nothing."""
    artifacts = _artifacts_of(inspection)
    inspection.delete()
    forget(artifacts)


def inspect_again(inspection: Inspection) -> None:
    """After a failure that was not the files' fault."""
    with transaction.atomic():
        failed = Inspection.objects.filter(pk=inspection.pk, state__in=(WorkState.FAILED, WorkState.CANCELLED))
        failed.update(
            state=WorkState.QUEUED, crashes=0, rescues=0, reason="", finished_at=None, cancel_requested_at=None
        )
        transaction.on_commit(lambda: hints.push(Inspection.queue))


def _artifacts_of(inspection: Inspection) -> list[int]:
    return [pk for pk in inspection.uploads.values_list("artifact_id", flat=True) if pk]


def freed_by_model(model: SourceModel) -> Freed:
    """Without deleting anything."""
    artifacts = Artifact.objects.filter(source_files__source_model=model)
    elsewhere = SourceFile.objects.exclude(source_model=model)
    freed = artifacts.exclude(pk__in=elsewhere.values("artifact")).distinct()
    sweeps = Sweep.objects.filter(source_model=model).count()
    blocked_by = ONE_SWEEP if sweeps == 1 else MANY_SWEEPS.format(count=sweeps) if sweeps else ""
    return Freed(freed.count(), freed.aggregate(total=Sum("size_bytes"))["total"] or 0, blocked_by)


def delete_model(model: SourceModel) -> Freed:
    """Not while there are sweeps of it: `blocked_by` says so, and nothing is deleted."""
    with transaction.atomic():
        SourceModel.objects.select_for_update().get(pk=model.pk)
        freed = freed_by_model(model)
        if freed.blocked_by:
            return freed
        artifacts = list(model.files.values_list("artifact_id", flat=True))
        inspections = Inspection.objects.filter(source_model=model)
        artifacts += [pk for inspection in inspections for pk in _artifacts_of(inspection)]
        # Work that sweeps have left behind.
        Compilation.objects.filter(source_model=model).delete()
        Conversion.objects.filter(source_model=model).delete()
        inspections.delete()
        model.delete()
    forget(artifacts)
    return freed


_tidied_at = -TIDY_EVERY_S


def reconcile() -> None:
    """Every two seconds: one small question, and a thorough look once an hour."""
    global _tidied_at
    remove_abandoned()
    if time.monotonic() - _tidied_at >= TIDY_EVERY_S:
        _tidied_at = time.monotonic()
        remove_strays()
        Inspection.objects.filter(source_model=None, created_at__lt=timezone.now() - UNDECIDED).delete()
        drop_unreferenced()


def remove_abandoned() -> None:
    """Uploads that nobody goes on with, or that were never inspected."""
    old = Upload.objects.filter(inspection=None, created_at__lt=timezone.now() - ABANDONED)
    fresh_after = time.time() - ABANDONED.total_seconds()
    for row in old.order_by("pk"):
        if row.state == UploadState.COMPLETE or _last_written(row) < fresh_after:
            row.delete()
            incoming().remove(row.tus_id)


def _last_written(row: Upload) -> float:
    try:
        return incoming().path(row.tus_id).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def remove_strays() -> None:
    """Parts whose row is gone or complete."""
    parts = list(incoming().parts_older_than(ABANDONED.total_seconds()))
    receiving = Upload.objects.filter(tus_id__in=parts, state=UploadState.RECEIVING)
    for part in set(parts) - set(receiving.values_list("tus_id", flat=True)):
        incoming().remove(part)
