"""Devices that a team can run on, what is secret of them, who holds one, and the checks of them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.urls import reverse
from django.utils import timezone

from devices.querysets import DeviceQuerySet
from tunerweb.accounts.models import Owned, ScopedQuerySet
from tunerweb.work.leases import LeasedWork

LONGEST_NAME = 100
LONGEST_IDENTIFIER = 300


class Platform(models.TextChoices):
    ANDROID = "android", "Android"
    LINUX = "linux", "Linux"
    WINDOWS = "windows", "Windows on Snapdragon"
    HOST = "host", "this host"
    SIMULATED = "simulated", "simulated"


class TransportKind(models.TextChoices):
    ADB = "adb", "adb"
    SSH = "ssh", "ssh"
    LOCAL = "local", "this host"
    SIMULATED = "simulated", "simulated"


class Reach(models.TextChoices):
    UNKNOWN = "unknown", "not tried yet"
    ONLINE = "online", "online"
    OFFLINE = "offline", "offline"
    UNAUTHORIZED = "unauthorized", "unauthorized"


class Device(Owned):
    """`reach` is whether it can be talked to, `is_healthy` whether its last check passed: two things.

    `soc_model` is Qualcomm's number, read from the device or chosen; None until one of both has happened. `facts` is
    what its last check found out.
    """

    name = models.CharField(max_length=LONGEST_NAME)
    platform = models.CharField(max_length=10, choices=Platform)
    transport = models.CharField(max_length=10, choices=TransportKind)
    identifier = models.CharField(max_length=LONGEST_IDENTIFIER, blank=True)
    soc_model = models.PositiveIntegerField(null=True, blank=True)
    soc_is_chosen = models.BooleanField(default=False)
    labels = models.JSONField(default=list, blank=True)
    host_key = models.TextField(blank=True)
    python = models.CharField(max_length=200, default="python3")
    reach = models.CharField(max_length=12, choices=Reach, default=Reach.UNKNOWN)
    reach_reason = models.TextField(blank=True)
    is_healthy = models.BooleanField(null=True, blank=True)
    health_reason = models.TextField(blank=True)
    unhealthy_since = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    quarantined_at = models.DateTimeField(null=True, blank=True)
    quarantine_reason = models.CharField(max_length=300, blank=True)
    facts = models.JSONField(default=dict, blank=True)

    objects = DeviceQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "name"], name="one_device_per_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def queue(self) -> str:
        return f"device-{self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("devices:device", args=[self.public_id])


class SecretKind(models.TextChoices):
    PRIVATE_KEY = "private_key", "private key"
    PASSWORD = "password", "password"


class DeviceSecret(models.Model):
    """Encrypted with a key that is not in the database. Written, used and removed; never shown."""

    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="secrets")
    kind = models.CharField(max_length=12, choices=SecretKind)
    ciphertext = models.BinaryField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["device", "kind"], name="one_secret_per_kind")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.device_id}"


class Hold(models.Model):
    """Who has the device: one at a time, since there is one row per device. `work` names a leased row and its fence."""

    device = models.OneToOneField(Device, on_delete=models.CASCADE, related_name="hold")
    work = models.CharField(max_length=100)
    holder = models.CharField(max_length=200)
    since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.device_id} by {self.holder}"


class DeviceCheck(LeasedWork):
    """`steps` grows while it runs: {name, state, sentence, took_us} each."""

    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="checks")
    steps = models.JSONField(default=list)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["device", "-id"], name="check_latest")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["device"], condition=models.Q(state="queued"), name="one_queued_check_per_device"
            )
        ]

    def __str__(self) -> str:
        return f"check {self.public_id} of {self.device_id}"

    @property
    def shown_steps(self) -> list[dict[str, Any]]:
        return list(self.steps)
