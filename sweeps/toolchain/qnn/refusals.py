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

MODEL_STEPS = {"system dlcCreateFromFile", "system dlcComposeGraphs", "system contextGetMetaData"}
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
# Phrases of the compile log; `{0}` is what the pattern found, `{target}` the target's name.
PHRASES = (
    (
        r"Invalid multi-nsp setting for P point (-?\d+).*multi core",
        "P={0} needs at least two cores, and this compile uses one.",
    ),
    (r"P point (-?\d+).*single core", "P={0} needs a single core, and this compile uses several."),
    (r"(To use P points you must use O3)", "P needs O=3, and the compiler refuses it otherwise. Set O to 3."),
    (r"Option (\S+) not found", "The compiler has no option named {0}. Remove it from finalize_config."),
    (
        r"(doesn't support FP16)",
        "{target} does not compute in float16, and this model is a float model: quantize it first.",
    ),
    (
        r"(only available for DSP architectures)",
        "extended_udma needs DSP arch v81 or later, and {target} is older. Remove it from the context settings.",
    ),
    (
        r"(No L2TCM size set|not a multi-VXU SoC)",
        "num_cores is more than one, and {target} compiles for one core only.",
    ),
)
STEPS = {
    "system contextGetMetaData": "The file is not a context binary, or it is cut off, damaged or of another backend.",
    "system dlcCreateFromFile": "The file cannot be loaded as a DLC: it is damaged, cut off, or something else under "
    "that name.",
}
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
    for pattern, sentence in PHRASES:
        if match := re.search(pattern, log):
            return sentence.format(match[1], target=target.name if target else "the target")
    causes = [reason.sentence for reason in explain(log) if not reason.consequence]
    return STEPS.get(step) or " ".join(causes) or None


def _first_error(step: str, code: int, messages: Sequence[str]) -> str:
    sentence = explain_code(code, DOING.get(step, step))
    errors = native_errors(messages)
    return f"{sentence} The compiler's first error: {errors[0]}" if errors else sentence
