"""Run the command as its users do: as a process, with its exit code and what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TUNERWEB = Path(sys.executable).with_name("tunerweb")


def tunerweb(*arguments: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(TUNERWEB), *(str(argument) for argument in arguments)]
    return subprocess.run(
        command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, timeout=300
    )


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a command that was refused."""
    assert "Traceback" not in done.stderr + done.stdout
    lines = [line for line in done.stderr.splitlines() if line.startswith("tunerweb: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]
