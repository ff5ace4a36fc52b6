"""All that an editor shows of the text of a config: what was found and where, and what normalising changes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from devices.targets import Target, TargetError, find_target
from sweeps.configs.checking import check_config
from sweeps.configs.documents import ConfigDocument, apply_fix, target_number_of
from sweeps.configs.findings import MOST_FINDINGS, ConfigUnreadable, Finding, Fix, shown
from sweeps.configs.json_text import parse_json
from sweeps.configs.positions import lines_of_paths
from sweeps.configs.reading import WRAPPER, read_config
from sweeps.configs.text_diff import TextDiff, diff_texts, in_order_of

NAME = "the config"
# Configs have a few KB; an editor in a browser is at its end with one line of megabytes.
LARGEST_TYPED = 512 * 1024
LINE = re.compile(r"\bat lines? (?P<line>[\d,]{1,9})")
Kind = Literal["problem", "warning", "note"]


@dataclass(frozen=True)
class ReviewedFinding:
    """`line` counts from 1; None where no line is meant."""

    kind: Kind
    path: str
    sentence: str
    line: int | None = None
    fix: Fix | None = None

    @property
    def fix_label(self) -> str:
        return sentence_of(self.fix) if self.fix else ""

    @property
    def fix_value(self) -> str:
        """The fix as a text that a form can send back."""
        return "" if self.fix is None else json.dumps([self.fix.op, self.fix.path, self.fix.value])


@dataclass(frozen=True)
class Review:
    """`document` is None when nothing could be read; then there is one finding, the reason. `settings` is what the
    compiler gets, None while there are problems, and `changes` compares it with what was written.
    """

    text: str
    findings: tuple[ReviewedFinding, ...]
    document: ConfigDocument | None = None
    target: Target | None = None
    settings: dict[str, Any] | None = None
    changes: TextDiff | None = None

    def count(self, kind: Kind) -> int:
        return sum(finding.kind == kind for finding in self.findings)

    @property
    def problems(self) -> int:
        return self.count("problem")

    @property
    def loud(self) -> tuple[ReviewedFinding, ...]:
        return tuple(finding for finding in self.findings if finding.kind != "note")

    @property
    def notes(self) -> tuple[ReviewedFinding, ...]:
        return tuple(finding for finding in self.findings if finding.kind == "note")

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def is_readable(self) -> bool:
        return self.document is not None

    @property
    def named_file(self) -> str | None:
        """The file that has the settings, when the text is a wrapper without them."""
        return self.document.config_file_path if self.document else None

    @property
    def problems_text(self) -> str:
        if self.problems > MOST_FINDINGS:
            return f"More than {MOST_FINDINGS} problems"
        return f"{self.problems} {'problem' if self.problems == 1 else 'problems'}"

    @property
    def headline(self) -> str:
        if self.is_blank:
            return "Nothing here yet."
        if self.document is None:
            return "This cannot be read, so it cannot be saved."
        if self.named_file is not None:
            return "This is the wrapper. The settings themselves are in the file that it names."
        target = f" for {self.target.name}" if self.target else ""
        if self.problems:
            return f"{self.problems_text}{target}."
        return f"Ready to compile{target}." if target else "No problems. It names no SoC, so a sweep will ask for one."

    @property
    def level(self) -> str:
        if self.is_blank:
            return "note"
        if self.problems:
            return "problem"
        return "warning" if self.count("warning") else "success"

    @property
    def refusal(self) -> str:
        """Why this text cannot be kept; empty when it can. One with problems can: it may be for another target."""
        return self.findings[0].sentence if self.document is None or self.named_file is not None else ""


def sentence_of(value: object) -> str:
    text = str(value)
    return text[:1].upper() + text[1:]


def as_typed(text: str) -> str:
    """What a form sends has the line ends of a form."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_of_file(data: bytes, name: str) -> str:
    """Raises ConfigUnreadable."""
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        text = "\0"
    # Any bytes are UTF-16 of some kind; JSON begins with ASCII in all its encodings.
    if "\0" in text or not text.lstrip()[:1].isascii():
        raise ConfigUnreadable(f"{name} is not a text file; choose the JSON file of HTP settings.")
    _check_size(text, name)
    return as_typed(text)


