"""Questions about many devices and their work. Every question that a person asks starts with `.of(user)`."""

from __future__ import annotations

from typing import Any, Self

from django.apps import apps
from django.db.models import OuterRef, QuerySet, Subquery

from tunerweb.accounts.models import ScopedQuerySet


class DeviceQuerySet(ScopedQuerySet):
    def with_last_check(self) -> Self:
        checks: QuerySet[Any] = apps.get_model("devices.DeviceCheck").objects.filter(device=OuterRef("pk"))
        return self.annotate(last_check_state=Subquery(checks.order_by("-pk").values("state")[:1])).select_related(
            "hold"
        )

    def schedulable(self) -> Self:
        """Healthy, and nobody has set them aside."""
        return self.filter(is_healthy=True, quarantined_at=None)
