"""Runs on the device: the standard library, numpy and ONNX Runtime with its QNN provider. One process for each block.

`probe` prints what is there; `run` reads a job from stdin and writes `result.json` into the working directory.
"""

from __future__ import annotations

import glob
import importlib.metadata
import json
import math
import os
import platform
import re
import statistics
import sys
import time
from typing import Any

PROVIDER = "QNNExecutionProvider"
BUILD = re.compile(rb"v2\.\d{1,3}\.\d{1,3}\.\d{12}")
BLOCK_US = 500_000.0
LEAST_RUNS, MOST_RUNS, MOST_WARM_UPS = 20, 200, 1000
SEVERITIES = {"verbose": 0, "info": 1, "warn": 2, "error": 3}
TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(uint8)": "uint8",
    "tensor(int8)": "int8",
    "tensor(uint16)": "uint16",
    "tensor(int16)": "int16",
    "tensor(uint32)": "uint32",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}


def libraries() -> str:
    import onnxruntime_qnn

    return os.path.dirname(str(onnxruntime_qnn.__file__))


def found(name: str) -> str:
    matches = glob.glob(os.path.join(libraries(), "**", name), recursive=True)
    if not matches:
        raise FileNotFoundError(f"{name} is not in {libraries()}")
    return matches[0]


def library(stem: str) -> str:
    return f"{stem}.dll" if os.name == "nt" else f"lib{stem}.so"


def build_id() -> str:
    with open(found(library("QnnHtp")), "rb") as file:
        match = BUILD.search(file.read())
    return match[0].decode() if match else ""


def provider_devices(onnxruntime: Any) -> list[Any]:
    show_the_dsp_its_libraries()
    onnxruntime.register_execution_provider_library(PROVIDER, found(library("onnxruntime_providers_qnn")))
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == PROVIDER]


def show_the_dsp_its_libraries() -> None:
    """Ours come first: an older copy in /vendor does not fit. Semicolons, unlike in every other path."""
    folders = sorted({os.path.dirname(path) for path in glob.glob(f"{libraries()}/**/lib*Skel.so", recursive=True)})
    if folders and os.name != "nt":
        others = os.environ.get("ADSP_LIBRARY_PATH", "")
        os.environ["ADSP_LIBRARY_PATH"] = ";".join([*folders, *([others] if others else [])])


def is_npu(devices: list[Any]) -> bool:
    """An x86 machine emulates: its provider device is the CPU."""
    arm = platform.machine().lower() in ("aarch64", "arm64")
    return arm and any(str(device.device.type).endswith("NPU") for device in devices)


def probe() -> None:
    try:
        import numpy  # noqa: F401
        import onnxruntime

        devices = provider_devices(onnxruntime)
        said = {
            "onnxruntime": onnxruntime.__version__,
            "version": importlib.metadata.version("onnxruntime-qnn"),
            "build_id": build_id(),
            "is_npu": is_npu(devices),
        }
    except Exception as error:
        said = {"missing": f"{type(error).__name__}: {error}"}
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), **said}))


def session_of(onnxruntime: Any, job: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = SEVERITIES[job["log_level"]]
    devices = provider_devices(onnxruntime)
    settings = {"backend_path": found(library("QnnHtp")), "htp_performance_mode": job["perf_profile"]}
    if job["profile"]:
        settings |= {"profiling_level": job["profiling_level"], "profiling_file_path": job["profile"]}
    options.add_provider_for_devices(devices[:1], settings)
    return onnxruntime.InferenceSession(job["model"], sess_options=options)


def inputs_of(session: Any, job: dict[str, Any]) -> dict[str, Any]:
    import numpy

    if job["inputs"]:
        with numpy.load(job["inputs"], allow_pickle=False) as stored:
            return {each.name: stored[each.name] for each in session.get_inputs()}
    random = numpy.random.default_rng(job["seed"])
    return {each.name: random_values(numpy, random, TYPES[each.type], each.shape) for each in session.get_inputs()}


def random_values(numpy: Any, random: Any, kind: str, shape: Any) -> Any:
    """Floats are in [0, 1); whole numbers take the range of their type, the wide ones only what 16 bits hold."""
    dtype = numpy.dtype(kind)
    if dtype.kind == "f":
        return random.random(shape, dtype="float32").astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    top = min(numpy.iinfo(dtype).max, 2**16 - 1)
    return random.integers(0, top, shape, endpoint=True).astype(dtype)


class Clock:
    """Wall times of all inferences, and which of them is the first that counts."""

    def __init__(self, once: Any) -> None:
        self._once = once
        self.wall_us: list[float] = []
        self.outputs: list[Any] = []
        self.first = 0

    def measure(self, job: dict[str, Any]) -> None:
        while self._is_cold(job):
            self._run()
        self.first = len(self.wall_us)
        for _ in range(job["runs"] or self._runs()):
            self._run()

    def _is_cold(self, job: dict[str, Any]) -> bool:
        done, least = len(self.wall_us), job["warmup_runs"]
        too_short = least > 0 and sum(self.wall_us) < 1e6 * job["warmup_s"] and done < MOST_WARM_UPS
        return done < least or too_short

    def _runs(self) -> int:
        if not self.wall_us:
            return LEAST_RUNS
        return max(LEAST_RUNS, min(MOST_RUNS, math.ceil(BLOCK_US / statistics.median(self.wall_us))))

    def _run(self) -> None:
        before = time.perf_counter()
        self.outputs = self._once()
        self.wall_us.append(1e6 * (time.perf_counter() - before))


def measured(job: dict[str, Any]) -> dict[str, Any]:
    """Microseconds. The profile is whole only when the session is gone, which it is when this returns."""
    import numpy
    import onnxruntime

    started = time.perf_counter()
    session: Any = session_of(onnxruntime, job)
    load_us = 1e6 * (time.perf_counter() - started)
    feeds = inputs_of(session, job)
    clock = Clock(lambda: session.run(None, feeds))
    clock.measure(job)
    if job["outputs"]:
        names = [each.name for each in session.get_outputs()]
        numpy.savez(job["outputs"], **dict(zip(names, clock.outputs, strict=True)))
    return {"load_us": load_us, "wall_us": clock.wall_us, "first": clock.first}


def run() -> None:
    told = measured(json.load(sys.stdin))
    with open("result.json", "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    probe() if sys.argv[1] == "probe" else run()
    sys.stdout.flush()
    # Native destructors may crash after the work is done.
    os._exit(0)
