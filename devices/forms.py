"""What people say about devices, as typed values, and every problem beside the field that has to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.urls import reverse_lazy

from devices.identifiers import ADB_FORM, SSH_FORM, IdentifierRejected, parse_adb, parse_ssh
from devices.models import LONGEST_IDENTIFIER, LONGEST_NAME, Device, Platform, TransportKind
from devices.targets import TargetError, find_target
from tunerweb.accounts.models import Team

CONTROL = "form-control"
LONGEST_SECRET = 20_000
LONGEST_LABELS = 300
MOST_LABELS = 10
TRANSPORT_OF: dict[str, TransportKind] = {
    Platform.ANDROID: TransportKind.ADB,
    Platform.HOST: TransportKind.LOCAL,
    Platform.SIMULATED: TransportKind.SIMULATED,
}
LINUX_TRANSPORTS = (TransportKind.SSH, TransportKind.ADB)
NEEDS_KEY = "Paste a private key, or type a password: the device lets nobody in without one."
ONE_HOST = "This server's own machine is registered already, as {name}."
TAKEN = "Your team has a device of this name already."
NO_KEY = "This is not a private key: it begins with -----BEGIN and ends with a line -----END. Paste the whole file."
# A choice that changes which fields there are. Secrets never travel in an address.
OTHER_FIELDS = {
    "hx-get": reverse_lazy("devices:form_fields"),
    "hx-include": "closest form",
    "hx-params": "not private_key,password,csrfmiddlewaretoken",
    "hx-target": "#device-fields",
    "hx-swap": "morph",
}


class DeviceForm(forms.Form):
    """Of a new device. Secrets are taken and never shown again."""

    name = forms.CharField(label="Name", max_length=LONGEST_NAME, help_text="As your team calls it.")
    platform = forms.ChoiceField(
        label="Platform", choices=Platform.choices, widget=forms.Select(attrs=dict(OTHER_FIELDS))
    )
    transport = forms.ChoiceField(
        label="Reached by",
        choices=[(TransportKind.SSH, "ssh"), (TransportKind.ADB, "adb")],
        required=False,
        widget=forms.Select(attrs=dict(OTHER_FIELDS)),
    )
    identifier = forms.CharField(label="Identifier", max_length=LONGEST_IDENTIFIER, required=False)
    private_key = forms.CharField(
        label="Private key",
        required=False,
        max_length=LONGEST_SECRET,
        strip=False,
        widget=forms.Textarea(attrs={"class": CONTROL, "rows": 4, "spellcheck": "false", "autocomplete": "off"}),
        help_text="OpenSSH format. Kept encrypted, never shown again.",
    )
    password = forms.CharField(
        label="Password",
        required=False,
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"class": CONTROL, "autocomplete": "new-password"}),
        help_text="Only where the device takes no key.",
    )
    python = forms.RegexField(
        r"^[A-Za-z0-9_/~.][A-Za-z0-9_/~.\-]*$",
        label="Python",
        required=False,
        max_length=200,
        help_text="The one with onnxruntime-qnn on the device. Empty: python3.",
        error_messages={"invalid": "This is a path or a name, such as /opt/venv/bin/python."},
    )
    soc = forms.CharField(
        label="SoC", required=False, max_length=60, help_text="Empty: read from the device. A name or QNN's number."
    )
    labels = forms.CharField(
        label="Labels",
        required=False,
        max_length=LONGEST_LABELS,
        help_text="Separated by commas, such as lab 2, cooled.",
    )

    def __init__(self, data: Any = None, *, team: Team, initial: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.team = team
        by_adb = self["platform"].value() == Platform.ANDROID or self["transport"].value() == TransportKind.ADB
        self.fields["identifier"].help_text = ADB_FORM if by_adb else SSH_FORM
        for field in self.fields.values():
            is_choice = isinstance(field.widget, forms.Select)
            field.widget.attrs["class"] = "form-select" if is_choice else CONTROL

    def clean_name(self) -> str:
        name: str = " ".join(self.cleaned_data["name"].split())
        if Device.objects.filter(team=self.team, name=name).exists():
            raise forms.ValidationError(TAKEN)
        return name

    def clean_soc(self) -> int | None:
        text = self.cleaned_data["soc"].strip()
        if not text:
            return None
        try:
            return find_target(text).soc_model
        except TargetError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_labels(self) -> list[str]:
        labels = [" ".join(label.split()) for label in self.cleaned_data["labels"].split(",")]
        return list(dict.fromkeys(label[:40] for label in labels if label))[:MOST_LABELS]

    def clean_private_key(self) -> str:
        text: str = self.cleaned_data["private_key"].replace("\r\n", "\n").strip()
        if text and not (text.startswith("-----BEGIN ") and text.endswith("-----")):
            raise forms.ValidationError(NO_KEY)
        return text + "\n" if text else ""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        cleaned["transport"] = TRANSPORT_OF.get(cleaned.get("platform", ""), self._chosen_transport())
        self._check_identifier(cleaned)
        has_secret = cleaned.get("private_key") or cleaned.get("password") or "private_key" in self.errors
        if cleaned["transport"] == TransportKind.SSH and not has_secret:
            self.add_error("private_key", NEEDS_KEY)
        return cleaned

    def _chosen_transport(self) -> TransportKind:
        chosen = self.data.get("transport")
        return TransportKind(chosen) if chosen in LINUX_TRANSPORTS else TransportKind.SSH

    def _check_identifier(self, cleaned: dict[str, Any]) -> None:
        text = cleaned.get("identifier", "").strip()
        try:
            if cleaned["transport"] == TransportKind.ADB:
                cleaned["identifier"] = str(parse_adb(text))
            elif cleaned["transport"] == TransportKind.SSH:
                cleaned["identifier"] = str(parse_ssh(text))
            else:
                cleaned["identifier"] = ""
                self._check_one_host(cleaned)
        except IdentifierRejected as error:
            self.add_error("identifier", str(error))

    def _check_one_host(self, cleaned: dict[str, Any]) -> None:
        if cleaned["transport"] != TransportKind.LOCAL:
            return
        there = Device.objects.filter(team=self.team, transport=TransportKind.LOCAL).first()
        if there:
            self.add_error("platform", ONE_HOST.format(name=there.name))


class DeviceRejected(Exception):
    """`problems`: a field and a sentence each."""

    def __init__(self, form: forms.Form) -> None:
        super().__init__("The device is not registered.")
        self.problems = [(field, " ".join(map(str, errors))) for field, errors in form.errors.items()]


class SecretForm(forms.Form):
    """New secrets for a device that is there."""

    private_key = DeviceForm.base_fields["private_key"]
    password = DeviceForm.base_fields["password"]
    clean_private_key = DeviceForm.clean_private_key


class QuarantineForm(forms.Form):
    reason = forms.CharField(max_length=300, required=False)