def _check_size(text: str, name: str) -> None:
    if len(text) > LARGEST_TYPED:
        raise ConfigUnreadable(
            f"{name} has {len(text):,} characters, and the editor takes {LARGEST_TYPED:,} at most; "
            "choose the JSON of HTP settings, which has a few thousand."
        )


def read_typed(text: str) -> ConfigDocument:
    """Raises ConfigUnreadable with a sentence that begins in upper case."""
    _check_size(text, sentence_of(NAME))
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ConfigUnreadable(f"The config has a NUL character at line {line}, which no tool can read; remove it.")
    try:
        return read_config(text.encode(), name=NAME)
    except ConfigUnreadable as error:
        raise ConfigUnreadable(sentence_of(error)) from None


def review(
    text: str, *, target: Target | None = None, graph_names: Sequence[str] | None = None, rebind: bool = False
) -> Review:
    try:
        document = read_typed(text)
    except ConfigUnreadable as error:
        sentence = str(error)
        line = LINE.search(sentence)
        number = int(line["line"].replace(",", "") or 0) if line else None
        return Review(text, (ReviewedFinding("problem", "", sentence, number),))
    if document.config_file_path is not None:
        return _of_wrapper(text, document)
    checked = check_config(document, target=target, graph_names=graph_names, rebind=rebind)
    settings = checked.config.to_json() if checked.config else None
    return Review(
        text,
        _located(text, (checked.problems, checked.warnings, checked.notes)),
        document,
        target or _named_target(document),
        settings,
        None if settings is None else changes_of(document.tree, settings),
    )


def _of_wrapper(text: str, document: ConfigDocument) -> Review:
    """Nothing is said of settings that are not there."""
    missing = Finding("", f"The settings are in {shown(document.config_file_path)}; give that file as well.")
    return Review(text, _located(text, ((missing,), document.warnings, document.notes)), document)


def changes_of(tree: dict[str, Any], settings: dict[str, Any]) -> TextDiff:
    """Both laid out alike and in one order of keys: what is left is what was changed."""
    return diff_texts(laid_out(tree), laid_out(in_order_of(tree, settings)), ignore_indent=True)


def laid_out(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def proposed(review: Review, fix_value: str) -> Fix:
    """The fix that a form sends back. Raises ValueError with a sentence when it is not for this text."""
    fix = next((one.fix for one in review.findings if one.fix and one.fix_value == fix_value), None)
    if fix is None:
        raise ValueError("The text has changed since this fix was proposed; it is checked anew.")
    return fix


def with_fix(review: Review, fix: Fix) -> str:
    """The text after one of the fixes that were proposed for it. Raises ValueError with a sentence."""
    if review.document is None:
        raise ValueError("There is nothing to put right in a text that cannot be read.")
    tree = apply_fix(review.document, fix).tree
    if review.document.kind == "combined":
        value, _ = parse_json(review.text.encode(), NAME)
        tree = {WRAPPER: value[WRAPPER]} | tree
    return laid_out(tree)


def _named_target(document: ConfigDocument) -> Target | None:
    number = target_number_of(document)
    try:
        return None if number is None else find_target(number)
    except TargetError:
        return None


def _located(text: str, findings: Sequence[tuple[Finding, ...]]) -> tuple[ReviewedFinding, ...]:
    """The problems, warnings and notes in one row."""
    kinds: tuple[Kind, ...] = ("problem", "warning", "note")
    found = [(kind, finding) for kind, some in zip(kinds, findings, strict=True) for finding in some]
    lines = lines_of_paths(text, {finding.path for _, finding in found if finding.path})
    return tuple(
        ReviewedFinding(kind, finding.path, finding.sentence, _line(finding, lines), finding.fix)
        for kind, finding in found
    )


def _line(finding: Finding, lines: dict[str, int]) -> int | None:
    if finding.path:
        return lines[finding.path]
    line = LINE.search(finding.sentence)
    return int(line["line"].replace(",", "")) if line else None
