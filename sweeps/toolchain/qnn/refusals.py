"""From how a compile child ended to the error that says it: a refusal, a crash, a kill, a hang or a limit."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Sequence
from typing import Any

from devices.targets import Target
from sweeps.toolchain.codes import explain_code
from sweeps.toolchain.errors import (
    Cancelled,
    ConfigRejected,
    Diagnosis,
    FailureKind,
    LimitReached,
    ModelRejected,
    ToolchainError,
    ToolFailed,
)
from sweeps.toolchain.log_reasons import explain
from tunerweb.work.child import ChildOutcome, Ending, Limits

MODEL_STEPS = {"system dlcCreateFromFile", "system dlcComposeGraphs"}
DOING = {
    "deviceCreate": "setting the target",
    "contextCreate": "setting the context options",
    "system dlcCreateFromFile": "loading the DLC",
    "system dlcComposeGraphs": "building the graph from the DLC",
    "graphSetConfig": "setting the graph options",
    "graphFinalize": "compiling the graph",
    "contextGetBinarySize": "writing the context binary",
    "contextGetBinary": "writing the context binary",
    "system contextGetMetaData": "reading the context binary",
}
MULTI_CORE = re.compile(r"Invalid multi-nsp setting for P point (-?\d+).*multi core")
SINGLE_CORE = re.compile(r"P point (-?\d+).*single core", re.IGNORECASE)
UNKNOWN_OPTION = re.compile(r"Option (\S+) not found")
HARMLESS = "unexpected GraphHtpSettings option"  # printed at every compile
NO_COST_MODEL = "Op cost model could not be initialized"


def diagnosis(outcome: ChildOutcome, code: int | None = None, messages: Sequence[str] = ()) -> Diagnosis:
    return Diagnosis(
        log_tail=outcome.log_tail,
        native_errors=_errors(messages),
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        peak_memory_bytes=outcome.peak_memory_bytes,
        wall_us=outcome.wall_us,
        cpu_us=outcome.cpu_us,
        error_code=code,
    )


def refusal(failed: dict[str, Any], outcome: ChildOutcome, target: Target | None) -> ToolchainError:
    step, code, messages = failed["step"], failed["code"], failed["messages"]
    reason = _known_reason(step, messages, target) or _first_error(step, code, messages)
    error = ModelRejected if step in MODEL_STEPS else ConfigRejected
    return error(reason, diagnosis(outcome, code, messages))


def lacks_cost_model(error: ToolchainError) -> bool:
    """The compile failed only because a simulated schedule was asked for where there is none."""
    return any(NO_COST_MODEL in line for line in error.diagnosis.native_errors)


def _known_reason(step: str, messages: Sequence[str], target: Target | None) -> str | None:
    log = "\n".join(messages)
    if match := MULTI_CORE.search(log):
        return f"P={match[1]} needs at least two cores, and this compile uses one."
    if match := SINGLE_CORE.search(log):
        return f"P={match[1]} needs a single core, and this compile uses several."
    if match := UNKNOWN_OPTION.search(log):
        return f"The compiler has no option named {match[1]}. Remove it from finalize_config."
    if "doesn't support FP16" in log and target:
        return f"{target.name} does not compute in float16, and this model is a float model: quantize it first."
    if step == "system dlcCreateFromFile":
        return "The file cannot be loaded as a DLC: it is damaged, cut off, or something else under that name."
    if "No L2TCM size set" in log or "not a multi-VXU SoC" in log:
        return "num_cores is more than one, and this SoC compiles for one core only."
    reasons = explain(log)
    return reasons[0].sentence if reasons else None


def _first_error(step: str, code: int, messages: Sequence[str]) -> str:
    sentence = explain_code(code, DOING.get(step, step))
    errors = _errors(messages)
    return f"{sentence} The compiler's first error: {errors[0]}" if errors else sentence


def _errors(messages: Sequence[str]) -> tuple[str, ...]:
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
        f"The {work} was killed from outside ({_signal_name(outcome)}): by a person, or by the system when memory ran out. "
        "Run it again, with fewer at once if memory is short."
    )
    return ToolFailed(message, diagnosis(outcome), FailureKind.KILLED)


def _hung(outcome: ChildOutcome, limits: Limits, work: str) -> ToolchainError:
    message = f"The {work} was stopped after its time limit of {limits.wall_s:g} s. Give it more time (--timeout) if it needs it."
    return LimitReached(message, diagnosis(outcome), FailureKind.HANG)


def _cpu(outcome: ChildOutcome, limits: Limits, work: str) -> ToolchainError:
    return LimitReached(f"The {work} was stopped at its limit of {limits.cpu_s:g} s of CPU time.", diagnosis(outcome))


def _memory(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    peak = (outcome.peak_memory_bytes or 0) / 2**30
    message = f"The {work} was stopped at its memory limit: it had reached {peak:.1f} GiB. Raise the limit (--memory) or run fewer at once."
    return LimitReached(message, diagnosis(outcome))


def _cancelled(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    return Cancelled(f"The {work} was cancelled.", diagnosis(outcome))


def _failed(outcome: ChildOutcome, _limits: Limits, work: str) -> ToolchainError:
    if "No space left on device" in outcome.log:
        return ToolFailed(
            f"The disk that holds the temporary files is full: the {work} could not write its files. Free some space, or set TMPDIR to a larger disk.",
            diagnosis(outcome),
            FailureKind.INTERNAL,
        )
    last = outcome.log_tail[-1] if outcome.log_tail else f"exit code {outcome.exit_code}"
    return ToolFailed(f"The {work} ended without a result: {last}", diagnosis(outcome), FailureKind.INTERNAL)


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
