"""QNN error codes in words. One number has a different sense in each call, so the step is part of the sentence."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    name: str
    meaning: str


RESTARTED = "the DSP restarted while it was in use; everything on it must be created again"
NOT_PREPARED = "the compiler could not prepare the graph; the first error before this one says why"
NO_SKEL = "the DSP's side of the libraries (the Skel) could not be loaded; check its path and version"

CODES = {
    1000: Code("not supported", "this version of the libraries lacks a feature that was asked for"),
    1002: Code("memory allocation", "the libraries could not get or build what the step needs"),
    1003: Code("system", "a service of the operating system failed, on a device usually the DSP's remote calls"),
    1004: Code("invalid argument", "one of the values handed over is not allowed here"),
    1007: Code("system communication", RESTARTED),
    1008: Code("incompatible binaries", "the host libraries and the libraries on the DSP are of different versions"),
    1011: Code("system communication, fatal", RESTARTED),
    1100: Code("general", "the error before this one says why"),
    3110: Code("operation not valid", "an operation, its data type or its rank is not supported on this DSP arch"),
    4000: Code("backend cannot initialize", NO_SKEL),
    5000: Code("context argument", "the runtime is older than the context binary, or the device is another one"),
    5003: Code("context not finalized", "a follow-on of a graph that failed to compile; look at the error before"),
    5004: Code("context binary version", "the context binary has a version that these libraries do not read"),
    5005: Code("context not created", "the binary is for another SoC, or needs more VTCM than this device has"),
    5008: Code("binary configuration", "the context binary was compiled for another device"),
    5010: Code("context config", "one of the context options is not valid"),
    5011: Code("binary suboptimal", "the context binary was compiled for another SoC and strict matching is on"),
    6000: Code("graph argument", "one of the graph options, or its value, is not known to this compiler"),
    6001: Code("graph handle", "the graph was not retrieved, or is gone after a restart of the DSP"),
    6005: Code("operation config", "a node of the graph was refused when it was added"),
    6020: Code("graph not created", NOT_PREPARED),
    6021: Code("graph optimization failed", NOT_PREPARED),
    6022: Code("graph finalize failed", NOT_PREPARED),
    6023: Code("graph not finalized", NOT_PREPARED),
    6031: Code("graph aborted", "an unsupported operation was reached while the graph ran"),
    6999: Code("unspecified graph error", "the number has no meaning of its own; the error before this one says why"),
    7005: Code("tensor not supported", "a tensor has a parameter that is not supported, usually a dynamic dimension"),
    8003: Code("memory mapping", "a buffer could not be mapped to the DSP"),
    14001: Code("device config", "the SoC number or DSP arch is wrong, or on a device the Skel was not found"),
    14002: Code("hardware unavailable", "there is no access to the NPU"),
    30001: Code("system argument", "the file is empty or cannot be read"),
    30010: Code("malformed binary", "the file is not a context binary, is damaged, or was built for another backend"),
    0x0D: Code("FastRPC permission", "the process may not use the DSP"),
    0x72: Code("FastRPC session", "no session with the DSP could be opened"),
    0x80000406: Code("FastRPC", NO_SKEL),
    0x80000580: Code("FastRPC", "the DSP gave no session to this process"),
    0x80000600: Code("FastRPC", "there is no session with the DSP"),
}
IN_STEP = {
    (
        1002,
        "compiling the graph",
    ): "an operation could not be built, or the graph needs more memory than there is",
    (1002, "building the graph from the DLC"): "the model inside the DLC is damaged, or the target cannot run it",
    (1002, "loading the DLC"): "the file is damaged, cut off, or not a DLC",
    (
        1002,
        "loading the context binary",
    ): "no process domain of the DSP has room for it; load fewer binaries",
    (6000, "setting the graph options"): "an option name or value in the graph settings is not known to this compiler",
    (14001, "setting the target"): "this compiler does not know the SoC; choose another target",
}
UNKNOWN = "no public document gives this number a meaning; the log says what came before it"


def explain_code(code: int, while_doing: str | None = None) -> str:
    """One sentence like `1002 = 0x3EA (memory allocation), while compiling the graph: ...`."""
    # QNN puts more information into the high half of some codes; FastRPC's own start at 2**31.
    known = CODES.get(code) or CODES.get(code & 0xFFFF)
    step = f", while {while_doing}" if while_doing else ""
    name = f" ({known.name})" if known else ""
    meaning = IN_STEP.get((code & 0xFFFF, while_doing or "")) or (known.meaning if known else UNKNOWN)
    return f"{code} = {code:#X}{name}{step}: {meaning}.".replace("0X", "0x", 1)
