"""What people say on the pages of models, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import django_filters
from django.db.models import Q, QuerySet

from sweeps.forms.configs import AboutForm
from sweeps.models import SourceModel, Tag
from sweeps.models.sources import LONGEST_NAME, SourceFormat
from sweeps.saving import LONGEST_TAG
from tunerweb.accounts.models import User

PRECISIONS = ("float", "quantized", "mixed", "integer")
SORTS = {"name": "name", "size_bytes": "size", "created_at": "added", "sweep_count": "sweeps"}
NEWEST_FIRST = "-added"


class ModelAboutForm(AboutForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].error_messages["required"] = "Give the model a name that your team will know it by."


class ModelFilter(django_filters.FilterSet):
    """The state of the list, all of it in the address. What is wrong in an address is left out."""

    q = django_filters.CharFilter(method="search", max_length=LONGEST_NAME)
    format = django_filters.ChoiceFilter(choices=SourceFormat.choices)
    precision = django_filters.ChoiceFilter(choices=[(word, word) for word in PRECISIONS])
    tag = django_filters.CharFilter(field_name="tags__name", max_length=LONGEST_TAG)
    sort = django_filters.OrderingFilter(fields=SORTS)

    class Meta:
        model = SourceModel
        fields: ClassVar = ["format", "precision"]

    def __init__(self, data: Mapping[str, Any], user: User) -> None:
        models = SourceModel.objects.of(user)
        self.tags = Tag.objects.filter(source_models__in=models).distinct()
        found = models.with_sweep_counts().select_related("owner").prefetch_related("tags")
        super().__init__(data, found.order_by("-created_at", "-pk"))

    @property
    def order(self) -> str:
        return next(iter(self.form.cleaned_data.get("sort") or [NEWEST_FIRST]))

    @property
    def is_narrowed(self) -> bool:
        return any(self.data.get(name) for name in ("q", "format", "precision", "tag"))

    def search(self, found: QuerySet[SourceModel], name: str, value: str) -> QuerySet[SourceModel]:
        for word in value.split():
            tagged = Tag.objects.filter(name__icontains=word, source_models__isnull=False)
            found = found.filter(Q(name__icontains=word) | Q(notes__icontains=word) | Q(tags__in=tagged)).distinct()
        return found
