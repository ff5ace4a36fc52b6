"""Files that rows refer to, and who repairs what others left."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from tunerweb.accounts.models import Team


class Artifact(models.Model):
    """A file in the store, known to one team. The file goes when no team knows it any more.

    `kept_at` is when it was last put there: until a row points to it, only its age protects it.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64, db_index=True)
    size_bytes = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    kept_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "sha256"], name="one_artifact_per_team")]

    def __str__(self) -> str:
        return self.sha256[:12]


class Duty(models.Model):
    """Something that one process at a time does, such as reconciling; held by a lease."""

    name = models.CharField(max_length=40, unique=True)
    holder = models.CharField(max_length=100)
    lease_until = models.FloatField()
    lease_clock = models.CharField(max_length=40)

    def __str__(self) -> str:
        return f"{self.name} by {self.holder}"
