"""Find the work that is there, make what is missing: no two rows for the same work, whoever asks at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from devices.targets import Target
from sweeps.models import Compilation, Conversion, SourceModel, Toolchain
from sweeps.models.work import SharedWork
from sweeps.toolchain.base import Point
from tunerweb.accounts.models import Team, User
from tunerweb.work import leases
from tunerweb.work.leases import REUSABLE

MOST_TRIES = 5
Row = TypeVar("Row", bound=SharedWork)


@dataclass(frozen=True)
class Asked:
    """What all the work of one sweep has in common."""

    team: Team
    owner: User
    source_model: SourceModel
    target: Target
    toolchain: Toolchain

    def fields(self) -> dict[str, Any]:
        return {
            "team": self.team,
            "owner": self.owner,
            "source_model": self.source_model,
            "soc_model": self.target.soc_model,
            "num_cores": self.target.num_cores,
            "toolchain": self.toolchain,
        }


def attach_conversion(asked: Asked, key: str, free_dimensions: Mapping[str, int]) -> Conversion:
    new = Conversion(key=key, free_dimensions=dict(free_dimensions), **asked.fields())
    return _attach(Conversion, asked.team, [new])[key]


def attach_compilations(
    asked: Asked, points: Iterable[tuple[str, Point]], conversion: Conversion | None
) -> dict[str, Compilation]:
    """By key; locked until the end of the transaction, so that nobody cancels them before a trial points to them."""
    new = {
        key: Compilation(
            key=key,
            config=point.config.model_dump(mode="json", exclude_none=True),
            p_value=point.p_value,
            as_given=point.as_given,
            conversion=conversion,
            **asked.fields(),
        )
        for key, point in points
    }
    return _attach(Compilation, asked.team, list(new.values()))


def _attach(model: type[Row], team: Team, wanted: Sequence[Row]) -> dict[str, Row]:
    """A row that ends in failure between the look and the insert is looked for again."""
    for _ in range(MOST_TRIES):
        found = _locked(model, team, [row.key for row in wanted])
        missing = [row for row in wanted if row.key not in found]
        if not missing:
            return found
        # In one order, whoever asks: two that insert the same keys crosswise would wait for each other for ever.
        model._default_manager.bulk_create(sorted(missing, key=lambda row: row.key), ignore_conflicts=True)
    raise RuntimeError(f"{model.__name__} rows for {len(missing)} keys were ended as fast as they were made.")


def _locked(model: type[Row], team: Team, keys: list[str]) -> dict[str, Row]:
    rows = model._default_manager.filter(team=team, key__in=keys, state__in=REUSABLE, cancel_requested_at=None)
    return {row.key: row for row in leases.locked(rows)}
