"""Questions about many rows. Every question that a person asks starts with `.of(user)`."""

from __future__ import annotations

from typing import Self

from django.db.models import Count, Q

from tunerweb.accounts.models import ScopedQuerySet
from tunerweb.work.leases import LIVE, WorkState


class SourceModelQuerySet(ScopedQuerySet):
    def with_sweep_counts(self) -> Self:
        return self.annotate(sweep_count=Count("sweeps", distinct=True))


class TrialQuerySet(ScopedQuerySet):
    def live(self) -> Self:
        return self.filter(cancelled_at=None, compilation__state__in=LIVE)

    def retryable(self) -> Self:
        """Failed or cancelled: a rejected point is an answer, and stays."""
        return self.filter(
            Q(cancelled_at__isnull=False) | Q(compilation__state__in=(WorkState.FAILED, WorkState.CANCELLED))
        )

    def with_work(self) -> Self:
        """What a row needs, without the long texts."""
        return self.select_related("compilation", "compilation__conversion", "compilation__binary", "verification")


class SweepQuerySet(ScopedQuerySet):
    def with_counts(self) -> Self:
        state = "trials__compilation__state"
        uncancelled = Q(trials__cancelled_at=None)
        return self.annotate(
            trial_count=Count("trials"),
            live_count=Count("trials", filter=uncancelled & Q(**{f"{state}__in": LIVE})),
            running_count=Count("trials", filter=uncancelled & Q(**{state: WorkState.RUNNING})),
            done_count=Count("trials", filter=uncancelled & Q(**{state: WorkState.DONE})),
            rejected_count=Count("trials", filter=uncancelled & Q(**{state: WorkState.REJECTED})),
            failed_count=Count(
                "trials", filter=uncancelled & Q(**{f"{state}__in": (WorkState.FAILED, WorkState.CANCELLED)})
            ),
        )

    def unfinished(self) -> Self:
        return self.filter(finished_at=None)
