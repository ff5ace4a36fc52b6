"""Sweeps and their trials. A trial has no state of its own: it follows the work that it points to."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.urls import reverse

from devices.targets import Target, find_target
from sweeps.models.configs import ConfigVersion
from sweeps.models.sources import LONGEST_NAME, SourceModel
from sweeps.models.tags import Tag
from sweeps.models.work import Compilation, Toolchain
from sweeps.querysets import SweepQuerySet, TrialQuerySet
from tunerweb.accounts.models import Owned
from tunerweb.work.leases import WorkState


class TrialState(models.TextChoices):
    QUEUED = "queued"
    CONVERTING = "converting"
    COMPILING = "compiling"
    DONE = "done"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Sweep(Owned):
    """One form sent. `finished_at` and `headline` are there when no trial is live any more."""

    name = models.CharField(max_length=LONGEST_NAME)
    source_model = models.ForeignKey(SourceModel, on_delete=models.PROTECT, related_name="sweeps")
    config_version = models.ForeignKey(
        ConfigVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="sweeps"
    )
    free_dimensions = models.JSONField(default=dict)
    soc_model = models.PositiveIntegerField()
    num_cores = models.PositiveIntegerField(default=1)
    toolchain = models.ForeignKey(Toolchain, on_delete=models.PROTECT, related_name="+")
    p_values = models.CharField(max_length=200, default="all")
    left_out = models.JSONField(default=dict)
    top_k = models.PositiveIntegerField(default=1)
    parallel_compiles = models.PositiveIntegerField(default=1)
    timeout_s = models.PositiveIntegerField(default=3600)
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    priority = models.SmallIntegerField(default=0)
    verifies_outputs = models.BooleanField(default=False)
    input_seed = models.PositiveIntegerField(default=0)
    submission = models.CharField(max_length=40, unique=True, null=True, blank=True)
    cloned_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    paused_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True, db_index=True)
    headline = models.TextField(blank=True)
    notes = models.TextField(blank=True)
    tags = models.ManyToManyField(Tag, blank=True, related_name="sweeps")

    objects = SweepQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("sweeps:sweep", args=[self.public_id])

    @property
    def target(self) -> Target:
        return find_target(self.soc_model, num_cores=self.num_cores)


class TrialKind(models.TextChoices):
    BASELINE = "baseline"
    AS_GIVEN = "as_given", "as given"
    P_VALUE = "p_value", "P value"


class Trial(Owned):
    """`from_store`: the compilation was already there when the sweep was sent."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="trials")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=TrialKind)
    p_value = models.IntegerField(null=True, blank=True)
    compilation = models.ForeignKey(Compilation, on_delete=models.PROTECT, related_name="trials")
    from_store = models.BooleanField(default=False)
    cancelled_at = models.DateTimeField(null=True, blank=True)

    objects = TrialQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["sweep", "position"], name="one_trial_per_position")]

    def __str__(self) -> str:
        return f"{self.label} of {self.sweep}"

    @property
    def label(self) -> str:
        return "as given" if self.kind == TrialKind.AS_GIVEN else f"P={self.p_value}"

    @property
    def state(self) -> TrialState:
        """Of a trial whose compilation and conversion are loaded."""
        if self.cancelled_at:
            return TrialState.CANCELLED
        state = WorkState(self.compilation.state)
        if state == WorkState.RUNNING:
            return TrialState.COMPILING
        conversion = self.compilation.conversion
        if state == WorkState.QUEUED and conversion and conversion.state == WorkState.RUNNING:
            return TrialState.CONVERTING
        return TrialState(state)

    @property
    def is_live(self) -> bool:
        return self.state in (TrialState.QUEUED, TrialState.CONVERTING, TrialState.COMPILING)
