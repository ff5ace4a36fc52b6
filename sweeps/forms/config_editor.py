"""The editor of a config: what was typed, and what becomes of it when a fix, a file or a template is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from sweeps.configs import ConfigUnreadable
from sweeps.configs.reviewing import (
    LARGEST_TYPED,
    Review,
    as_typed,
    proposed,
    read_typed,
    review,
    sentence_of,
    text_of_file,
    with_fix,
)
from sweeps.configs.starting import starting_text
from sweeps.configs.text_diff import TextDiff
from sweeps.forms.configs import NO_NAME, NameField, TargetField
from sweeps.models import ConfigVersion, SourceModel
from sweeps.models.sources import SourceFormat
from tunerweb.accounts.models import User

MOST_FILES = 10
LARGEST_FILE_BYTES = 4 * LARGEST_TYPED


class EditorForm(forms.Form):
    """`seen`: the version that was open; `on_top`: the one that the person has been told of since."""

    name = NameField(required=False)
    target = TargetField()
    model = forms.CharField(required=False, max_length=20)
    seen = forms.IntegerField(required=False)
    on_top = forms.IntegerField(required=False)
    public_id = forms.CharField(required=False, max_length=20)

    def __init__(self, data: Mapping[str, Any], *, user: User) -> None:
        super().__init__(data)
        self.user = user

    @property
    def text(self) -> str:
        return as_typed(str(self.data.get("text", "")))

    def clean_model(self) -> SourceModel | None:
        public_id = self.cleaned_data["model"]
        if not public_id:
            return None
        model: SourceModel | None = SourceModel.objects.of(self.user).filter(public_id=public_id).first()
        if model is None:
            raise forms.ValidationError("This model does not exist any more; choose another one.")
        return model

    def value(self, name: str) -> Any:
        """What a field says; None when it is empty or wrong."""
        self.is_valid()
        return self.cleaned_data.get(name) or None

    @property
    def name_error(self) -> str:
        """Why no config can be made with this name; empty when one can."""
        if errors := self.errors.get("name"):
            return str(errors[0])
        return "" if self.value("name") else NO_NAME["required"]

    @property
    def graph_names(self) -> list[str] | None:
        """Of the chosen model; None when there is none, or when nobody knows its graphs."""
        model = self.value("model")
        graphs = (model.description.get("graphs") if model else None) or []
        names = [graph["name"] for graph in graphs if isinstance(graph, dict) and graph.get("name")]
        return names or None

    def review(self, text: str | None = None) -> Review:
        """Of the text as it was typed, or of another one in its place."""
        model = self.value("model")
        return review(
            self.text if text is None else text,
            target=self.value("target"),
            graph_names=self.graph_names,
            rebind=bool(model and model.format == SourceFormat.ONNX),
        )


@dataclass(frozen=True)
class Answer:
    """What the editor says to one request. `text` is there when it takes the place of what was typed, and `before` is
    what was typed, to take it back. `newer` is the version that somebody else saved, with the changes from it.
    """

    form: EditorForm
    review: Review
    text: str | None = None
    done: str = ""
    refused: str = ""
    newer: ConfigVersion | None = None
    newer_changes: TextDiff | None = None

    @property
    def before(self) -> str:
        typed = self.form.text
        return typed if self.text is not None and typed.strip() and len(typed) <= LARGEST_TYPED else ""

    @property
    def says_something(self) -> bool:
        return bool(self.done or self.refused or self.newer)


def edited(form: EditorForm, files: Sequence[UploadedFile[Any]]) -> Answer | None:
    """The answer to all that can be asked of the editor but to check and to save; None when nothing of it was."""
    asked = {name: str(form.data.get(name, "")) for name in ("fix", "take_back", "use_inner", "template")}
    if asked["fix"]:
        return _with_fix(form, asked["fix"])
    if asked["take_back"]:
        return _replaced(form, as_typed(str(form.data.get("before", ""))), "The text is what it was before.")
    if files:
        return _with_files(form, files[:MOST_FILES])
    if asked["use_inner"]:
        return _with_inner(form, as_typed(str(form.data.get("inner", ""))))
    return _with_template(form, asked["template"]) if asked["template"] else None


def _replaced(form: EditorForm, text: str, done: str) -> Answer:
    return Answer(form, form.review(text), text=text, done=done)


def _with_fix(form: EditorForm, fix_value: str) -> Answer:
    before = form.review()
    try:
        fix = proposed(before, fix_value)
        text = with_fix(before, fix)
    except ValueError as error:
        return Answer(form, before, refused=str(error))
    comments = " Comments are gone: strict JSON has none." if "Comment" in str(before.notes) else ""
    return _replaced(form, text, f"{sentence_of(fix)}. The text is laid out anew and not saved yet.{comments}")


def _with_template(form: EditorForm, spelling: str) -> Answer:
    target = form.value("target")
    if target is None:
        return Answer(form, form.review(), refused="Choose a target first: the template is made for one.")
    text = starting_text(target, form.graph_names or (), with_wrapper=spelling == "wrapper")
    return _replaced(form, text, f"This is the template for {target.name}. It is not saved yet.")


def _with_inner(form: EditorForm, inner: str) -> Answer:
    refusal = form.review(inner).refusal
    if refusal:
        return Answer(form, form.review(), refused=f"The settings that you gave cannot be used. {refusal}")
    return _replaced(form, inner, _instead_of(form.text))


def _with_files(form: EditorForm, files: Sequence[UploadedFile[Any]]) -> Answer:
    """One file, or a wrapper together with the file that it names."""
    try:
        texts = {_last_part(str(file.name)): _text_of(file) for file in files}
    except ConfigUnreadable as error:
        return Answer(form, form.review(), refused=f"{error} The editor is as it was.")
    name, wrapper = _chosen(texts)
    done = f"{name} is in the editor. It is not saved yet."
    if wrapper:
        done = f"{done} {_instead_of(texts[wrapper])}"
    return _replaced(form, texts[name], done)


def _chosen(texts: dict[str, str]) -> tuple[str, str | None]:
    """The name of the file of settings, and that of the wrapper that came with it."""
    named = {name: _named_by(text) for name, text in texts.items()}
    for wrapper, name in named.items():
        if name in texts and name != wrapper:
            return name, wrapper
    wrappers = [name for name in texts if named[name]]
    others = [name for name in texts if not named[name]]
    return (others or wrappers)[0], wrappers[0] if wrappers and others else None


def _named_by(text: str) -> str | None:
    try:
        named = read_typed(text).config_file_path
    except ConfigUnreadable:
        return None
    return _last_part(named) if named else None


def _instead_of(wrapper: str) -> str:
    try:
        document = read_typed(wrapper)
        found = " ".join(finding.sentence for finding in document.notes + document.warnings)
    except ConfigUnreadable:
        found = ""
    return f"The settings took the place of the wrapper, which is written anew for a download. {found}".strip()


def _last_part(path: str) -> str:
    return PureWindowsPath(PurePosixPath(path).name).name


def _text_of(file: UploadedFile[Any]) -> str:
    name, size_bytes = _last_part(str(file.name))[:100], file.size or 0
    if size_bytes > LARGEST_FILE_BYTES:
        raise ConfigUnreadable(f"{name} has {size_bytes / 2**20:.1f} MB, which no config has; choose another file.")
    return text_of_file(file.read(), name)
