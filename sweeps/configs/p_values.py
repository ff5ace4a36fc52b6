"""Which P values exist, and what they need. What a P changes inside the compiler is read at run time, never listed."""

from __future__ import annotations

P_VALUES = range(24)
MULTI_CORE_ONLY = frozenset({7, 9, 10, 11, 12, 14, 18})
SINGLE_CORE_ONLY = frozenset({4, 17, 21, 22, 23})


def p_value_problem(p_value: int, num_cores: int) -> str | None:
    """Why this P cannot be compiled with that many cores; None when it can."""
    if p_value not in P_VALUES:
        last = P_VALUES[-1]
        return f"{p_value} is not a P value (0 to {last}); the compiler would accept it silently and build P=0."
    if p_value in MULTI_CORE_ONLY and num_cores < 2:
        return f"P={p_value} needs at least two cores, and this compile uses one."
    if p_value in SINGLE_CORE_ONLY and num_cores > 1:
        return f"P={p_value} needs a single core, and this compile uses {num_cores}."
    return None
