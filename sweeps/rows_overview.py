"""The parts of the overview, for the page and for its live updates alike."""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.template.loader import render_to_string
from redis.exceptions import RedisError
from rq import worker_registration

from sweeps.models import Compilation, CompileConfig, Conversion, Inspection, SourceModel, Sweep, Toolchain
from sweeps.rows.page import state_of
from sweeps.rows.progress import Progress, progress_of_each
from tunerweb.accounts.models import User
from tunerweb.work.hints import queue_named
from tunerweb.work.leases import WorkState
from tunerweb.work.models import Artifact

log = logging.getLogger(__name__)
PAGE = "sweeps/overview/overview.html"
MOST_RUNNING = 10
MOST_RECENT = 10
MOST_TOOLCHAINS = 3
LITTLE_DISK_BYTES = 2 * 2**30


@dataclass(frozen=True)
class RunningSweep:
    sweep: Sweep
    progress: Progress

    @property
    def state(self) -> str:
        return state_of(self.sweep, self.progress)


@dataclass(frozen=True)
class Workers:
    """None: the broker does not answer, so nobody knows."""

    busy: int | None
    total: int | None


def overview_parts(user: User) -> dict[str, str]:
    """Element id to its HTML, which carries the id and `hx-swap-oob`: send what has changed, in any order."""
    context = overview_context(user)
    return {
        f"overview-{name}": render_to_string(f"{PAGE}#{name}", {**context, "live": True}).strip()
        for name in ("running", "recent", "tiles")
    }


def overview_context(user: User) -> dict[str, Any]:
    return {
        "running": running_sweeps(user),
        "running_count": Sweep.objects.of(user).unfinished().count(),
        "recent": recent_sweeps(user),
        "workers": compile_workers(),
        "queue": queue_lengths(user),
        "toolchains": list(Toolchain.objects.order_by("-seen_at", "-pk")[:MOST_TOOLCHAINS]),
        "stored_bytes": stored_bytes(user),
        "disk": disk(),
    }


def is_first_run(user: User) -> bool:
    return not Sweep.objects.of(user).exists()


def first_steps(user: User) -> dict[str, bool]:
    return {
        "has_model": SourceModel.objects.of(user).exists(),
        "has_config": CompileConfig.objects.of(user).exists(),
    }


def running_sweeps(user: User) -> list[RunningSweep]:
    unfinished = Sweep.objects.of(user).unfinished().select_related("source_model", "owner")
    shown = list(unfinished.defer("source_model__description").order_by("-priority", "pk")[:MOST_RUNNING])
    counted = progress_of_each(shown)
    return [RunningSweep(sweep, counted[sweep.pk]) for sweep in shown if sweep.pk in counted]


def recent_sweeps(user: User) -> list[Sweep]:
    finished = Sweep.objects.of(user).exclude(finished_at=None).select_related("source_model", "owner")
    return list(finished.defer("source_model__description").order_by("-finished_at", "-pk")[:MOST_RECENT])


def compile_workers() -> Workers:
    """As the broker has them registered; a worker that died is forgotten after a while."""
    queue = queue_named(Compilation.queue)
    try:
        keys = sorted(worker_registration.get_keys(queue=queue))
        with queue.connection.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.hget(key, "state")
            states = [state for state in pipeline.execute() if state]
    except (RedisError, OSError) as error:
        log.warning("the broker does not answer: %s", error)
        return Workers(None, None)
    return Workers(sum(state == b"busy" for state in states), len(states))


def queue_lengths(user: User) -> dict[str, int]:
    """Counted, not stored: what waits for a worker."""
    waiting = Q(state=WorkState.QUEUED)
    compiles = Compilation.objects.of(user).filter(waiting, trials__cancelled_at=None, trials__isnull=False)
    return {
        "compiles": compiles.aggregate(count=Count("pk", distinct=True))["count"],
        "conversions": Conversion.objects.of(user).filter(waiting).count(),
        "inspections": Inspection.objects.of(user).filter(waiting).count(),
    }


def stored_bytes(user: User) -> int:
    total: int | None = Artifact.objects.filter(team__membership__user=user).aggregate(total=Sum("size_bytes"))["total"]
    return total or 0


def disk() -> dict[str, Any]:
    """Of the file system that the store is on."""
    try:
        free_bytes = shutil.disk_usage(settings.ENVIRONMENT.data).free
    except OSError:
        return {"free_bytes": None, "is_short": False}
    return {"free_bytes": free_bytes, "is_short": free_bytes < LITTLE_DISK_BYTES}
