"""What the runtime's codes and phrases mean, for people. The first that fits explains a log.

Denials of the system's access control (`avc: denied`) are in the logs of runs that end well too: they explain nothing.
"""

from __future__ import annotations

import re
import shlex
import signal
from typing import NamedTuple

from devices.runners.base import BinaryInfo, RunFailed, RunKilled, Runtime, soc_label
from devices.transports.base import CommandResult

CRASHES = {128 + number: number.name for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)}
KILLED = 128 + signal.SIGKILL
RIGHT_ONE_FIRST = "Put the folder of the right one first in ADSP_LIBRARY_PATH."


class Explanation(NamedTuple):
    """`compares`: the binary's and the runtime's versions are worth seeing beside it."""

    pattern: re.Pattern[str]
    sentence: str
    compares: bool = False


def _code(number: int, phrases: str = "") -> re.Pattern[str]:
    """A code in decimal or hexadecimal, but no size, time or part of a longer number; or one of the phrases."""
    unit = r"(?![\d.:]|\s*(?:us|ms|ns|s|bytes|KB|MB|cycles)\b)"
    other = f"|{phrases}" if phrases else ""
    return re.compile(rf"(?<![\d.:x-]){number}{unit}|\b0x0*{number:x}\b{other}", re.IGNORECASE)


WRONG = r"fail|error|not enough|exceed|insufficient|cannot"
EXPLANATIONS = (
    Explanation(
        re.compile(r"Stub lib id mismatch: expected \((?P<expected>[^)]+)\), detected \((?P<detected>[^)]+)\)"),
        "Two versions of the runtime are mixed on the device: {expected} was expected and {detected} was found, most "
        f"likely the copy in /vendor, which is found first. {RIGHT_ONE_FIRST}",
    ),
    Explanation(
        re.compile(r"0x80000600|_skel_handle_invoke"),
        f"The DSP took an older library from /vendor. {RIGHT_ONE_FIRST}",
    ),
    Explanation(
        re.compile(r"0x80000406|transportStatus:? 9\b"),
        "The DSP refused its library: it is not signed, was changed, or was moved away from its .cat file. Copy both "
        "unchanged from the SDK into one folder.",
    ),
    Explanation(
        re.compile(r"Failed to find available PD"),
        "The process on the DSP is too small for this context. That is no lack of memory: a signed process is needed.",
    ),
    Explanation(
        _code(5005, rf"(?:{WRONG})[^\n]*VTCM|VTCM[^\n]*(?:{WRONG})"),
        "The device cannot give the binary the VTCM that it was compiled for, or the binary is for another SoC. "
        "Compile with less VTCM, or for the device's own SoC.",
        compares=True,
    ),
    Explanation(
        _code(30010), "The runtime cannot read the binary: it is damaged, or no context binary of the HTP backend."
    ),
    Explanation(
        _code(5000, "CREATE_FROM_BINARY"),
        "The runtime on the device cannot load the binary: it is older than the binary, or the binary is damaged, or "
        "was compiled for another SoC or for several cores.",
        compares=True,
    ),
    Explanation(
        _code(14001),
        "The runtime cannot open the DSP: the library of its arch is missing or does not match. Put the matching "
        "skel first in ADSP_LIBRARY_PATH.",
    ),
    Explanation(
        _code(1008),
        "The libraries on the CPU and on the DSP are of different versions. Use those of one SDK only, and put their "
        "folder first in ADSP_LIBRARY_PATH.",
    ),
    Explanation(
        _code(1007), "The NPU restarted while it was in use. Run it again; if it stays so, restart the device."
    ),
    Explanation(
        re.compile(r"Failed to get context binary info|not compatible with any execution provider"),
        "The runtime on the device cannot read the binary: it is damaged, or it is no context binary of the HTP "
        "backend.",
        compares=True,
    ),
)


def explained(log: str) -> str:
    """A sentence or two, or "" for what is not known."""
    return _explain(log)[0]


def failure_of(ended: CommandResult, info: BinaryInfo, runtime: Runtime) -> RunFailed:
    """A run that ended with a nonzero exit code, in words."""
    log = "\n".join(part for part in (ended.stdout, ended.stderr) if part)
    if name := CRASHES.get(ended.exit_code):
        return RunFailed(
            f"The runtime on the device crashed ({name}) with this binary. The binary may be damaged, or made for "
            f"another device. {_versions(info, runtime)}",
            log,
        )
    if ended.exit_code == KILLED:
        return RunKilled(
            "The run was killed on the device from outside, most likely because memory ran out. Close what else runs "
            "there, then try again.",
            log,
        )
    sentence, compares = _explain(log)
    if sentence:
        return RunFailed(f"{sentence} {_versions(info, runtime)}" if compares else sentence, log)
    return RunFailed(f"The run ended with exit code {ended.exit_code}: {_last(log)}", log)


def _explain(log: str) -> tuple[str, bool]:
    for pattern, sentence, compares in EXPLANATIONS:
        if found := pattern.search(log):
            return sentence.format(**found.groupdict()), compares
    return "", False


def _versions(info: BinaryInfo, runtime: Runtime) -> str:
    return (
        f"The binary is for {soc_label(info)} by QNN {info.build_id or 'of an unknown version'}; the device has QNN "
        f"{runtime.build_id or 'of an unknown version'}."
    )


def _last(log: str) -> str:
    return shlex.quote(log.strip().rpartition("\n")[2][:300])
