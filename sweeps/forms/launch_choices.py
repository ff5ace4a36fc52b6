"""What the launch form offers to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import QuerySet

from devices.targets import SocModel, all_socs
from sweeps.forms.launch_fields import LATEST, chosen_key
from sweeps.models import CompileConfig, ConfigVersion, SourceModel
from sweeps.planning import SweepPlan
from sweeps.search_space import left_out, p_values_for
from tunerweb.accounts.models import User

MOST_MODELS = 500
MOST_VERSIONS = 500


@dataclass(frozen=True)
class ConfigChoices:
    latest: list[tuple[str, ConfigVersion]] = field(default_factory=list)
    older: list[tuple[str, ConfigVersion]] = field(default_factory=list)

    @property
    def keys(self) -> set[str]:
        return {key for key, _ in (*self.latest, *self.older)}


@dataclass(frozen=True)
class PValues:
    """Which of all P values the target can compile; those that it cannot, by their reason."""

    valid: tuple[int, ...]
    invalid: dict[str, list[int]]


def model_choices(user: User, chosen: SourceModel | None) -> list[SourceModel]:
    newest: QuerySet[SourceModel] = SourceModel.objects.of(user).order_by("-created_at", "-pk")
    found = list(newest.only("public_id", "name", "format", "created_at")[:MOST_MODELS])
    return found if chosen is None or chosen in found else [chosen, *found]


def config_choices(user: User, chosen: ConfigVersion | None) -> ConfigChoices:
    configs = CompileConfig.objects.of(user).filter(archived_at=None)
    newest_first = ConfigVersion.objects.filter(config__in=configs).select_related("config").defer("text")
    choices = ConfigChoices()
    seen: set[int] = set()
    for version in newest_first.order_by("config__name", "config_id", "-number")[:MOST_VERSIONS]:
        is_latest = version.config_id not in seen
        seen.add(version.config_id)
        group = choices.latest if is_latest else choices.older
        group.append((chosen_key(version, latest=is_latest), version))
    if chosen and chosen not in [version for _, version in (*choices.latest, *choices.older)]:
        choices.older.append((chosen_key(chosen), chosen))
    return choices


def selected_config(choices: ConfigChoices, typed: str, chosen: ConfigVersion | None) -> str:
    """The key of what is selected: the latest of a config, or an older version; what was typed where it is gone."""
    wanted = {typed, typed.removesuffix(f":{LATEST}")}
    if chosen:
        wanted |= {chosen_key(chosen), chosen_key(chosen, latest=True)}
    return next((key for key in choices.keys if key in wanted), typed)


def target_choices() -> Iterable[SocModel]:
    return all_socs()


def p_values_of(plan: SweepPlan | None) -> PValues | None:
    if plan is None:
        return None
    cores = plan.target.num_cores
    return PValues(p_values_for(cores), by_reason(left_out(cores)))


def by_reason(refused: Mapping[int, str]) -> dict[str, list[int]]:
    """The sentences name their P value; what follows is the same for all that are refused for it."""
    grouped: dict[str, list[int]] = {}
    for p_value, reason in refused.items():
        grouped.setdefault(reason.removeprefix(f"P={p_value} "), []).append(p_value)
    return grouped
