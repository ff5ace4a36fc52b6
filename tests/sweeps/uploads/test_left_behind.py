"""What people and dead processes leave is removed, and nothing else."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from sweeps import uploads as module
from sweeps.models import Inspection, Upload
from sweeps.uploads import (
    incoming,
    keep_model,
    reconcile,
)
from tests.sweeps.stored import stored_sweep
from tests.sweeps.uploads.senders import CONTENT, Sender, age, inspected, parts, uploaded
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import keep, server_store
from tunerweb.work.models import Artifact

pytestmark = pytest.mark.django_db


@pytest.fixture
def thorough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_tidied_at", -module.TIDY_EVERY_S)


def abandon(row: Upload) -> None:
    two_days_ago = time.time() - 2 * 86_400
    Upload.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(days=2))
    if incoming().length(row.tus_id) is not None:
        os.utime(incoming().path(row.tus_id), (two_days_ago, two_days_ago))


def test_an_abandoned_upload_is_removed_after_a_day(sender: Sender, thorough: None) -> None:
    sender.begin(10)
    reconcile()
    assert Upload.objects.count() == 1
    abandon(Upload.objects.get())
    reconcile()
    assert (Upload.objects.count(), parts()) == (0, [])


def test_a_slow_upload_is_not_abandoned(sender: Sender, thorough: None) -> None:
    url = sender.begin(10)
    abandon(Upload.objects.get())
    sender.patch(url, 0, b"abc")
    reconcile()
    assert Upload.objects.count() == 1


def test_an_uploaded_file_that_nobody_inspects_is_removed(person: User, thorough: None) -> None:
    (row,) = uploaded(person, CONTENT)
    abandon(row)
    age()
    reconcile()
    assert (Upload.objects.count(), Artifact.objects.count(), list(server_store().hashes())) == (0, 0, [])


def test_a_part_without_a_row_is_removed(sender: Sender, thorough: None) -> None:
    sender.begin(10)
    abandon(Upload.objects.get())
    Upload.objects.all().delete()
    reconcile()
    assert parts() == []


def test_an_inspection_without_a_decision_is_removed_after_a_week(person: User, thorough: None) -> None:
    row = inspected(person, CONTENT)
    Inspection.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(days=8))
    reconcile()
    assert Inspection.objects.count() == 0


def test_files_that_something_refers_to_are_never_dropped(person: User, thorough: None) -> None:
    keep_model(inspected(person, CONTENT), "name", "", [], person)
    keep(person.team, b"nobody wants this")
    age()
    reconcile()
    assert [row.size_bytes for row in Artifact.objects.all()] == [len(CONTENT)]
    assert len(list(server_store().hashes())) == 1


def test_a_young_file_is_not_dropped(person: User, thorough: None) -> None:
    artifact = keep(person.team, b"no row points here yet")
    reconcile()
    assert server_store().contains(artifact.sha256)


def test_keeping_a_file_again_makes_it_young(person: User, thorough: None) -> None:
    first = keep(person.team, b"kept twice")
    age()
    assert keep(person.team, b"kept twice") == first
    reconcile()
    assert Artifact.objects.filter(pk=first.pk).exists()
    assert server_store().contains(first.sha256)


def test_reconciling_is_one_small_question(person: User, django_assert_num_queries: Any) -> None:
    reconcile()
    with django_assert_num_queries(1):
        reconcile()


def test_what_a_compilation_made_is_never_dropped(person: User, thorough: None) -> None:
    sweep = stored_sweep(person)
    age()
    reconcile()
    made = [row for trial in sweep.trials.with_work() for row in (trial.compilation.binary, trial.compilation.log)]
    assert all(server_store().contains(row.sha256) for row in made)
