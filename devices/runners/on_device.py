"""Runs on the device: the standard library, numpy and ONNX Runtime with its QNN provider. One process for each block.

`probe` prints what is there; `run` reads a job from stdin and writes `result.json` into the working directory.
"""

from __future__ import annotations

import glob
import importlib.metadata
import json
import os
import platform
import re
import sys
import time
from typing import Any

PROVIDER = "QNNExecutionProvider"
BUILD = re.compile(rb"v2\.\d{1,3}\.\d{1,3}\.\d{12}")
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
    onnxruntime.register_execution_provider_library(PROVIDER, found(library("onnxruntime_providers_qnn")))
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == PROVIDER]


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
    options.log_severity_level = 3
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
    return {each.name: random_values(numpy, random, each) for each in session.get_inputs()}


def random_values(numpy: Any, random: Any, tensor: Any) -> Any:
    kind = numpy.dtype(TYPES[tensor.type])
    if kind.kind == "f":
        return random.random(tensor.shape, dtype="float32").astype(kind)
    if kind.kind == "b":
        return random.integers(0, 2, tensor.shape).astype(kind)
    top = min(numpy.iinfo(kind).max, 2**16 - 1)
    return random.integers(0, top, tensor.shape, endpoint=True).astype(kind)


def run() -> None:
    job = json.load(sys.stdin)
    import numpy
    import onnxruntime

    started = time.perf_counter()
    session: Any = session_of(onnxruntime, job)
    load_us = 1e6 * (time.perf_counter() - started)
    feeds = inputs_of(session, job)
    wall_us: list[float] = []
    outputs: list[Any] = []
    for _ in range(job["warmup_runs"] + job["runs"]):
        before = time.perf_counter()
        outputs = session.run(None, feeds)
        wall_us.append(1e6 * (time.perf_counter() - before))
    names = [each.name for each in session.get_outputs()]
    # The profile is whole only when the session is gone.
    del session
    if job["outputs"]:
        numpy.savez(job["outputs"], **dict(zip(names, outputs, strict=True)))
    with open("result.json", "w") as file:
        json.dump({"load_us": load_us, "wall_us": wall_us}, file)


if __name__ == "__main__":
    probe() if sys.argv[1] == "probe" else run()
    sys.stdout.flush()
    # Native destructors may crash after the work is done.
    os._exit(0)
