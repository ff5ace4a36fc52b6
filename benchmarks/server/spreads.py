from __future__ import annotations

import statistics
from collections.abc import Sequence


def spread(values_ms: Sequence[float], share: float) -> str:
    """The median and the value that `share` of them do not pass."""
    ordered = sorted(values_ms)
    high = ordered[min(len(ordered) - 1, round(share * len(ordered)))]
    return f"p50 {statistics.median(ordered):.0f} ms, p{100 * share:.0f} {high:.0f} ms"
