"""What ONNX Runtime says about a model that it does not even load, in a sentence for people."""

from __future__ import annotations

import re

from sweeps.toolchain.convert.archives import quoted

LOADING = re.compile(r"^Load model from \S+ failed:\s*")
IN_SOURCE = re.compile(r"/\S+\.(?:cc|h|cpp|hpp):\d+ (?:[^\n]*\) )?")
OPSET_TOO_NEW = re.compile(r"Opset (?P<given>\d+) is under development.*is till opset (?P<newest>\d+)", re.DOTALL)
INFERENCE = re.compile(
    r"Node \((?P<node>[^)]*)\) Op \((?P<op>[^)]*)\) \[(?:Shape|Type)InferenceError\] (?P<what>[^\n]+)"
)
CIRCLE = "graph is not acyclic"


def session_error(message: str) -> str:
    """One or two sentences; the runtime's own words, without the place in its source, when it is a new one."""
    message = message.strip()
    if match := OPSET_TOO_NEW.search(message):
        given, newest = match["given"], match["newest"]
        return f"It uses opset {given} and the converter reads opsets up to {newest}; export it with an older opset."
    if match := INFERENCE.search(message):
        what = match["what"].strip().rstrip(".")
        return f"Node {quoted(match['node'])} ({match['op']}) does not fit what it is given: {what}."
    if CIRCLE in message:
        return "It is damaged: some of its nodes depend on their own results."
    words = IN_SOURCE.sub("", LOADING.sub("", message)).strip()
    return f"The converter says: {words.rstrip('.') or 'nothing'}."
