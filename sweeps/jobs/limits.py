"""The limits of shared work: the most generous of the sweeps that want it."""

from __future__ import annotations

from django.db.models import Max, Q

from sweeps.models import Compilation, Trial
from sweeps.models.work import SharedWork
from tunerweb.work.child import Limits

CPU_PER_WALL = 4


def limits_of(row: SharedWork) -> Limits:
    wanted = Q(compilation=row.pk) if isinstance(row, Compilation) else Q(compilation__conversion=row.pk)
    live = Trial.objects.filter(wanted, cancelled_at=None)
    unlimited = live.filter(sweep__memory_bytes=None).exists()
    most = live.aggregate(timeout_s=Max("sweep__timeout_s"), memory_bytes=Max("sweep__memory_bytes"))
    wall_s = float(most["timeout_s"] or Limits.wall_s)
    return Limits(wall_s, CPU_PER_WALL * wall_s, None if unlimited else most["memory_bytes"])
