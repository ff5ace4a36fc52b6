"""Do two binaries compute the same? Compared are arrays of the same input, output by output.

Equal bytes are identical, NaN included. Of what differs: the largest absolute difference, the cosine of the angle
between the two as vectors, and the signal-to-quantization-noise ratio 10 log10(sum(a^2) / sum((a - b)^2)) in dB, with
the reference as the signal.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

Array = NDArray[Any]
Outputs = Mapping[str, Array]


@dataclass(frozen=True)
class Tolerance:
    """What still counts as the same: a candidate is the same network, compiled otherwise, so that only rounding may
    differ. 30 dB is an error of 3 % of the signal.
    """

    least_sqnr_db: float = 30.0
    least_cosine: float = 0.999


@dataclass(frozen=True)
class OutputDifference:
    """Of one output. `sqnr_db` is infinite for equal values. `problem`: they cannot be compared, and why."""

    name: str
    is_identical: bool
    max_abs_difference: float = 0.0
    cosine: float = 1.0
    sqnr_db: float = math.inf
    problem: str = ""

    def is_within(self, tolerance: Tolerance) -> bool:
        if self.problem:
            return False
        return self.is_identical or (self.sqnr_db >= tolerance.least_sqnr_db and self.cosine >= tolerance.least_cosine)


@dataclass(frozen=True)
class Comparison:
    """Of a candidate with a reference. `sentence` says what is wrong, or "" when nothing is."""

    outputs: tuple[OutputDifference, ...]
    tolerance: Tolerance

    @property
    def is_same(self) -> bool:
        return bool(self.outputs) and all(output.is_within(self.tolerance) for output in self.outputs)

    @property
    def sentence(self) -> str:
        if not self.outputs:
            return "There is no output to compare: the run gave none. Look at its log."
        worst = next((output for output in self.outputs if not output.is_within(self.tolerance)), None)
        if worst is None:
            return ""
        if worst.problem:
            return worst.problem
        return (
            f"The output {worst.name} differs: SQNR {worst.sqnr_db:.1f} dB, cosine {worst.cosine:.5f}, largest "
            f"difference {worst.max_abs_difference:.4g}. At least {self.tolerance.least_sqnr_db:g} dB and "
            f"{self.tolerance.least_cosine:g} are wanted."
        )


def compare(reference: Outputs, candidate: Outputs, tolerance: Tolerance | None = None) -> Comparison:
    """Every output of the reference; one that only the candidate has is a difference too."""
    names = [*reference, *(name for name in candidate if name not in reference)]
    found = tuple(_difference(name, reference.get(name), candidate.get(name)) for name in names)
    return Comparison(found, tolerance or Tolerance())


def identical_groups(outputs: Mapping[str, Outputs]) -> tuple[tuple[str, ...], ...]:
    """Candidates whose outputs are equal to the last bit, in the order given; those that stand alone are groups too."""
    groups: dict[str, list[str]] = {}
    for name, arrays in outputs.items():
        groups.setdefault(fingerprint(arrays), []).append(name)
    return tuple(tuple(group) for group in groups.values())


def _difference(name: str, one: Array | None, other: Array | None) -> OutputDifference:
    if one is None or other is None:
        return OutputDifference(name, False, problem=f"Only one of the two has an output {name}.")
    if one.shape != other.shape or one.dtype != other.dtype:
        what = f"{one.dtype}{list(one.shape)} and {other.dtype}{list(other.shape)}"
        return OutputDifference(name, False, problem=f"The output {name} has another form: {what}.")
    if one.tobytes() == other.tobytes():
        return OutputDifference(name, True)
    a, b = one.astype(numpy.float64).ravel(), other.astype(numpy.float64).ravel()
    known = numpy.isfinite(a) & numpy.isfinite(b)
    if not numpy.array_equal(a[~known], b[~known], equal_nan=True):
        return OutputDifference(name, False, problem=f"The output {name} is infinite or no number in one of them only.")
    return _of_values(name, a[known], b[known])


def _of_values(name: str, a: NDArray[numpy.float64], b: NDArray[numpy.float64]) -> OutputDifference:
    noise, signal = float(((a - b) ** 2).sum()), float((a**2).sum())
    lengths = math.sqrt(signal) * math.sqrt(float((b**2).sum()))
    return OutputDifference(
        name,
        is_identical=False,
        max_abs_difference=float(numpy.abs(a - b).max(initial=0.0)),
        cosine=float(a @ b) / lengths if lengths else float(not noise),
        sqnr_db=_decibels(signal, noise),
    )


def _decibels(signal: float, noise: float) -> float:
    if not noise:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf


def fingerprint(arrays: Outputs) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
