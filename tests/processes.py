"""Ask the kernel about processes and wait for what they do, without guessing how long it takes."""

from __future__ import annotations

import time
from pathlib import Path

PATIENCE_S = 20.0
STEP_S = 0.005


def gone(pid: int) -> bool:
    """Wait until the process is dead (a zombie that nobody reaps is dead too); False when it lives on."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(STEP_S)
    return False


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} never appeared"
        time.sleep(STEP_S)


def descendants(pid: int) -> set[int]:
    """All living processes below `pid`."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[0] not in "ZX":
                parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    layer = {pid}
    while layer := {child for child, parent in parents.items() if parent in layer} - found:
        found |= layer
    return found
