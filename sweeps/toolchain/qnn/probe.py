"""Does this build write a simulated schedule for this SoC? Asked once with a tiny graph, then remembered.

On SoCs without an operation cost model the request makes the whole compile fail, after most of its time.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from devices.targets import Target
from sweeps.toolchain.base import ToolchainIdentity
from sweeps.toolchain.errors import ConfigRejected
from tunerweb.work.scratch import scratch_root

if TYPE_CHECKING:
    from sweeps.toolchain.qnn.compiler import BundledToolchain

PROBE_DLC = Path(__file__).with_name("probe.dlc")


def cache_file() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tunerweb" / "simulated-schedule.json"


class ScheduleProbe:
    def __init__(self, toolchain: BundledToolchain, identity: ToolchainIdentity) -> None:
        self.toolchain = toolchain
        self.identity = identity

    def works_on(self, target: Target) -> bool:
        """False also where the compiler gives estimates of its own: the schedule would add nothing."""
        if target.soc.estimates:
            return False
        key = f"{self.identity.build_id} {target.soc.soc_model}"
        known = _read_cache()
        if key not in known:
            known[key] = self._probe(target)
            _write_cache(known)
        return known[key]

    def _probe(self, target: Target) -> bool:
        job = {"soc_model": target.soc.soc_model, "context_options": [], "graph_options": {}, "schedule": True}
        with scratch_root() as scratch:
            (scratch / "model.dlc").symlink_to(PROBE_DLC)
            try:
                answer = self.toolchain.ask("compile_graphs", job, scratch, target)
            except ConfigRejected:
                return False
        return all(graph["schedule"] for graph in answer["graphs"])


def _read_cache() -> dict[str, bool]:
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(cache_file().read_text())
        if isinstance(known, dict):
            return {key: value for key, value in known.items() if isinstance(value, bool)}
    return {}


def _write_cache(known: dict[str, bool]) -> None:
    """Without a writable cache the next session probes again: nothing depends on it."""
    path = cache_file()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(known, file)
        os.replace(file.name, path)
