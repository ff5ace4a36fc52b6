"""The names of shared work: equal keys are the same work, whoever asks for it.

Never the hash of a converted DLC: it carries a timestamp.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from devices.targets import Target
from sweeps.configs import HtpConfig


def conversion_key(
    source_sha256: str, target: Target, converter: str, toolchain: str, free_dimensions: Mapping[str, int]
) -> str:
    return _hash(
        {
            "source": source_sha256,
            "target": _target(target),
            "converter": converter,
            "toolchain": toolchain,
            "free_dimensions": dict(free_dimensions),
        }
    )


def compilation_key(
    source_sha256: str, conversion: str | None, config: HtpConfig, target: Target, toolchain: str
) -> str:
    return _hash(
        {
            "source": source_sha256,
            "conversion": conversion,
            "config": config.to_json(),
            "target": _target(target),
            "toolchain": toolchain,
        }
    )


def _target(target: Target) -> list[int]:
    return [target.soc_model, target.num_cores]


def _hash(parts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
