"""The server's store, and the rows that say which team knows which file in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import ManyToOneRel, QuerySet
from django.utils import timezone

from tunerweb.accounts.models import Team
from tunerweb.work.models import Artifact
from tunerweb.work.store import Store, Stored

# Longer than any transaction between keeping a file and pointing a row to it.
GRACE = timedelta(hours=1)
MOST_AT_ONCE = 500


@dataclass(frozen=True)
class Freed:
    """What a deletion takes out of the store: files that nothing else needs."""

    files: int
    size_bytes: int
    blocked_by: str = ""


def server_store() -> Store:
    return Store(settings.ENVIRONMENT.store)


def keep(team: Team, source: bytes | Path) -> Artifact:
    """Copy into the store. A row must point to the artifact within `GRACE`, or it is dropped again."""
    return known_to(team, server_store().put(source))


def known_to(team: Team, stored: Stored) -> Artifact:
    """The team's row of a file in the store; kept anew if the team knows it already."""
    made = Artifact(team=team, sha256=stored.sha256, size_bytes=stored.size_bytes)
    [row] = Artifact.objects.bulk_create(
        [made], update_conflicts=True, unique_fields=["team", "sha256"], update_fields=["kept_at"]
    )
    return row


def drop_unreferenced(grace: timedelta = GRACE) -> int:
    """Artifacts that no row refers to, then the files that no artifact names. How many files went."""
    while _drop_rows(unreferenced(), grace):
        pass
    server_store().remove_leftovers(grace.total_seconds())
    return _drop_files(server_store().hashes(), grace)


def forget(artifacts: Iterable[int], grace: timedelta = GRACE) -> int:
    """The same at once, for those that a deletion has just left behind. Younger ones go later."""
    gone = _drop_rows(unreferenced().filter(pk__in=list(artifacts)), grace)
    return _drop_files(gone, grace)


def unreferenced() -> QuerySet[Artifact]:
    """Every foreign key to an artifact counts, those of models to come too."""
    rows = Artifact.objects.all()
    for relation in Artifact._meta.get_fields(include_hidden=True):
        if isinstance(relation, ManyToOneRel):
            name = relation.field.name
            referring: QuerySet[Any] = relation.related_model._base_manager.filter(**{f"{name}__isnull": False})
            rows = rows.exclude(pk__in=referring.values(name))
    return rows


def _drop_rows(rows: QuerySet[Artifact], grace: timedelta) -> list[str]:
    old = rows.filter(kept_at__lt=timezone.now() - grace)
    with transaction.atomic():
        # Locked and asked again: who keeps one of them at this moment finds it gone, and makes a new one.
        locked = list(old.select_for_update().values_list("pk", flat=True)[:MOST_AT_ONCE])
        dropped = list(old.filter(pk__in=locked).values_list("pk", "sha256"))
        Artifact.objects.filter(pk__in=[pk for pk, _ in dropped])._raw_delete(transaction.get_connection().alias)
    return [sha256 for _, sha256 in dropped]


def _drop_files(candidates: Iterable[str], grace: timedelta) -> int:
    store, dropped = server_store(), 0
    remaining = iter(candidates)
    while batch := list(islice(remaining, MOST_AT_ONCE)):
        named = set(Artifact.objects.filter(sha256__in=batch).values_list("sha256", flat=True))
        unnamed = [sha256 for sha256 in batch if sha256 not in named]
        dropped += sum(store.remove_if_older(sha256, grace.total_seconds()) for sha256 in unnamed)
    return dropped
