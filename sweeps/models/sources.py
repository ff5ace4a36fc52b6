"""Files on their way in, what they turn out to be, and the models that were kept."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from sweeps.models.tags import Tag
from sweeps.querysets import SourceModelQuerySet
from tunerweb.accounts.models import Owned, ScopedQuerySet
from tunerweb.work.leases import LeasedWork
from tunerweb.work.models import Artifact

LONGEST_NAME = 300


class SourceFormat(models.TextChoices):
    DLC = "dlc", "DLC"
    ONNX = "onnx", "ONNX"


class SourceModel(Owned):
    """An uploaded DLC or ONNX, immutable, named by its sha256. `description` is what its inspection found."""

    name = models.CharField(max_length=LONGEST_NAME)
    sha256 = models.CharField(max_length=64)
    format = models.CharField(max_length=4, choices=SourceFormat)
    size_bytes = models.BigIntegerField()
    precision = models.CharField(max_length=20, blank=True)
    description = models.JSONField(default=dict)
    notes = models.TextField(blank=True)
    tags = models.ManyToManyField(Tag, blank=True, related_name="source_models")

    objects = SourceModelQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "sha256"], name="one_model_per_team")]

    def __str__(self) -> str:
        return self.name


class SourceFile(models.Model):
    """One of the files that a model consists of; the first is the model itself, or a zip of all."""

    source_model = models.ForeignKey(SourceModel, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=LONGEST_NAME)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="source_files")

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return self.name


class Inspection(LeasedWork):
    """Finds out what uploaded files are, before anybody decides to keep them."""

    queue = "light"

    description = models.JSONField(null=True, blank=True)
    source_model = models.ForeignKey(
        SourceModel, null=True, blank=True, on_delete=models.SET_NULL, related_name="inspections"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["state", "id"], name="inspection_state")]

    def __str__(self) -> str:
        return f"inspection {self.public_id}"


class UploadState(models.TextChoices):
    RECEIVING = "receiving"
    COMPLETE = "complete"


class Upload(Owned):
    """One file that is sent in pieces. `tus_id` names it in the protocol and in the folder of incoming files."""

    tus_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=LONGEST_NAME)
    size_bytes = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=UploadState, default=UploadState.RECEIVING)
    artifact = models.ForeignKey(Artifact, null=True, blank=True, on_delete=models.PROTECT, related_name="uploads")
    inspection = models.ForeignKey(Inspection, null=True, blank=True, on_delete=models.CASCADE, related_name="uploads")
    touched_at = models.DateTimeField(auto_now=True)

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
