"""The runner of the simulated device. Its times are made up, by rules that are known; everything of it says so."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from devices.runners.base import Block, Job, RunFailed, Runtime, Timing
from devices.transports.base import scratch_folder
from devices.transports.simulated import SimulatedTransport

SCRIPT = Path(__file__).with_name("simulated_device.py")
EVENT = "simulated execute time"
HEAT_FILE = "heat.json"
# Half a second of its inferences is more than anybody needs.
RUNS = 200


@dataclass(frozen=True)
class SimulatedRunner:
    transport: SimulatedTransport

    def find(self) -> Runtime:
        return Runtime("simulated", "1", "", Timing.SIMULATED)

    def run(self, job: Job, runtime: Runtime) -> Block:
        """Raises `RunFailed`, and what the transport raises."""
        with scratch_folder(self.transport) as folder, tempfile.TemporaryDirectory(prefix="block-") as here:
            self.transport.push(SCRIPT, f"{folder}/simulated_device.py")
            self.transport.push(job.binary, f"{folder}/context.bin")
            ended = self.transport.run(
                [sys.executable, "-I", "simulated_device.py"],
                folder=folder,
                stdin=json.dumps(self._said(job)).encode(),
                timeout_s=job.settings.timeout_s,
                cancelled=job.cancelled,
            )
            if ended.exit_code != 0:
                raise RunFailed(f"The simulated device ended with exit code {ended.exit_code}.", ended.stderr)
            self.transport.pull(f"{folder}/result.json", Path(here) / "result.json", limit_bytes=2**24)
            told = json.loads((Path(here) / "result.json").read_text())
        samples = tuple(told["samples_us"][job.settings.warmup_runs :])
        return Block(samples, EVENT, Timing.SIMULATED, wall_us=ended.wall_us, log=ended.stderr)

    def _said(self, job: Job) -> dict[str, object]:
        return {
            "binary": "context.bin",
            "heat": str(self.transport.folder / HEAT_FILE),
            "seed": self.transport.seed,
            "runs": job.settings.runs or RUNS,
            "warmup_runs": job.settings.warmup_runs,
        }
