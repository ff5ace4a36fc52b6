"""Commands as lines for a shell on a device, and how such a command is ended there."""

from __future__ import annotations

import math
import re
import shlex
import signal
from collections.abc import Mapping, Sequence

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# The device ends the command by itself when nobody is left to do it.
SPARE_S = 5
MARK = "TUNERWEB_RUN"
# Again and again, because what is being ended may be starting more. What runs this is spared: it may bear the same
# owner's mark.
END_MARKED = """
for round in 1 2 3 4 5 6 7 8 9 10; do
  found=
  for file in $(grep -lsF 'TUNERWEB_RUN=OWNER' /proc/[0-9]*/environ); do
    grep -qsF "TUNERWEB_RUN=${TUNERWEB_RUN:-nobody}" "$file" && continue
    pid=${file#/proc/}
    kill -KILL "${pid%/environ}" 2>/dev/null && found=1
  done
  [ -z "$found" ] && exit 0
  [ "$round" -gt 5 ] && sleep 1
done
exit 1
"""


def command_line(
    argv: Sequence[str], folder: str | None, environment: Mapping[str, str] | None, timeout_s: float, mark: str
) -> str:
    """One line for whatever shell is there. Each word arrives as it is, whatever is in it."""
    settings = [f"{name}={value}" for name, value in (environment or {}).items() if _is_name(name)]
    limit = str(math.ceil(timeout_s) + SPARE_S)
    words = ["env", *settings, f"{MARK}={mark}", "timeout", "-k", "2", limit, *argv]
    place = f"cd {shlex.quote(folder)} && " if folder else ""
    return shlex.join(["sh", "-c", f"{place}exec {shlex.join(words)}"])


def end_marked(mark: str) -> str:
    """A script that ends all processes whose mark begins so. 0: none is left."""
    return END_MARKED.replace("OWNER", mark)


def _is_name(name: str) -> bool:
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an environment variable.")
    return True


def free_bytes_in(df: str) -> int | None:
    """Out of what `df -Pk` prints: the fourth column of the last line, in KiB. None when it cannot be read."""
    words = df.strip().rpartition("\n")[2].split()
    return int(words[3]) * 1024 if len(words) > 3 and words[3].isdecimal() else None


def code_of_signal(told: tuple[str, bool, str, str] | None) -> int:
    """As a shell would say it: 128 and the number."""
    name = f"SIG{told[0]}" if told else "SIGKILL"
    return 128 + int(getattr(signal, name, signal.SIGKILL))
