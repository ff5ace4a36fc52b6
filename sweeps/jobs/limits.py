"""The limits of shared work: the most generous of the sweeps that want it."""

from __future__ import annotations

from django.db.models import Q

from sweeps.models import Compilation, Trial
from sweeps.models.work import SharedWork
from tunerweb.work.child import Limits

CPU_PER_WALL = 4


def limits_of(row: SharedWork) -> Limits:
    wanted = Q(compilation=row.pk) if isinstance(row, Compilation) else Q(compilation__conversion=row.pk)
    live = Trial.objects.filter(wanted, cancelled_at=None).values_list("sweep__timeout_s", "sweep__memory_bytes")
    limits = list(live.distinct().order_by())
    wall_s = float(max((timeout_s for timeout_s, _ in limits), default=Limits.wall_s))
    memory = [memory_bytes for _, memory_bytes in limits]
    return Limits(wall_s, CPU_PER_WALL * wall_s, None if None in memory else max(memory, default=None))
