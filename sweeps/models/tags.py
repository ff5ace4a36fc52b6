from __future__ import annotations

from typing import ClassVar

from django.db import models

from tunerweb.accounts.models import Team


class Tag(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=40)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "name"], name="one_tag_per_team")]

    def __str__(self) -> str:
        return self.name
