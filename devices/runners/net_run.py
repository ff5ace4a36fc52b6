"""`qnn-net-run` of a QAIRT SDK, pushed to the device with the libraries of its DSP arch. For Android and Linux.

Written after the tool's published options; tried with a stand-in written by hand only, not yet with an SDK on a phone.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy

from devices.runners.base import Block, Job, RunFailed, RunnerMissing, RunSettings, Runtime, Timing
from devices.runners.failures import failure_of
from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.qhas import Qhas
from devices.runners.sdk import BACKEND, EXTENSIONS, NET_RUN, X86, Sdk
from devices.runners.tensors import (
    input_list,
    output_file,
    read_raw,
    seeded_inputs,
    stored_inputs,
    write_raw_inputs,
)
from devices.runners.viewer import checked_schematic, read_log, read_trace
from devices.targets import DspArch
from devices.transports.base import SCRATCH_PREFIX, CommandResult, Transport, scratch_folder
from devices.transports.errors import FileMissing, FileRefused

NAME = "qnn-net-run"
LOG = "qnn-profiling-data_0.log"
LARGEST_LOG_BYTES = 256 * 1024 * 1024
LARGEST_OUTPUT_BYTES = 1024 * 1024 * 1024
# The tool cannot measure first and choose then.
RUNS = 50
ASK = "uname -m; if command -v getprop >/dev/null 2>&1; then echo android; fi"
VENDOR_LIBRARIES = "/vendor/lib64"
# The DSP's own loader takes semicolons, and the first copy that it finds.
VENDOR_DSP = ("/vendor/dsp/cdsp", "/vendor/lib/rfsa/adsp", "/system/lib/rfsa/adsp", "/dsp")
VERSION = re.compile(r"v(\d+\.\d+\.\d+)")
# These keep the clocks up, and let the CPU wait for the DSP in a loop.
POLLING = {"burst", "sustained_high_performance", "high_performance"}
POLLING_TIME_US, SLEEP_LATENCY_US = 9999, 100


# The library is found by LD_LIBRARY_PATH.
OUTER = {"backend_extensions": {"shared_library_path": EXTENSIONS, "config_file_path": "htp.json"}}


class Place(NamedTuple):
    """Where the program and its libraries are on the device. `target` is the SDK's word for the system."""

    target: str
    folder: str


