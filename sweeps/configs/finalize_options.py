"""What may stand in `finalize_config`: options of the compiler by its own names, of which it has hundreds.

They are passed through, except where the compiler would silently take them for something else or for nothing.
Measured with QAIRT 2.51.
"""

from __future__ import annotations

import re
from typing import Any

from sweeps.configs.findings import Path, shown
from sweeps.configs.key_names import is_like_p, owners, right_place
from sweeps.configs.schema import GraphConfig
from sweeps.configs.values import Read, Reader, read_p_value, read_whole, refused

LARGEST_WHOLE = 2**31 - 1
LARGEST_FRACTION = 3.4e38

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Dozens of options name a file or folder, and the compiler writes there. Words and numbers name nothing outside the
# folder of the compile, and none of the files in it.
TEXT = re.compile(r"(?:[\w+, :-]|\.(?=\d))*", re.ASCII)
# Keys of a graph that are names of the compiler too, and act from either place.
ACT_HERE_TOO = frozenset({"assume_same_quant", "enable_predication", "fp16_clamp_overflow", "share_io_buffer"})
# The compiler's names of what keys of the config set: it sets these itself, whatever stands here.
SET_BY_KEYS = frozenset(
    {
        "dlbc_weight_compression",
        "enable_dlbc",
        "num_nsps",
        "slc_allocate",
        "soc_type",
        "sparsity_weight_compression",
    }
)


def place_of_stray(path: Path, key: str) -> Path | None:
    """Where a key of the `finalize_config` at `path` belongs instead; None for a key that can stay."""
    if key != "P" and is_like_p(key):
        return (*path, "P")
    if key not in SET_BY_KEYS and (key in ACT_HERE_TOO or not owners(key)):
        return None
    return right_place(key, GraphConfig, path[:-1])


def reader_of_option(key: str) -> Reader:
    if key == "P":
        return read_p_value
    return _read_option if NAME.fullmatch(key) else _refuse_name


def _refuse_name(key: str, _value: Any) -> Read:
    return Read(problem=f"{key} is no name of a compiler option (letters, digits and _); remove it.")


def _read_option(key: str, value: Any) -> Read:
    if isinstance(value, bool):
        return Read(value)
    if isinstance(value, int):
        return read_whole(key, value, largest=LARGEST_WHOLE)
    if isinstance(value, float):
        return Read(value) if abs(value) <= LARGEST_FRACTION else refused(key, value, "a number of 32 bits", None)
    if isinstance(value, str):
        return _read_text(key, value)
    return refused(key, value, "a number, a text, true or false", None)


def _read_text(key: str, value: str) -> Read:
    if TEXT.fullmatch(value):
        return Read(value)
    return Read(
        problem=f"{key} is {shown(value)}, and a text here can hold words and numbers only, because the compiler "
        "writes files under names that it finds here. Remove it."
    )
