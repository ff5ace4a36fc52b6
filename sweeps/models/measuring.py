"""What is found out by running binaries: whether they compute the same, and how long they take on a device."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from devices.models import LONGEST_NAME as LONGEST_DEVICE_NAME
from devices.models import Device
from sweeps.models.sweeps import Sweep, Trial
from tunerweb.accounts.models import ScopedQuerySet
from tunerweb.work.leases import LeasedWork
from tunerweb.work.models import Artifact


class Verdict(models.TextChoices):
    """Of a candidate's outputs, next to those of the baseline."""

    REFERENCE = "reference", "reference"
    IDENTICAL = "identical", "identical"
    SAME = "same", "same within tolerance"
    DIFFERENT = "different", "different"
    NOT_VERIFIED = "not_verified", "not verified"


class ComparedOutputs(models.Model):
    """`fingerprint` is equal where outputs are equal to the last bit; `differences` has the figures of each output."""

    outputs = models.ForeignKey(Artifact, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    fingerprint = models.CharField(max_length=64, blank=True)
    verdict = models.CharField(max_length=12, choices=Verdict, blank=True)
    differences = models.JSONField(default=list)

    class Meta:
        abstract = True


class Verification(ComparedOutputs, LeasedWork):
    """A trial's binary, run on this host's emulator. `reason` says what is wrong, or why nothing can be said."""

    queue = "compile"

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="verification")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=models.Q(state="queued"), name="verification_queued"),
            models.Index(fields=["lease_until"], condition=models.Q(state="running"), name="verification_running"),
        ]

    def __str__(self) -> str:
        return f"verification {self.public_id}"


class DeviceSession(LeasedWork):
    """One sweep on one device. `rounds` and `runs` are None where the protocol decides.

    `refused`: trials that the device would not run, by position, with the reason. `runtime` is what ran the binaries.
    The device's name stays when the device goes.
    """

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="sessions")
    device = models.ForeignKey(Device, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions")
    device_name = models.CharField(max_length=LONGEST_DEVICE_NAME)
    perf_profile = models.CharField(max_length=40, default="burst")
    rounds = models.PositiveIntegerField(null=True, blank=True)
    runs = models.PositiveIntegerField(null=True, blank=True)
    refused = models.JSONField(default=dict)
    runtime = models.JSONField(default=dict)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["sweep", "device"], name="one_session_per_device")]
        indexes: ClassVar = [
            models.Index(fields=["device", "id"], condition=models.Q(state="queued"), name="session_queued"),
            models.Index(fields=["lease_until"], condition=models.Q(state="running"), name="session_running"),
        ]

    def __str__(self) -> str:
        return f"{self.sweep} on {self.device_name}"


class MeasurementBlock(models.Model):
    """One process on the device. `is_twin`: the baseline measured a second time, which shows what chance alone does.

    Of a block that something disturbed there is a second one, which counts. Times are microseconds.
    """

    session = models.ForeignKey(DeviceSession, on_delete=models.CASCADE, related_name="blocks")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="+")
    is_twin = models.BooleanField(default=False)
    round = models.PositiveIntegerField()
    samples_us = models.JSONField()
    event = models.CharField(max_length=100)
    timing = models.CharField(max_length=10)
    other_us = models.JSONField(default=dict)
    counters = models.JSONField(default=dict)
    load_us = models.FloatField(null=True, blank=True)
    wall_us = models.BigIntegerField(default=0)
    runtime = models.CharField(max_length=200)
    perf_profile = models.CharField(max_length=40)
    profiling_level = models.CharField(max_length=20)
    log_level = models.CharField(max_length=20)
    temperature_before_c = models.FloatField(null=True, blank=True)
    temperature_after_c = models.FloatField(null=True, blank=True)
    is_noisy = models.BooleanField(default=False)
    after_pause = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return f"round {self.round} of {self.session_id}"


class DeviceOutputs(ComparedOutputs):
    """What a binary computed on the device, next to what the baseline computed there."""

    session = models.ForeignKey(DeviceSession, on_delete=models.CASCADE, related_name="outputs")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="+")
    sentence = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["session", "trial"], name="one_output_per_trial")]

    def __str__(self) -> str:
        return f"outputs of {self.trial_id} in {self.session_id}"
