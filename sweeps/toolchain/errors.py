"""What can go wrong in a toolchain, told apart by what happens next.

`ConfigRejected` and `ModelRejected` are answers (the compiler said no), `LimitReached` and `ToolFailed` are not.
Every message is one sentence for the person who sent the work; the tool's own words are in the diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class FailureKind(StrEnum):
    REFUSAL = "refusal"
    CRASH = "crash"
    KILLED = "killed"
    HANG = "hang"
    LIMIT = "limit"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


@dataclass(frozen=True)
class Diagnosis:
    """What is known about a child that did not deliver.

    `log` is what it printed, capped; `log_tail` holds its last lines, `native_errors` the error lines of the toolchain
    itself; both oldest first.
    """

    log: str = ""
    log_tail: tuple[str, ...] = ()
    native_errors: tuple[str, ...] = ()
    exit_code: int | None = None
    signal: int | None = None
    peak_memory_bytes: int | None = None
    wall_us: int | None = None
    cpu_us: int | None = None
    error_code: int | None = None


@dataclass(eq=False)
class ToolchainError(Exception):
    message: str
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    kind: FailureKind = FailureKind.INTERNAL

    def __str__(self) -> str:
        return self.message


@dataclass(eq=False)
class ConfigRejected(ToolchainError):
    """The compiler refused this point; other points of the same model may compile."""

    kind: FailureKind = FailureKind.REFUSAL


@dataclass(eq=False)
class ModelRejected(ToolchainError):
    """The compiler or the converter refused the model for this target, whatever the point."""

    kind: FailureKind = FailureKind.REFUSAL


@dataclass(eq=False)
class LimitReached(ToolchainError):
    """The child was ended for passing its limit on wall time (a hang), CPU time or memory."""

    kind: FailureKind = FailureKind.LIMIT


@dataclass(eq=False)
class ToolFailed(ToolchainError):
    """The child crashed or was killed from outside, or the toolchain itself is broken."""

    kind: FailureKind = FailureKind.CRASH


@dataclass(eq=False)
class Cancelled(ToolchainError):
    """The caller asked for the end of the work."""

    kind: FailureKind = FailureKind.CANCELLED
