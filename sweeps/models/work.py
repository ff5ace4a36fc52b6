"""The work that sweeps need: conversions and compilations, shared by every trial that wants the same."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from sweeps.models.sources import SourceModel
from tunerweb.accounts.models import ScopedQuerySet
from tunerweb.work.leases import REUSABLE, LeasedWork
from tunerweb.work.models import Artifact


class Toolchain(models.Model):
    """A build of the compiler that workers have. The web process knows toolchains by these rows alone."""

    name = models.CharField(max_length=40)
    package_version = models.CharField(max_length=40)
    build_id = models.CharField(max_length=100)
    converter = models.CharField(max_length=100)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["name", "package_version", "build_id", "converter"], name="one_toolchain_per_identity"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.package_version} ({self.build_id})"


class SharedWork(LeasedWork):
    """Unique by team and key while it may still be used; failed and cancelled rows stay as history."""

    queue = "compile"

    key = models.CharField(max_length=64)
    source_model = models.ForeignKey(SourceModel, on_delete=models.PROTECT, related_name="+")
    soc_model = models.PositiveIntegerField()
    num_cores = models.PositiveIntegerField(default=1)
    toolchain = models.ForeignKey(Toolchain, on_delete=models.PROTECT, related_name="+")
    error = models.JSONField(null=True, blank=True)
    log = models.ForeignKey(Artifact, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    wall_us = models.BigIntegerField(null=True, blank=True)
    cpu_us = models.BigIntegerField(null=True, blank=True)
    peak_memory_bytes = models.BigIntegerField(null=True, blank=True)

    class Meta:
        abstract = True


class Conversion(SharedWork):
    """ONNX to DLC for one target, with its free dimensions given."""

    free_dimensions = models.JSONField(default=dict)
    dlc = models.ForeignKey(Artifact, null=True, blank=True, on_delete=models.PROTECT, related_name="conversions")
    notes = models.JSONField(default=list)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "key"],
                condition=models.Q(state__in=REUSABLE, cancel_requested_at=None),
                name="one_conversion_per_key",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=models.Q(state="queued"), name="conversion_queued"),
            models.Index(fields=["lease_until"], condition=models.Q(state="running"), name="conversion_running"),
        ]

    def __str__(self) -> str:
        return f"conversion {self.public_id}"


class Compilation(SharedWork):
    """One point of one model for one target with one toolchain build.

    `config` is the HTP config that was checked, without the swept P. The metrics that pages sort by are columns;
    `result` holds all that the compile said.
    """

    conversion = models.ForeignKey(
        Conversion, null=True, blank=True, on_delete=models.PROTECT, related_name="compilations"
    )
    config = models.JSONField()
    p_value = models.IntegerField(null=True, blank=True)
    as_given = models.BooleanField(default=False)
    result = models.JSONField(null=True, blank=True)
    binary = models.ForeignKey(Artifact, null=True, blank=True, on_delete=models.PROTECT, related_name="compilations")
    rom_bytes = models.BigIntegerField(null=True, blank=True)
    ram_bytes = models.BigIntegerField(null=True, blank=True)
    dram_bytes = models.BigIntegerField(null=True, blank=True)
    simulated_cycles = models.BigIntegerField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "key"],
                condition=models.Q(state__in=REUSABLE, cancel_requested_at=None),
                name="one_compilation_per_key",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=models.Q(state="queued"), name="compilation_queued"),
            models.Index(fields=["lease_until"], condition=models.Q(state="running"), name="compilation_running"),
        ]

    def __str__(self) -> str:
        return f"compilation {self.public_id}"
