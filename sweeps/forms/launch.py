"""The launch form: what was typed, as a typed spec, and every problem beside the field that has to change."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from devices.runners.base import PERF_PROFILES
from devices.targets import TargetError, find_target
from sweeps.actions import spec_of
from sweeps.forms.launch_fields import (
    DIMENSION,
    ChosenConfig,
    ConfigField,
    DevicesField,
    MemoryField,
    ModelField,
    WholeNumber,
    chosen_key,
    one_line,
)
from sweeps.models import SourceModel, Sweep
from sweeps.models.sources import LONGEST_NAME
from sweeps.planning import LARGEST_DIMENSION, SweepPlan, plan_sweep, worker_count
from sweeps.search_space import parse_p_values
from sweeps.specs import Measurements, Problem, SpecRejected, SweepSpec
from tunerweb.accounts.models import User

GIB = 2**30
MOST_ROUNDS = 100
MOST_RUNS = 10_000
LONGEST_P_VALUES = 200
LONGEST_TARGET = 60
LONGEST_SUBMISSION = 40
# Fields of the spec that are called otherwise in the form.
FORM_NAMES = {"config_version": "config", "memory_bytes": "memory_gib", "source_model": "model"}
TOO_LONG = {"max_length": "This has %(show_value)d characters; at most %(limit_value)d fit."}


class LaunchForm(forms.Form):
    """Always bound: what it starts with is data too, so that it is judged like what is typed."""

    model = ModelField()
    config = ConfigField()
    soc = forms.CharField(label="Target", required=False, max_length=LONGEST_TARGET, error_messages=TOO_LONG)
    p_values = forms.CharField(label="P values", required=False, max_length=LONGEST_P_VALUES, error_messages=TOO_LONG)
    top_k = WholeNumber("Best binaries to export")
    parallel_compiles = WholeNumber("Compiles at once")
    timeout_s = WholeNumber("Longest compile")
    memory_gib = MemoryField()
    priority = WholeNumber("Priority")
    verifies_outputs = forms.BooleanField(label="Compare outputs", required=False)
    devices = DevicesField()
    perf_profile = forms.ChoiceField(
        label="Perf profile", required=False, choices=[(name, name.replace("_", " ")) for name in PERF_PROFILES]
    )
    rounds = WholeNumber("Rounds", min_value=1, max_value=MOST_ROUNDS, required=False)
    runs = WholeNumber("Runs", min_value=1, max_value=MOST_RUNS, required=False)
    name = forms.CharField(label="Name", required=False, max_length=LONGEST_NAME, error_messages=TOO_LONG)
    submission = forms.CharField(required=False, max_length=LONGEST_SUBMISSION, widget=forms.HiddenInput)
    clone = forms.CharField(required=False, max_length=20, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any], *, user: User) -> None:
        super().__init__(data)
        self.user = user
        self.needed: list[str] = []
        self.source_model = ModelField.found(user, str(data.get("model", "")))
        self._dimension_names = dict(enumerate(free_dimensions_of(self.source_model)))
        for number, name in self._dimension_names.items():
            self.fields[f"dim_{number}"] = WholeNumber(name, min_value=1, max_value=LARGEST_DIMENSION)
        for field in self.fields.values():
            if isinstance(field, ModelField | ConfigField | DevicesField):
                field.user = user
        self.is_valid()
        self.chosen_config: ChosenConfig | None = self.cleaned_data.get("config")

    def add_prefix(self, field_name: str) -> str:
        """Dimensions keep what was typed when another model has one of the same name."""
        number = field_name.removeprefix("dim_")
        if number != field_name and number.isdecimal():
            return f"{DIMENSION}{self._dimension_names[int(number)]}"
        return field_name

    def clean_soc(self) -> str:
        text: str = self.cleaned_data["soc"]
        try:
            if text:
                find_target(text)
        except TargetError as error:
            raise ValidationError(str(error)) from None
        return text

    def clean_p_values(self) -> str:
        text = self.cleaned_data["p_values"] or "all"
        try:
            parse_p_values(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None
        return text

    @property
    def has_the_dimensions(self) -> bool:
        """The page shows the dimensions of the model that is chosen, and not those of the one before."""
        shown = {name.removeprefix(DIMENSION) for name in self.data if name.startswith(DIMENSION)}
        return shown == set(self._dimension_names.values())

    @property
    def dimensions(self) -> list[forms.BoundField]:
        return [self[f"dim_{number}"] for number in self._dimension_names]

    def review(self, *, typing: bool) -> SweepPlan | None:
        """What would run; None where nothing can be planned. While people type, what is empty is not yet wrong."""
        if typing:
            self._forgive_what_is_empty()
        if self.source_model is None:
            return None
        spec: SweepSpec | None = self.spec()
        while spec is not None:
            try:
                return plan_sweep(spec)
            except SpecRejected as error:
                self.tell(error.problems, typing=typing)
                spec = _without(spec, {problem.field for problem in error.problems})
        return None

    def spec(self) -> SweepSpec:
        """Of what is right; the rest has its default."""
        if self.source_model is None:
            raise ValueError("There is no sweep without a model.")
        given = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        memory_gib = given.get("memory_gib")
        numbers = {
            name: given[name] for name in ("top_k", "parallel_compiles", "timeout_s", "priority") if name in given
        }
        return SweepSpec(
            team=self.source_model.team,
            owner=self.user,
            source_model=self.source_model,
            config_version=self.chosen_config.version if self.chosen_config else None,
            soc=given.get("soc", ""),
            p_values=given.get("p_values", "all"),
            free_dimensions=self._sizes(),
            name=one_line(given.get("name", "")),
            memory_bytes=None if memory_gib is None else round(memory_gib * GIB),
            measurements=self.measurements(),
            submission=self._submission(),
            cloned_from=Sweep.objects.of(self.user).filter(public_id=given.get("clone", "")).first(),
            **numbers,
        )

    def measurements(self) -> Measurements:
        given = self.cleaned_data
        return Measurements(
            verifies_outputs=bool(given.get("verifies_outputs")),
            devices=given.get("devices") or (),
            perf_profile=given.get("perf_profile") or PERF_PROFILES[0],
            rounds=given.get("rounds"),
            runs=given.get("runs"),
        )

    def tell(self, problems: Iterable[Problem], *, typing: bool = False) -> None:
        """Beside the field. What the form itself has refused was planned with its default, and is told already."""
        refused = set(self.errors) - {NON_FIELD_ERRORS}
        for problem in problems:
            field = FORM_NAMES.get(problem.field, problem.field)
            if field in refused or self._is_told(field, problem.sentence):
                continue
            if typing and field == "soc" and not self.cleaned_data.get("soc"):
                self.needed.append("soc")
            else:
                self.add_error(field if field in self.fields else None, problem.sentence)

    def _is_told(self, field: str, sentence: str) -> bool:
        if field == "free_dimensions":
            return any(bound.errors or bound.name in self.needed for bound in self.dimensions)
        return sentence in self.non_field_errors()

    def _sizes(self) -> dict[str, int]:
        sizes = {name: self.cleaned_data.get(f"dim_{number}") for number, name in self._dimension_names.items()}
        return {name: size for name, size in sizes.items() if size is not None}

    def _submission(self) -> str | None:
        """The same form with other values is another sweep: somebody went back and changed it."""
        if not self.data.get("submission"):
            return None
        typed = {name: self.data.get(self.add_prefix(name), "") for name in self.fields}
        typed["devices"] = ",".join(map(str, self["devices"].value() or []))
        parts = [self.user.pk, *(f"{name}={value}" for name, value in sorted(typed.items()))]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:LONGEST_SUBMISSION]

    def _forgive_what_is_empty(self) -> None:
        for name, errors in self.errors.as_data().items():
            if all(error.code == "required" for error in errors):
                self.needed.append(name)
        for name in self.needed:
            del self.errors[name]


def _without(spec: SweepSpec, wrong: set[str]) -> SweepSpec | None:
    """The same with defaults for what is wrong, to see whether there is more; None where that cannot be."""
    defaults = SweepSpec(spec.team, spec.owner, spec.source_model)
    if not wrong or wrong & {"", "soc"}:
        return None
    values: dict[str, Any] = {name: getattr(defaults, name) for name in wrong}
    if "free_dimensions" in wrong:
        values["free_dimensions"] = dict.fromkeys(free_dimensions_of(spec.source_model), 1)
    changed = replace(spec, **values)
    return None if changed == spec else changed


def free_dimensions_of(source: SourceModel | None) -> list[str]:
    return [str(name) for name in source.description.get("free_dimensions", ())] if source else []


def first_values(user: User, asked: Mapping[str, str]) -> dict[str, Any]:
    """Of a new form: what the address names, and defaults."""
    only = SourceModel.objects.of(user).values_list("public_id", flat=True)[:2]
    values: dict[str, Any] = {
        "p_values": "all",
        "top_k": "1",
        "parallel_compiles": str(worker_count()),
        "timeout_s": "3600",
        "priority": "0",
        "submission": secrets.token_hex(LONGEST_SUBMISSION // 2),
        "model": asked.get("model") or (only[0] if len(only) == 1 else ""),
        "config": asked.get("config", ""),
        "soc": asked.get("soc", ""),
    }
    sweep = Sweep.objects.of(user).filter(public_id=asked.get("clone", "")).first()
    return values | (cloned_values(sweep) if sweep else {})


def cloned_values(sweep: Sweep) -> dict[str, Any]:
    spec = spec_of(sweep)
    measured = spec.measurements
    values: dict[str, Any] = {
        "verifies_outputs": "on" if measured.verifies_outputs else "",
        "devices": [device.public_id for device in measured.devices],
        "perf_profile": measured.perf_profile,
        "rounds": measured.rounds or "",
        "runs": measured.runs or "",
        "clone": sweep.public_id,
        "model": spec.source_model.public_id,
        "soc": sweep.target.name,
        "config": chosen_key(spec.config_version) if spec.config_version else "",
        "memory_gib": "" if spec.memory_bytes is None else f"{spec.memory_bytes / GIB:.4g}",
    }
    values |= {f"{DIMENSION}{name}": str(size) for name, size in spec.free_dimensions.items()}
    same = ("p_values", "name", "top_k", "parallel_compiles", "timeout_s", "priority")
    return values | {name: str(getattr(spec, name)) for name in same}