@dataclass(frozen=True)
class NetRunRunner:
    transport: Transport
    sdk: Sdk
    dsp_arch: DspArch

    def find(self) -> Runtime:
        """What the SDK would bring. Raises `RunnerMissing`, and what the transport raises."""
        target = self._target()
        self.sdk.files_for(target, self.dsp_arch)
        self.sdk.viewer()
        build_id = self.sdk.build_id(target)
        version = VERSION.match(build_id)
        timing = Timing.EMULATED if target == X86 else Timing.MEASURED
        return Runtime(NAME, version[1] if version else "", build_id, timing)

    def run(self, job: Job, runtime: Runtime) -> Block:
        """One process on the device. Raises `RunFailed`, and what the transport raises."""
        settings = job.settings
        runs = settings.runs or RUNS
        options = ["--profiling_level", settings.profiling_level]
        options += ["--num_inferences", str(settings.warmup_runs + runs), "--keep_num_outputs", "1"]
        with tempfile.TemporaryDirectory(prefix="block-") as here:
            ended = self._run(job, runtime, Path(here), options)
            profile = read_log(self.sdk, Path(here) / LOG).after(settings.warmup_runs)
        try:
            event, samples = profile.headline()
        except NotAProfile as error:
            raise RunFailed(str(error), ended.stderr) from None
        return Block(
            samples_us=samples,
            event=event,
            timing=runtime.timing,
            other_us=profile.others(event),
            counters=profile.counters(),
            load_us=profile.load_us,
            wall_us=ended.wall_us,
            log=ended.stderr,
        )

    def trace(self, job: Job, runtime: Runtime, schematic: Path | None) -> Qhas:
        """Time and DRAM traffic of one traced inference. The binary and its schematic come of one compile with optrace.

        Raises `RunFailed`, and what the transport raises.
        """
        belongs = checked_schematic(schematic)
        options = ["--profiling_level", "detailed", "--profiling_option", "optrace", "--num_inferences", "1"]
        with tempfile.TemporaryDirectory(prefix="trace-") as here:
            self._run(replace(job, outputs=None), runtime, Path(here), options)
            return read_trace(self.sdk, Path(here) / LOG, belongs)

    def _run(self, job: Job, runtime: Runtime, here: Path, options: list[str]) -> CommandResult:
        place = self._install()
        with scratch_folder(self.transport) as folder:
            self._send(job, place, folder, here)
            ended = self.transport.run(
                [f"{place.folder}/{NET_RUN}", *_arguments(place, job.settings), *options],
                folder=folder,
                environment=_environment(place),
                timeout_s=job.settings.timeout_s,
                cancelled=job.cancelled,
            )
            if ended.exit_code != 0:
                raise failure_of(ended, job.info, runtime)
            self._fetch_log(folder, here, ended)
            if job.outputs:
                self._fetch_outputs(job, folder, here)
        return ended

    def _target(self) -> str:
        told = self.transport.run(["sh", "-c", ASK]).stdout.split()
        return self.sdk.target_for(told[0] if told else "", is_android="android" in told[1:])

    def _install(self) -> Place:
        """Into a folder that stays while the device is held: the libraries are large, and each is sent once."""
        target = self._target()
        parent = self.transport.scratch_parent()
        folder = f"{parent}/{SCRATCH_PREFIX}{self.transport.owner}.{self.sdk.build_id(target)}-{self.dsp_arch}"
        made = self.transport.run(["mkdir", "-p", folder])
        if made.exit_code != 0:
            raise FileRefused(f"{folder} cannot be made on the device ({made.stderr.strip()[:200]}).")
        for name, path in self.sdk.files_for(target, self.dsp_arch).items():
            self.transport.push(path, f"{folder}/{name}")
        if self.transport.run(["chmod", "755", f"{folder}/{NET_RUN}"]).exit_code != 0:
            raise RunnerMissing(f"The device does not let {folder}/{NET_RUN} be run.")
        return Place(target, folder)

    def _send(self, job: Job, place: Place, folder: str, here: Path) -> None:
        arrays = stored_inputs(job.info, job.inputs) if job.inputs else seeded_inputs(job.info, job.settings.seed)
        raw = write_raw_inputs(job.info, arrays, here)
        (here / "input_list.txt").write_text(input_list(job.info, [file.name for file in raw]))
        (here / "outer.json").write_text(json.dumps(OUTER))
        (here / "htp.json").write_text(json.dumps(_inner(job.settings)))
        for file in (*raw, here / "input_list.txt", here / "outer.json", here / "htp.json"):
            self.transport.push(file, f"{folder}/{file.name}")
        self.transport.push(job.binary, f"{folder}/context.bin")

    def _fetch_log(self, folder: str, here: Path, ended: CommandResult) -> None:
        try:
            self.transport.pull(f"{folder}/out/{LOG}", here / LOG, limit_bytes=LARGEST_LOG_BYTES)
        except FileMissing:
            raise RunFailed("The run ended well and wrote no profile.", f"{ended.stdout}\n{ended.stderr}") from None

    def _fetch_outputs(self, job: Job, folder: str, here: Path) -> None:
        assert job.outputs
        written = self.transport.run(["ls", "-1", f"{folder}/out/Result_0"]).stdout.splitlines()
        arrays = {}
        for tensor in job.info.outputs:
            name = output_file(tensor, [name for name in written if name.endswith(".raw")])
            self.transport.pull(f"{folder}/out/Result_0/{name}", here / "output", limit_bytes=LARGEST_OUTPUT_BYTES)
            arrays[tensor.name] = read_raw(tensor, here / "output")
        numpy.savez(job.outputs, **arrays)


def _arguments(place: Place, settings: RunSettings) -> list[str]:
    return [
        *("--retrieve_context", "context.bin"),
        *("--backend", f"{place.folder}/{BACKEND}"),
        *("--input_list", "input_list.txt"),
        *("--config_file", "outer.json"),
        *("--output_dir", "out"),
        *("--log_level", settings.log_level),
        "--use_native_input_files",
        "--use_native_output_files",
    ]


def _environment(place: Place) -> dict[str, str]:
    if place.target == X86:
        return {"LD_LIBRARY_PATH": place.folder}
    return {
        "LD_LIBRARY_PATH": f"{place.folder}:{VENDOR_LIBRARIES}",
        "ADSP_LIBRARY_PATH": ";".join((place.folder, *VENDOR_DSP)),
    }


def _inner(settings: RunSettings) -> dict[str, object]:
    core: dict[str, object] = {"core_id": 0, "perf_profile": settings.perf_profile}
    if settings.perf_profile in POLLING:
        core |= {"rpc_control_latency": SLEEP_LATENCY_US, "rpc_polling_time": POLLING_TIME_US}
    return {"devices": [{"device_id": 0, "pd_session": "unsigned", "cores": [core]}]}
