"""What can be optimized by measuring, and for which backends."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sweeps.tuner.inputs import BadInput

BACKEND_TYPES = ("HTP", "HTP_MCP")


class Criteria(StrEnum):
    BANDWIDTH = "bandwidth"
    LATENCY = "latency"

    @staticmethod
    def is_valid_criteria(text: str) -> bool:
        return text in list(Criteria)


def checked_criterion(value: Any) -> Criteria:
    """Raise `BadInput`."""
    if not isinstance(value, str) or not Criteria.is_valid_criteria(value):
        raise BadInput(f"{value!r} is no criterion: it is one of {' and '.join(Criteria)}.")
    return Criteria(value)


def validate_backend_type(value: Any) -> None:
    """Raise `ValueError` unless the backend is HTP or HTP_MCP; an enum member counts by its name."""
    name = str(getattr(value, "name", value)).upper()
    if name not in BACKEND_TYPES:
        raise ValueError(f"{value!r} is not a backend with P values: only {' and '.join(BACKEND_TYPES)} have them.")
