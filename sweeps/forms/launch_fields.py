"""The fields of the launch form that are choices among rows, or numbers as people type them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from devices.models import Device
from sweeps.models import CompileConfig, ConfigVersion, SourceModel
from tunerweb.accounts.models import User

DIMENSION = "dim:"
LATEST = "latest"
MOST_GIB = 1_000_000

MODEL_GONE = "This model is not there any more: somebody deleted it since this form was opened. Choose another."
CONFIG_GONE = "This config is not there any more: somebody deleted it since this form was opened. Choose another."
DEVICE_GONE = "A device is not there any more: somebody deleted it since this form was opened. Choose again."
NEWER = (
    "Version {latest} of this config was saved since this form was opened, and version {number} is chosen. Launch "
    "again to use version {number}, or choose the new one."
)


@dataclass(frozen=True)
class ChosenConfig:
    version: ConfigVersion


class ModelField(forms.CharField):
    user: User

    def __init__(self) -> None:
        super().__init__(label="Model", max_length=20, error_messages={"required": "Choose a model."})

    @staticmethod
    def found(user: User, public_id: str) -> SourceModel | None:
        known: SourceModel | None = SourceModel.objects.of(user).filter(public_id=public_id[:20]).first()
        return known

    def clean(self, value: Any) -> SourceModel:
        known = self.found(self.user, super().clean(value))
        if known is None:
            raise ValidationError(MODEL_GONE)
        return known


class ConfigField(forms.CharField):
    """`abc:3` is version 3 of the config abc; `abc:3:latest` was its latest when it was chosen; `abc` is its latest."""

    user: User

    def __init__(self) -> None:
        super().__init__(label="Config", required=False, max_length=40)

    def clean(self, value: Any) -> ChosenConfig | None:
        text = super().clean(value)
        if not text:
            return None
        public_id, _, rest = text.partition(":")
        number, _, latest = rest.partition(":")
        versions = ConfigVersion.objects.filter(config__in=_configs_of(self.user, public_id)).select_related("config")
        newest = versions.order_by("-number").first()
        wanted = versions.filter(number=number).first() if _is_number(number) else newest
        if newest is None or wanted is None:
            raise ValidationError(CONFIG_GONE)
        if latest and newest.number != wanted.number:
            raise ValidationError(NEWER.format(latest=newest.number, number=wanted.number))
        return ChosenConfig(wanted)


class WholeNumber(forms.IntegerField):
    def __init__(
        self, label: str, *, min_value: int | None = None, max_value: int | None = None, required: bool = True
    ) -> None:
        messages = {
            "required": "Give a number.",
            "invalid": "Give a whole number.",
            "min_value": "Give %(limit_value)s or more.",
            "max_value": "Give %(limit_value)s or less.",
        }
        super().__init__(
            label=label, required=required, min_value=min_value, max_value=max_value, error_messages=messages
        )

    def to_python(self, value: Any) -> int | None:
        """Grouped thousands are fine; a number of a hundred digits is not."""
        text = str(value or "").strip().replace(",", "").replace("_", "").replace(" ", "")
        if len(text) > 12:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(text)


class MemoryField(forms.DecimalField):
    def __init__(self) -> None:
        messages = {
            "invalid": "Give a number of GiB, such as 8 or 0.5.",
            "min_value": "Give more than 0 GiB, or leave it empty for no limit.",
            "max_value": "No machine has that much memory; leave it empty for no limit.",
        }
        least = Decimal("0.001")
        super().__init__(
            label="Memory limit", required=False, min_value=least, max_value=MOST_GIB, error_messages=messages
        )

    def to_python(self, value: Any) -> Any:
        return super().to_python(str(value or "").strip().removesuffix("GiB").strip().replace(",", "."))


class DevicesField(forms.MultipleChoiceField):
    """Any number of the team's devices, by public id."""

    user: User

    def __init__(self) -> None:
        super().__init__(label="Devices", required=False)

    def clean(self, value: Any) -> tuple[Device, ...]:
        wanted = [str(each)[:20] for each in value or []]
        found = {device.public_id: device for device in Device.objects.of(self.user).filter(public_id__in=wanted)}
        if set(wanted) - found.keys():
            raise ValidationError(DEVICE_GONE)
        return tuple(found[each] for each in dict.fromkeys(wanted))


def one_line(text: str) -> str:
    return " ".join(text.split())


def chosen_key(version: ConfigVersion, *, latest: bool = False) -> str:
    key = f"{version.config.public_id}:{version.number}"
    return f"{key}:{LATEST}" if latest else key


def _configs_of(user: User, public_id: str) -> Any:
    return CompileConfig.objects.of(user).filter(public_id=public_id)


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < 9
