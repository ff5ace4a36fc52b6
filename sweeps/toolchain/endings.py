"""How a child of a toolchain ended, when it ended without an answer: a crash, a kill, a hang, a limit, a failure."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator, Sequence

from sweeps.toolchain.errors import Cancelled, Diagnosis, FailureKind, LimitReached, ToolchainError, ToolFailed
from tunerweb.work.child import ChildOutcome, Ending, Limits
from tunerweb.work.inside import DISK_FULL

HARMLESS = "unexpected GraphHtpSettings option"  # printed at every compile


def diagnosis(outcome: ChildOutcome, code: int | None = None, messages: Sequence[str] = ()) -> Diagnosis:
    return Diagnosis(
        log=outcome.log,
        log_tail=outcome.log_tail,
        native_errors=native_errors(messages),
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        peak_memory_bytes=outcome.peak_memory_bytes,
        wall_us=outcome.wall_us,
        cpu_us=outcome.cpu_us,
        error_code=code,
    )


def native_errors(messages: Sequence[str]) -> tuple[str, ...]:
    errors = [message.removeprefix("<E>").strip() for message in messages if message.startswith("<E>")]
    return tuple(error for error in errors if HARMLESS not in error)


def broken_end(outcome: ChildOutcome, limits: Limits, work: str = "compile") -> ToolchainError:
    """The error for a child that ended without an answer."""
    return ENDINGS[outcome.ending](outcome, limits, work)


def _crashed(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    name = _signal_name(outcome)
    hint = " A full disk can cause this one: check the free space." if outcome.signal == signal.SIGBUS else ""
    return ToolFailed(f"The compiler crashed during this {work} ({name}).{hint}", diagnosis(outcome), FailureKind.CRASH)


def _killed(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    message = (
        f"The {work} was killed from outside ({_signal_name(outcome)}): by a person, or by the system when memory ran "
        "out. Run it again, with fewer at once if memory is short."
    )
    return ToolFailed(message, diagnosis(outcome), FailureKind.KILLED)


def _hung(outcome: ChildOutcome, limits: Limits, work: str) -> ToolchainError:
    message = (
        f"The {work} was stopped after its time limit of {limits.wall_s:g} s. "
        "Raise the time limit (on the command line: --timeout) if it needs longer."
    )
    return LimitReached(message, diagnosis(outcome), FailureKind.HANG)


def _cpu(outcome: ChildOutcome, limits: Limits, work: str) -> ToolchainError:
    return LimitReached(f"The {work} was stopped at its limit of {limits.cpu_s:g} s of CPU time.", diagnosis(outcome))


def _memory(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    peak = (outcome.peak_memory_bytes or 0) / 2**30
    message = (
        f"The {work} was stopped at its memory limit: it had reached {peak:.1f} GiB. "
        "Raise the memory limit (on the command line: --memory) or run fewer at once."
    )
    return LimitReached(message, diagnosis(outcome))


def _cancelled(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    return Cancelled(f"The {work} was cancelled.", diagnosis(outcome))


def _failed(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    if outcome.exit_code == DISK_FULL or os.strerror(errno.ENOSPC) in outcome.log:
        return no_space(work, diagnosis(outcome))
    last = outcome.log_tail[-1] if outcome.log_tail else f"exit code {outcome.exit_code}"
    return ToolFailed(f"The {work} ended without a result: {last}", diagnosis(outcome), FailureKind.INTERNAL)


def no_space(work: str, known: Diagnosis) -> ToolFailed:
    message = (
        f"The disk that holds the temporary files is full: the {work} could not write its files. "
        "Free some space, or give them a larger disk (TMPDIR, or TUNERWEB_DATA of a server)."
    )
    return ToolFailed(message, known, FailureKind.INTERNAL)


@contextlib.contextmanager
def telling_a_full_disk(work: str) -> Iterator[None]:
    """Turn the error of a full disk, met in this process, into the sentence that a child's would get."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise no_space(work, Diagnosis()) from error


ENDINGS: dict[Ending, Callable[[ChildOutcome, Limits, str], ToolchainError]] = {
    Ending.CRASHED: _crashed,
    Ending.KILLED: _killed,
    Ending.WALL_LIMIT: _hung,
    Ending.CPU_LIMIT: _cpu,
    Ending.MEMORY_LIMIT: _memory,
    Ending.CANCELLED: _cancelled,
    Ending.FAILED: _failed,
}


def _signal_name(outcome: ChildOutcome) -> str:
    try:
        return signal.Signals(outcome.signal or 0).name
    except ValueError:
        return f"signal {outcome.signal}"
