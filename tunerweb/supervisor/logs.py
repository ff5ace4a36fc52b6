"""The log of each process: a file that grows, and becomes the old one when it has grown too much."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import IO

LARGEST_BYTES = 4 * 1024 * 1024
TAIL_BYTES = 4096
LONGEST_LINE = 200
# What Python prints below a traceback; lines of the message may follow it.
EXCEPTION = re.compile(r"[\w.]+(Error|Exception|Refused|Exit)\b")


def open_log(path: Path) -> IO[bytes]:
    if path.exists() and path.stat().st_size > LARGEST_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    log = path.open("ab")
    log.seek(0, os.SEEK_END)
    return log


def last_line(path: Path, start: int = 0) -> str:
    """What a process said last, of what was written from `start` on: its exception, or else its last line."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(start, size - TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    said = [line.rstrip() for line in lines if line.strip()]
    exceptions = [line for line in said if EXCEPTION.match(line)]
    last = (exceptions or said or [""])[-1].strip()
    return "".join(character if character.isprintable() else "?" for character in last)[:LONGEST_LINE]
