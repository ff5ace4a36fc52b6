"""What a QHAS summary says: Qualcomm's own profile of one traced inference on a device."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.qhas import Qhas, parse_qhas
from sweeps.tuner.criteria import Criteria, checked_criterion
from sweeps.tuner.errors import ReportUnreadable

# Where objects that hold a profile keep it.
ATTRIBUTES = ("qhas", "report", "path", "data")
MISSING = {
    Criteria.LATENCY: "The summary gives no time. Make it again on a device, with optrace.",
    Criteria.BANDWIDTH: "The summary gives no DRAM traffic. Make it again on a device, with optrace.",
}
NO_PROFILE = "{value} is no profile: give a QHAS summary as a file, a text or a dictionary."


def report_details(profiler: Any, criteria: Any) -> tuple[float | int, dict[str, Any]]:
    """`(time_us, report)` or `(total_dram, report)` of the HTP's overall summary, in microseconds or bytes.

    `profiler`: a path, a text or a mapping of QHAS JSON, or an object that holds one in its attribute `qhas`, `report`,
    `path` or `data`. The report is the whole JSON. Several HTPs: the slowest, and the sum. Raises `BadInput` for
    another criterion, `ReportUnreadable` for another profile.
    """
    criterion = checked_criterion(criteria)
    found = _summary(profiler)
    value = found.time_us if criterion is Criteria.LATENCY else found.dram_bytes
    if value is None:
        raise ReportUnreadable(MISSING[criterion])
    return value, found.report


def _summary(profiler: Any) -> Qhas:
    if isinstance(profiler, Qhas):
        return profiler
    if not isinstance(profiler, str | bytes | Mapping | os.PathLike):
        held = next((found for name in ATTRIBUTES if (found := getattr(profiler, name, None)) is not None), None)
        if held is None or held is profiler:
            raise ReportUnreadable(NO_PROFILE.format(value=f"This {type(profiler).__name__}"))
        return _summary(held)
    try:
        return parse_qhas(_text(profiler))
    except NotAProfile as error:
        raise ReportUnreadable(str(error)) from None


def _text(profiler: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> str:
    if isinstance(profiler, Mapping):
        try:
            return json.dumps(dict(profiler))
        except (TypeError, ValueError):
            raise ReportUnreadable(NO_PROFILE.format(value="What is no JSON")) from None
    if isinstance(profiler, bytes):
        return profiler.decode(errors="replace")
    if isinstance(profiler, str) and (profiler.lstrip().startswith(("{", "[")) or "\n" in profiler):
        return profiler
    path = Path(profiler)
    try:
        return path.read_bytes().decode(errors="replace")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no path"
        raise ReportUnreadable(f"The profile {path.name[:100]!r} cannot be read: {reason}.") from None
