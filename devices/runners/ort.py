"""The Python runner: ONNX Runtime with its QNN provider, on the device's own Python."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devices.runners.base import Block, Job, RunFailed, RunnerMissing, Runtime, Timing
from devices.runners.failures import failure_of
from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.recognition import parse_profile
from devices.runners.tensors import stored_inputs
from devices.runners.wrapper import write_wrapper
from devices.transports.base import CommandResult, Transport, scratch_folder

SCRIPT = Path(__file__).with_name("on_device.py")
PROBE_TIMEOUT_S = 60.0
LARGEST_RESULT_BYTES = 16 * 1024 * 1024
LARGEST_PROFILE_BYTES = 256 * 1024 * 1024
LARGEST_OUTPUT_BYTES = 1024 * 1024 * 1024
WALL = "wall time of session.run"


@dataclass(frozen=True)
class OrtRunner:
    """`python` on the device has onnxruntime and onnxruntime-qnn installed."""

    transport: Transport
    python: str = "python3"

    def find(self) -> Runtime:
        """Raises `RunnerMissing`."""
        with scratch_folder(self.transport) as folder:
            self.transport.push(SCRIPT, f"{folder}/on_device.py")
            said = self._probe(folder)
        if "missing" in said:
            raise RunnerMissing(
                f"The device's {self.python} cannot run context binaries ({said['missing']}). Install the packages "
                f"there: {self.python} -m pip install onnxruntime onnxruntime-qnn numpy."
            )
        timing = Timing.MEASURED if said["is_npu"] else Timing.EMULATED
        return Runtime("onnxruntime-qnn", said["version"], said["build_id"], timing)

    def _probe(self, folder: str) -> dict[str, Any]:
        ended = self.transport.run(
            [self.python, f"{folder}/on_device.py", "probe"], folder=folder, timeout_s=PROBE_TIMEOUT_S
        )
        try:
            said: dict[str, Any] = json.loads(ended.stdout.strip().rpartition("\n")[2])
        except ValueError:
            if ended.exit_code in (126, 127):
                return {"missing": f"there is no {self.python}"}
            return {"missing": (ended.stderr.strip().rpartition("\n")[2] or f"exit code {ended.exit_code}")[:200]}
        return said

    def run(self, job: Job, runtime: Runtime) -> Block:
        """One process on the device. Raises `RunFailed`, and what the transport raises."""
        with scratch_folder(self.transport) as folder, tempfile.TemporaryDirectory(prefix="block-") as here:
            self._send(job, folder, Path(here))
            ended = self.transport.run(
                [self.python, "on_device.py", "run"],
                folder=folder,
                stdin=json.dumps(_said_to_device(job)).encode(),
                timeout_s=job.settings.timeout_s,
                cancelled=job.cancelled,
            )
            if ended.exit_code != 0:
                raise failure_of(ended, job.info, runtime)
            return self._block(job, runtime, folder, Path(here), ended)

    def _send(self, job: Job, folder: str, here: Path) -> None:
        if job.inputs:
            # Refused here, in words, rather than by a traceback on the device.
            stored_inputs(job.info, job.inputs)
        write_wrapper(job.info, "context.bin", here / "model.onnx")
        self.transport.push(SCRIPT, f"{folder}/on_device.py")
        self.transport.push(here / "model.onnx", f"{folder}/model.onnx")
        self.transport.push(job.binary, f"{folder}/context.bin")
        if job.inputs:
            self.transport.push(job.inputs, f"{folder}/inputs.npz")

    def _block(self, job: Job, runtime: Runtime, folder: str, here: Path, ended: CommandResult) -> Block:
        self.transport.pull(f"{folder}/result.json", here / "result.json", limit_bytes=LARGEST_RESULT_BYTES)
        self.transport.pull(f"{folder}/profile.csv", here / "profile.csv", limit_bytes=LARGEST_PROFILE_BYTES)
        if job.outputs:
            self.transport.pull(f"{folder}/outputs.npz", job.outputs, limit_bytes=LARGEST_OUTPUT_BYTES)
        told = json.loads((here / "result.json").read_text())
        try:
            profile = parse_profile((here / "profile.csv").read_bytes()).after(told["first"])
            event, samples = profile.headline()
        except NotAProfile as error:
            raise RunFailed(str(error), ended.stderr) from None
        return Block(
            samples_us=samples,
            event=event,
            timing=runtime.timing,
            other_us={WALL: tuple(told["wall_us"][told["first"] :]), **profile.others(event)},
            counters=profile.counters(),
            load_us=profile.load_us or told["load_us"],
            wall_us=ended.wall_us,
            log=ended.stderr,
        )


def _said_to_device(job: Job) -> dict[str, Any]:
    settings = job.settings
    return {
        "model": "model.onnx",
        "inputs": "inputs.npz" if job.inputs else None,
        "outputs": "outputs.npz" if job.outputs else None,
        "profile": "profile.csv",
        "runs": settings.runs,
        "warmup_runs": settings.warmup_runs,
        "warmup_s": settings.warmup_s,
        "perf_profile": settings.perf_profile,
        "profiling_level": settings.profiling_level,
        "log_level": settings.log_level,
        "seed": settings.seed,
    }
