"""What people say on the pages of configs, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Lower

from devices.targets import Target, TargetError, find_target
from sweeps.models import CompileConfig, ConfigVersion, Tag
from sweeps.models.sources import LONGEST_NAME
from sweeps.saving import LONGEST_TAG, MOST_TAGS
from tunerweb.accounts.models import User

LONGEST_TARGET = 60
LONGEST_NOTES = 10_000
MOST_WORDS = 10
TOO_LONG = {"max_length": "This has %(show_value)d characters; at most %(limit_value)d fit."}
NO_NAME = {"required": "Give the config a name, such as the model or the product that it is for."}

SORTS: dict[str, Any] = {
    "name": Lower("name"),
    "versions": Count("versions"),
    "sweeps": Count("versions__sweeps"),
    "saved": Max("versions__created_at"),
}


class NameField(forms.CharField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=LONGEST_NAME, error_messages=TOO_LONG | NO_NAME, **kwargs)

    def clean(self, value: Any) -> str:
        """One line of text: what was pasted may have several."""
        return super().clean(" ".join(str(value or "").split()))


class TargetField(forms.CharField):
    """A SoC in any of its names, as a Target; None when nothing is said."""

    def __init__(self) -> None:
        super().__init__(required=False, max_length=LONGEST_TARGET, error_messages=TOO_LONG)

    def clean(self, value: Any) -> Target | None:
        text = super().clean(value)
        try:
            return find_target(text) if text else None
        except TargetError as error:
            raise forms.ValidationError(str(error)) from None


class AboutForm(forms.Form):
    name = NameField()
    tags = forms.CharField(required=False, max_length=MOST_TAGS * (LONGEST_TAG + 2), error_messages=TOO_LONG)
    notes = forms.CharField(required=False, max_length=LONGEST_NOTES, error_messages=TOO_LONG)

    def clean_tags(self) -> list[str]:
        words = (" ".join(tag.split()) for tag in self.cleaned_data["tags"].split(","))
        tags = list(dict.fromkeys(word for word in words if word))
        long = next((tag for tag in tags if len(tag) > LONGEST_TAG), None)
        if long:
            raise forms.ValidationError(f"The tag {long[:20]}… has {len(long)} characters; at most {LONGEST_TAG} fit.")
        if len(tags) > MOST_TAGS:
            raise forms.ValidationError(f"There are {len(tags)} tags; at most {MOST_TAGS} fit.")
        return tags


class ListForm(forms.Form):
    """The state of the list, all of it in the address. What is wrong in an address is left out."""

    q = forms.CharField(required=False, max_length=LONGEST_NAME)
    target = TargetField()
    tag = forms.CharField(required=False, max_length=LONGEST_TAG)
    owner = forms.CharField(required=False, max_length=20)
    archived = forms.BooleanField(required=False)
    sort = forms.ChoiceField(required=False, choices=[(f"{sign}{key}", key) for key in SORTS for sign in ("", "-")])

    def __init__(self, data: Mapping[str, Any], *, user: User) -> None:
        super().__init__(data)
        self.user = user
        self.is_valid()

    @property
    def order(self) -> str:
        return str(self.cleaned_data.get("sort") or "-saved")

    def configs(self) -> QuerySet[Any]:
        """In order, each with its latest version. What else a row shows is asked for the rows of one page."""
        latest = ConfigVersion.objects.filter(config=OuterRef("pk")).order_by("-number")
        found: QuerySet[Any] = CompileConfig.objects.of(self.user).annotate(
            latest_pk=Subquery(latest.values("pk")[:1]), soc_model=Subquery(latest.values("soc_model")[:1])
        )
        key, backwards = self.order.removeprefix("-"), self.order.startswith("-")
        found = self._filtered(found).annotate(sort_key=SORTS[key])
        return found.order_by("-sort_key", "-pk") if backwards else found.order_by("sort_key", "pk")

    def _filtered(self, found: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.cleaned_data
        if not asked.get("archived"):
            found = found.filter(archived_at=None)
        for word in asked.get("q", "").split()[:MOST_WORDS]:
            tagged = CompileConfig.objects.of(self.user).filter(tags__name__icontains=word)
            found = found.filter(Q(name__icontains=word) | Q(notes__icontains=word) | Q(pk__in=tagged.values("pk")))
        if asked.get("target"):
            found = found.filter(soc_model=asked["target"].soc_model)
        if asked.get("tag"):
            found = found.filter(tags__in=Tag.objects.filter(name=asked["tag"]))
        if asked.get("owner"):
            found = found.filter(owner__public_id=asked["owner"])
        return found
