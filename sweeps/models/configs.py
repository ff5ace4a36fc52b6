"""Saved HTP configs. A version never changes: a sweep can always show what it was given."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from sweeps.models.sources import LONGEST_NAME
from sweeps.models.tags import Tag
from tunerweb.accounts.models import Owned, ScopedQuerySet, User


class CompileConfig(Owned):
    name = models.CharField(max_length=LONGEST_NAME)
    notes = models.TextField(blank=True)
    tags = models.ManyToManyField(Tag, blank=True, related_name="compile_configs")
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def latest(self) -> ConfigVersion:
        version = self.versions.order_by("-number").first()
        if version is None:
            raise ConfigVersion.DoesNotExist(f"The config {self.name} has no version.")
        return version


class ConfigVersion(models.Model):
    """`text` as it was typed; `soc_model` is the SoC that it names, for lists."""

    config = models.ForeignKey(CompileConfig, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.TextField()
    soc_model = models.PositiveIntegerField(null=True, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["config", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"{self.config} v{self.number}"
