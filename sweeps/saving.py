"""What people do with saved configs. A version never changes; what is saved again is a new one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from devices.targets import all_socs
from sweeps.configs import target_number_of
from sweeps.configs.reviewing import as_typed, read_typed
from sweeps.models import CompileConfig, ConfigVersion, Sweep, Tag
from tunerweb.accounts.models import PUBLIC_ID_ALPHABET, PUBLIC_ID_LENGTH, Team, User, new_public_id

MOST_TAGS = 20
LONGEST_TAG = 40


@dataclass(frozen=True)
class Saved:
    """`is_new` is false when the text was that of the latest version: nothing was written."""

    version: ConfigVersion
    is_new: bool


class StaleConfig(Exception):
    """Somebody saved `latest` after this text was opened."""

    def __init__(self, latest: ConfigVersion) -> None:
        super().__init__(f"Version {latest.number} was saved in the meantime.")
        self.latest = latest


class ConfigInUse(Exception):
    def __init__(self, sweeps: list[Sweep], count: int) -> None:
        super().__init__(f"{count} sweeps use it.")
        self.sweeps = sweeps
        self.count = count


def create_config(team: Team, user: User, *, name: str, text: str, public_id: str = "") -> Saved:
    """`public_id` is that of the form: a form that is sent twice makes one config. Raises ConfigUnreadable."""
    try:
        return _create(team, user, name, text, public_id)
    except IntegrityError:
        # The same form was sent at the same moment; its config is there now.
        return _create(team, user, name, text, public_id)


@transaction.atomic
def _create(team: Team, user: User, name: str, text: str, public_id: str) -> Saved:
    if not is_public_id(public_id):
        public_id = new_public_id()
    config = CompileConfig.objects.filter(public_id=public_id).first()
    if config is not None and (config.team_id, config.owner_id) == (team.pk, user.pk):
        return save_version(config, user, text, seen=config.latest.number)
    if config is not None:
        public_id = new_public_id()
    config = CompileConfig.objects.create(public_id=public_id, team=team, owner=user, name=name)
    return Saved(_add_version(config, user, text, 1), is_new=True)


@transaction.atomic
def save_version(config: CompileConfig, user: User, text: str, *, seen: int) -> Saved:
    """Raises StaleConfig unless the latest version is the one that the person has `seen`."""
    CompileConfig.objects.select_for_update().get(pk=config.pk)
    latest = config.latest
    if as_typed(text) == latest.text:
        return Saved(latest, is_new=False)
    if latest.number != seen:
        raise StaleConfig(latest)
    return Saved(_add_version(config, user, text, latest.number + 1), is_new=True)


@transaction.atomic
def restore_version(config: CompileConfig, user: User, version: ConfigVersion) -> Saved:
    """A new version with the text of an old one."""
    CompileConfig.objects.select_for_update().get(pk=config.pk)
    return save_version(config, user, version.text, seen=config.latest.number)


def _add_version(config: CompileConfig, user: User, text: str, number: int) -> ConfigVersion:
    typed = as_typed(text)
    return config.versions.create(number=number, text=typed, soc_model=named_soc(typed), created_by=user)


def named_soc(text: str) -> int | None:
    """The SoC that a readable text names, if there is one of that number. Raises ConfigUnreadable."""
    number = target_number_of(read_typed(text))
    return number if number in {soc.soc_model for soc in all_socs()} else None


def is_public_id(text: str) -> bool:
    return len(text) == PUBLIC_ID_LENGTH and set(text) <= set(PUBLIC_ID_ALPHABET)


@transaction.atomic
def describe_config(config: CompileConfig, *, name: str, notes: str, tags: Iterable[str]) -> None:
    config.name, config.notes = name, notes
    config.save(update_fields=["name", "notes"])
    names = dict.fromkeys(tags)
    config.tags.set(Tag.objects.get_or_create(team=config.team, name=tag)[0] for tag in names)


def archive_config(config: CompileConfig, *, archived: bool) -> None:
    config.archived_at = timezone.now() if archived else None
    config.save(update_fields=["archived_at"])


def delete_config(config: CompileConfig) -> None:
    """Raises ConfigInUse."""
    try:
        with transaction.atomic():
            config.delete()
    except ProtectedError:
        using = Sweep.objects.filter(config_version__config=config)
        raise ConfigInUse(list(using[:5]), using.count()) from None
