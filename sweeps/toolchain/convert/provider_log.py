"""Which nodes the QNN execution provider refused, and why, read from its verbose log.

The log has one block per node: what the target's validator said about it, then the verdict with the node's name.
Standard library only: it is read in the conversion's child.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from sweeps.toolchain.codes import explain_code
from sweeps.toolchain.log_reasons import explain

TRYING = "QNN node builder is trying to add node"
VERDICT = re.compile(r"Validation (?P<verdict>PASSED|FAILED) for \d+ nodes? in OrtNodeUnit \((?P<op>[^)]*)\)")
NODE = re.compile(r"^\s*Operator type: (?P<op>\S+) Node name: (?P<name>.*) Node index: (?P<index>\d+)")
REASON = re.compile(r"^\s*REASON : (?P<reason>.*)")
BUILD = re.compile(r"Backend build version: (?P<build>\S+)")
RENAMED = re.compile(r"_token_\d+$")
LINES_PER_NODE = 2000

NO_SUCH_OPERATION = "the NPU has no such operation; replace it with operations that it has, or fold it away"
KNOWN_REASONS = (
    (re.compile(r"Operators of type .* are not supported"), NO_SUCH_OPERATION),
    (re.compile(r"doesn't support dynamic (\w+)"), "the {0} must be a constant"),
    (re.compile(r"[Cc]annot get shape|must be static|[Dd]ynamic shape"), "a shape is not known before the model runs"),
    (re.compile(r"Failed to map Onnx data type"), "it has a data type, such as string, that the NPU does not have"),
    (re.compile(r"If branch op `(\w+)`"), "one of its branches has {0}, which the NPU does not have"),
)
VALIDATOR_REASONS = (
    (re.compile(r"doesn't support FP16"), "it computes in float, and this target has no float16; quantize it"),
    (
        re.compile(r"has incorrect Rank (\d+)"),
        "it has a tensor of rank {0}, and this target does not take that rank here",
    ),
    (re.compile(r"has incorrect Value ([^\n]+)"), "a value is not allowed on this target: {0}"),
)
QNN_ERROR = re.compile(r"<E>\s*(.+)")
UNTELLING = ("QnnBackend_validateOpConfig failed", "Failed to validate op", "Please refer to")
STATIC = "quantize the model statically, with QuantizeLinear and DequantizeLinear of constant scales"
ADVICE = dict.fromkeys(
    ("DynamicQuantizeLinear", "MatMulInteger", "ConvInteger"), f"the NPU has no such operation; {STATIC}"
)


@dataclass(frozen=True)
class RefusedNode:
    name: str
    op_type: str
    index: int
    reason: str


@dataclass
class _Block:
    """One verdict while its lines come in."""

    failed: bool
    op_type: str
    said_before: str
    name: str = ""
    index: int = -1
    reason: str = ""


def refused_nodes(lines: Iterable[str]) -> list[RefusedNode]:
    """Every node is judged several times, before and after the layout is changed: the last verdict counts."""
    verdicts: dict[tuple[str, str, int], RefusedNode | None] = {}
    for block in _blocks(lines):
        name = RENAMED.sub("", block.name)
        key = (block.op_type, name, -1 if name else block.index)
        verdicts[key] = RefusedNode(name, block.op_type, block.index, _reason(block)) if block.failed else None
    return [node for node in verdicts.values() if node]


def build_of(lines: Iterable[str]) -> str | None:
    return next((match["build"] for line in lines if (match := BUILD.search(line))), None)


def _blocks(lines: Iterable[str]) -> Iterable[_Block]:
    said: deque[str] = deque(maxlen=LINES_PER_NODE)
    block: _Block | None = None
    for line in lines:
        if match := VERDICT.search(line):
            if block:
                yield block
            block = _Block(match["verdict"] == "FAILED", match["op"], "".join(said))
            said.clear()
        elif TRYING in line:
            said.clear()
        elif block and _belongs(block, line):
            continue
        else:
            said.append(line)
    if block:
        yield block


def _belongs(block: _Block, line: str) -> bool:
    """A quantized operation is several nodes; the block is about the one whose type it names."""
    if match := NODE.match(line):
        if match["op"] == block.op_type:
            block.name, block.index = match["name"], int(match["index"])
        return True
    if match := REASON.match(line):
        block.reason = match["reason"].strip()
        return True
    return False


def _reason(block: _Block) -> str:
    if block.op_type in ADVICE:
        return ADVICE[block.op_type]
    if reason := _known(KNOWN_REASONS, block.reason) or _known(VALIDATOR_REASONS, block.said_before):
        return reason
    if causes := [reason.sentence for reason in explain(block.said_before) if not reason.consequence]:
        return _about_it(causes[0], block)
    errors = [error.strip() for error in QNN_ERROR.findall(block.said_before)]
    telling = [error for error in errors if not error.startswith(UNTELLING)]
    if telling:
        return f"the target's validator says: {telling[-1].rstrip('.')}"
    return (
        explain_code(3110, "checking the node").rstrip(".")
        if errors
        else f"the converter says: {block.reason.rstrip('.')}"
    )


def _about_it(sentence: str, block: _Block) -> str:
    """The sentence follows the node's name: it need not say it again."""
    named = f'{block.op_type} in node "{block.name}" '
    return (f"it {sentence.removeprefix(named)}" if sentence.startswith(named) else sentence).rstrip(".")


def _known(reasons: Iterable[tuple[re.Pattern[str], str]], text: str) -> str | None:
    return next(
        (sentence.format(*match.groups()) for pattern, sentence in reasons if (match := pattern.search(text))), None
    )
