"""The list of sweeps: its search, filters and order, all of them in the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet

from devices.targets import TargetError, find_target
from sweeps.models import SourceModel, Sweep, Tag, Trial
from sweeps.models.sources import LONGEST_NAME
from tunerweb.accounts.models import PUBLIC_ID_LENGTH, User
from tunerweb.work.leases import WorkState

MOST_WORDS = 10
SORTS = {
    "created": ("created_at",),
    "name": ("name",),
    "model": ("source_model__name",),
    "target": ("soc_model",),
    "finished": ("finished_at",),
    "owner": ("owner__username",),
}
STATES = ("running", "paused", "finished", "failed", "cancelled")


def _with_result() -> Exists:
    done = Trial.objects.filter(sweep=OuterRef("pk"), cancelled_at=None, compilation__state=WorkState.DONE)
    return Exists(done)


def in_state(sweeps: QuerySet[Sweep], state: str) -> QuerySet[Sweep]:
    """A sweep is in one of these at a time. Failed: it is over, and nothing compiled."""
    if state == "running":
        return sweeps.filter(finished_at=None, cancelled_at=None, paused_at=None)
    if state == "paused":
        return sweeps.filter(finished_at=None, cancelled_at=None).exclude(paused_at=None)
    if state == "cancelled":
        return sweeps.exclude(cancelled_at=None)
    over = sweeps.filter(cancelled_at=None).exclude(finished_at=None)
    return over.filter(_with_result() if state == "finished" else ~_with_result())


class SweepListForm(forms.Form):
    """What is wrong in an address is left out."""

    q = forms.CharField(required=False, max_length=LONGEST_NAME)
    state = forms.ChoiceField(required=False, choices=[(state, state) for state in STATES])
    model = forms.CharField(required=False, max_length=PUBLIC_ID_LENGTH)
    target = forms.CharField(required=False, max_length=60)
    owner = forms.CharField(required=False, max_length=PUBLIC_ID_LENGTH)
    tag = forms.CharField(required=False, max_length=40)
    sort = forms.ChoiceField(required=False, choices=[(f"{sign}{key}", key) for key in SORTS for sign in ("", "-")])

    def __init__(self, data: Mapping[str, Any], *, user: User) -> None:
        super().__init__(data)
        self.user = user
        self.is_valid()

    @property
    def order(self) -> str:
        return str(self.cleaned_data.get("sort") or "-created")

    @property
    def is_filtered(self) -> bool:
        return any(self.data.get(name) for name in ("q", "state", "model", "target", "owner", "tag"))

    def sweeps(self) -> QuerySet[Sweep]:
        sign = "-" if self.order.startswith("-") else ""
        keys = (*SORTS[self.order.removeprefix("-")], "pk")
        found: QuerySet[Sweep] = self._filtered(Sweep.objects.of(self.user)).order_by(*(f"{sign}{key}" for key in keys))
        return found

    def _filtered(self, found: QuerySet[Sweep]) -> QuerySet[Sweep]:
        asked = self.cleaned_data
        for word in asked.get("q", "").split()[:MOST_WORDS]:
            found = found.filter(
                Q(name__icontains=word) | Q(notes__icontains=word) | Q(source_model__name__icontains=word)
            )
        if asked.get("state"):
            found = in_state(found, asked["state"])
        if asked.get("model"):
            found = found.filter(source_model__public_id=asked["model"])
        if asked.get("target"):
            found = found.filter(soc_model=_soc_number(asked["target"]))
        if asked.get("owner"):
            found = found.filter(owner__public_id=asked["owner"])
        if asked.get("tag"):
            found = found.filter(tags__in=Tag.objects.filter(name=asked["tag"]))
        return found

    def choices(self) -> dict[str, Any]:
        """What the filters offer: only what occurs."""
        everything = Sweep.objects.of(self.user).order_by()
        models = SourceModel.objects.filter(pk__in=everything.values("source_model"))
        return {
            "states": STATES,
            "models": models.order_by("name").values_list("public_id", "name")[:500],
            "targets": sorted(
                (find_target(number) for number in everything.values_list("soc_model", flat=True).distinct()),
                key=lambda target: target.name,
            ),
            "owners": User.objects.filter(pk__in=everything.values("owner")).order_by("username"),
            "tags": Tag.objects.filter(sweeps__in=everything).distinct(),
        }


def _soc_number(text: str) -> int:
    try:
        return find_target(text).soc_model
    except TargetError:
        return -1
