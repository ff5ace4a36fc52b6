"""What the runtime's codes and phrases mean, for people. The first that fits explains a log.

Denials of the system's access control (`avc: denied`) are in the logs of runs that end well too: they explain nothing.
"""

from __future__ import annotations

import re

EXPLANATIONS = (
    (
        re.compile(r"Stub lib id mismatch: expected \((?P<expected>[^)]+)\), detected \((?P<detected>[^)]+)\)"),
        "Two versions of the runtime are mixed on the device: {expected} was expected and {detected} was found, most "
        "likely "
        "the copy in /vendor, which is found first. Put the folder of the right one first in ADSP_LIBRARY_PATH.",
    ),
    (
        re.compile(r"0x80000600|_skel_handle_invoke"),
        "The DSP took an older library from /vendor. Put the folder of the right one first in ADSP_LIBRARY_PATH.",
    ),
    (
        re.compile(r"\b5005\b|VTCM"),
        "The device cannot give the binary the VTCM that it was compiled for. Compile with less VTCM, or for the "
        "device's own SoC.",
    ),
    (
        re.compile(r"\b5000\b|CREATE_FROM_BINARY"),
        "The runtime on the device cannot load the binary: it is older than the binary, or the binary was compiled for "
        "another SoC, or for several cores.",
    ),
    (
        re.compile(r"\b14001\b"),
        "The runtime cannot open the DSP: the library of its arch is missing or does not match. Put the matching "
        "skel first in ADSP_LIBRARY_PATH.",
    ),
    (re.compile(r"\b30010\b"), "This is not a context binary of the HTP backend."),
    (
        re.compile(r"Failed to get context binary info|not compatible with any execution provider"),
        "The runtime on the device cannot read the binary: it is damaged, or it is no context binary of the HTP "
        "backend.",
    ),
    (
        re.compile(r"Failed to find available PD"),
        "The process on the DSP is too small for this context. That is no lack of memory: a signed process is needed.",
    ),
    (re.compile(r"\b1007\b|\b1008\b"), "The device's NPU stopped answering. Restart the device, then try again."),
)


def explained(log: str) -> str:
    """A sentence or two, or "" for what is not known."""
    for pattern, sentence in EXPLANATIONS:
        if found := pattern.search(log):
            return sentence.format(**found.groupdict())
    return ""
