"""From what the compiler said no to, and how, to the error that says it to people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from devices.targets import Target
from sweeps.toolchain.codes import explain_code
from sweeps.toolchain.endings import broken_end as broken_end
from sweeps.toolchain.endings import diagnosis as diagnosis
from sweeps.toolchain.endings import native_errors
from sweeps.toolchain.errors import ConfigRejected, ModelRejected, ToolchainError
from sweeps.toolchain.log_reasons import explain
from tunerweb.work.child import ChildOutcome

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
NO_COST_MODEL = "Op cost model could not be initialized"


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
    if "only available for DSP architectures" in log:
        return (
            "extended_udma needs DSP arch v81 or later, and this target is older. Remove it from the context settings."
        )
    if "No L2TCM size set" in log or "not a multi-VXU SoC" in log:
        return "num_cores is more than one, and this SoC compiles for one core only."
    causes = [reason.sentence for reason in explain(log) if not reason.consequence]
    return " ".join(causes) or None


def _first_error(step: str, code: int, messages: Sequence[str]) -> str:
    sentence = explain_code(code, DOING.get(step, step))
    errors = native_errors(messages)
    return f"{sentence} The compiler's first error: {errors[0]}" if errors else sentence
