"""What a sweep is given, checked before anything is compiled: model files, config file, target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from devices.targets import Target, TargetError, find_target
from sweeps.configs import (
    CheckedConfig,
    ConfigDocument,
    ConfigUnreadable,
    HtpConfig,
    check_config,
    empty_document,
    read_config,
    target_number_of,
)
from sweeps.toolchain.convert import SourceKind, convert_onnx, describe_source, prepare_source
from tunerweb.work.child import Limits


class BadInput(ValueError):
    """What was handed in cannot be swept. Each line of `problems` is a sentence for the person who sent it."""

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems
