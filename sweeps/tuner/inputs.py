"""What a sweep is given, checked before anything is compiled: model files, config file, target."""

from __future__ import annotations

import errno
import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devices.targets import Target, TargetError, find_target
from sweeps.configs import (
    CheckedConfig,
    ConfigDocument,
    ConfigUnreadable,
    Finding,
    HtpConfig,
    check_config,
    empty_document,
    read_config,
    target_number_of,
)
from sweeps.toolchain.convert import SourceKind, convert_onnx, prepare_source, recognise
from sweeps.toolchain.convert.hashing import sha256_of, sha256_of_source
from tunerweb.work.child import Limits

NO_TARGET = (
    "No target: neither --soc nor the config names a SoC. Give --soc, for example --soc SM8650, "
    'or put "soc_model": 57 into the config\'s "devices".'
)


LONGEST_SHOWN = 120


class BadInput(ValueError):
    """What was handed in cannot be swept. Each of `problems` is a sentence for the person who sent it."""

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Source:
    """A model that the compiler can read, and what a report says about it."""

    dlc: Path
    sha256: str
    model_name: str | None = None
    converter: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def converted(self) -> bool:
        return self.converter is not None


def prepare_model(
    models: Sequence[Path], target: Target, free_dimensions: Mapping[str, int], work: Path, limits: Limits
) -> Source:
    """Raise `BadInput` for a path without a file, `ToolchainError` for what is no model or cannot be converted."""
    model = prepare_source([existing_file(path, "model") for path in models], work)
    if recognise(model).kind is SourceKind.DLC:
        if free_dimensions:
            raise BadInput("--dim gives the free dimensions of an ONNX model; a DLC has none left.")
        return Source(model, sha256_of(model))
    sha256 = sha256_of_source(model)
    conversion = convert_onnx(model, target, free_dimensions=free_dimensions, work=work, limits=limits)
    return Source(conversion.dlc, sha256, conversion.model_name, conversion.identity, conversion.notes)


def existing_file(path: Path, what: str) -> Path:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise BadInput(f"There is no {what} {shown(path)}.") from None
        raise BadInput(f"The {what} {shown(path)} cannot be opened: {error.strerror}.") from None
    if stat.S_ISDIR(mode):
        raise BadInput(f"The {what} {shown(path)} is a folder. Give a file.")
    if not stat.S_ISREG(mode):
        raise BadInput(f"The {what} {shown(path)} is not a regular file.")
    return path


def shown(path: Path) -> str:
    """A file name on one line, whatever is in it."""
    text = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in str(path))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:40]}...{text[-40:]}"


def read_config_file(given: Path | Mapping[str, Any] | None) -> tuple[ConfigDocument, tuple[Path, ...]]:
    """The inner settings, and the files read for them. Raise `BadInput`.

    `given` is a file, or what would stand in one. A wrapper that only names the file of settings is followed, from its
    own folder; one that is no file, from the working directory.
    """
    if given is None:
        return empty_document(), ()
    path = given if isinstance(given, Path) else Path("config")
    document = _read(given) if isinstance(given, Path) else _read_mapping(given)
    files = (given,) if isinstance(given, Path) else ()
    if document.config_file_path is None:
        return document, files
    inner = path.parent / document.config_file_path
    if not inner.is_file():
        raise BadInput(
            f"{shown(path)} is the wrapper, and the file of settings that it names, "
            f"{document.config_file_path!r}, is not beside it. Give that file."
        )
    settings = _read(inner)
    if settings.config_file_path is not None:
        raise BadInput(f"{shown(inner)} is a wrapper again. Give the file of HTP settings.")
    return document.with_settings(settings), (*files, inner)


def _read_mapping(given: Mapping[str, Any]) -> ConfigDocument:
    try:
        return read_config(json.dumps(dict(given)).encode())
    except ConfigUnreadable as error:
        raise BadInput(str(error)) from None
    except (TypeError, ValueError) as error:
        raise BadInput(f"The config cannot be written as JSON: {error}.") from None


def _read(path: Path) -> ConfigDocument:
    try:
        return read_config(existing_file(path, "config").read_bytes(), name=shown(path))
    except ConfigUnreadable as error:
        raise BadInput(str(error)) from None


def chosen_target(soc: str | None, config: ConfigDocument) -> Target:
    """The SoC that was asked for, else the one that the config names. Raise `BadInput`."""
    wanted = soc if soc is not None else target_number_of(config)
    if wanted is None:
        raise BadInput(NO_TARGET)
    try:
        return find_target(wanted)
    except TargetError as error:
        raise BadInput(str(error)) from None


def checked_config(
    document: ConfigDocument, target: Target, graph_names: Sequence[str], *, rebind: bool
) -> tuple[HtpConfig, CheckedConfig]:
    """Raise `BadInput` with every problem at once."""
    checked = check_config(document, target=target, graph_names=graph_names, rebind=rebind)
    if checked.config is None:
        raise BadInput(*(sentence_of(problem) for problem in checked.problems))
    return checked.config, checked


def sentence_of(finding: Finding) -> str:
    return f"{finding.path}: {finding.sentence}" if finding.path else finding.sentence
