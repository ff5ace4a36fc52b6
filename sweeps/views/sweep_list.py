"""All sweeps of a person's teams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from sweeps.forms.sweep_list import SweepListForm
from sweeps.models import Sweep
from sweeps.rows.page import state_of
from sweeps.rows.progress import NO_TRIALS, Progress, progress_of_each
from tunerweb.accounts.http import SignedInRequest

PAGE_SIZE = 25


@dataclass(frozen=True)
class Row:
    sweep: Sweep
    progress: Progress

    @property
    def state(self) -> str:
        return state_of(self.sweep, self.progress)

    @property
    def endings(self) -> str:
        """How the trials ended that are no results."""
        bad = ((self.progress.failed, "failed"), (self.progress.rejected, "rejected"))
        return ", ".join(f"{count} {word}" for count, word in bad if count)


@require_safe
def sweep_list(request: SignedInRequest) -> HttpResponse:
    form = SweepListForm(request.GET, user=request.user)
    page = Paginator(form.sweeps().only("pk"), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "rows": rows_of(sweep.pk for sweep in page),
        "sort": form.order,
        "exists": page.paginator.count > 0 or Sweep.objects.of(request.user).exists(),
        **form.choices(),
    }
    return render(request, "sweeps/list/list.html", context)


def rows_of(keys: Iterable[int]) -> list[Row]:
    """In the order of the keys. Trials are counted for these sweeps alone."""
    order = list(keys)
    sweeps = Sweep.objects.filter(pk__in=order).select_related("source_model", "owner").prefetch_related("tags")
    found = {sweep.pk: sweep for sweep in sweeps.defer("source_model__description").order_by()}
    counted = progress_of_each(list(found.values()))
    return [Row(found[key], counted.get(key, NO_TRIALS)) for key in order if key in found]


urlpatterns = [path("sweeps/", sweep_list, name="sweep_list")]
