"""What runs in the compile child: one native call order from a DLC to a context binary and what it says.

Standard library only. Options arrive as plain numbers (`options.py` makes them); answers leave as plain JSON.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sweeps.toolchain.qnn import abi
from sweeps.toolchain.qnn.context import context_json, graph_json
from sweeps.toolchain.qnn.ddr import ddr_summaries
from sweeps.toolchain.qnn.library import (
    LOG_LEVEL_INFO,
    CallFailed,
    Functions,
    Libraries,
    LibraryMissing,
    NativeLog,
    UnsupportedVersion,
)
from sweeps.toolchain.qnn.profile import finalize_events
from sweeps.toolchain.qnn.schedule import read_schedule
from tunerweb.work.inside import report_phase

Json = dict[str, Any]
DLC_FILE = "model.dlc"
BINARY_FILE = "context.bin"
SCHEDULE_FILE = "schedule-{index}.json"
P_TRACE = re.compile(rb";P=(-?\d+);")
FAULTS = {"crash": signal.SIGSEGV, "abort": signal.SIGABRT, "kill": signal.SIGKILL}


def identify(job: Json) -> Json:
    """The build and the API versions of the libraries in `job["libraries"]`."""

    def work(libraries: Libraries, _log: NativeLog, _clock: Clock) -> Json:
        return {
            "build_id": libraries.build_id,
            "core_version": libraries.core_version,
            "backend_version": libraries.backend_version,
            "system_version": libraries.system_version,
        }

    return _answer(job, work)


def read_source(job: Json) -> Json:
    """The graphs of the DLC in the working directory, as the target's compiler composes them."""

    def work(libraries: Libraries, log: NativeLog, clock: Clock) -> Json:
        build_id = libraries.build_id
        composition = Composition(libraries, log, job, clock)
        return {"build_id": build_id, "graphs": [graph_json(graph) for graph in composition.graphs]}

    return _answer(job, work)


def read_context(job: Json) -> Json:
    """The info of the context binary in the working directory."""

    def work(libraries: Libraries, _log: NativeLog, _clock: Clock) -> Json:
        with open(BINARY_FILE, "rb") as file:
            binary = file.read()
        return {"context": _metadata(libraries, ctypes.create_string_buffer(binary, len(binary)), len(binary))}

    return _answer(job, work)


def compile_graphs(job: Json) -> Json:
    """Compile the DLC in the working directory and write the context binary beside it."""

    def work(libraries: Libraries, log: NativeLog, clock: Clock) -> Json:
        composition = Composition(libraries, log, job, clock)
        graphs = [composition.finalize(index) for index in range(len(composition.graphs))]
        return {
            "graphs": graphs,
            **_deliver(libraries, composition.context, clock),
            "traffic": ddr_summaries(log.messages),
        }

    return _answer(job, work)


def _answer(job: Json, work: Any) -> Json:
    """Turn the errors that have an explanation into an answer; everything else is a bug and stays an exception."""
    clock = Clock()
    log = NativeLog()
    try:
        with clock.step("load"):
            libraries = Libraries(job["libraries"])
        answer = work(libraries, log, clock)
    except CallFailed as failure:
        return {"failed": {"step": failure.step, "code": failure.code, "messages": log.messages}}
    except (LibraryMissing, UnsupportedVersion) as failure:
        return {"unusable": str(failure)}
    return {**answer, "steps_us": clock.steps_us}


class Clock:
    """Microseconds spent in each native step; their sum is what the compiler itself needs."""

    def __init__(self) -> None:
        self.steps_us: dict[str, int] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        report_phase(name)
        started = time.monotonic_ns()
        try:
            yield
        finally:
            self.steps_us[name] = self.steps_us.get(name, 0) + (time.monotonic_ns() - started) // 1000


class Composition:
    """The graphs of a DLC inside a fresh context of the target, ready to be finalized."""

    def __init__(self, libraries: Libraries, log: NativeLog, job: Json, clock: Clock) -> None:
        self.job, self.clock, self.functions = job, clock, libraries.backend
        self.kept: abi.Kept = []
        level = ctypes.c_int(LOG_LEVEL_INFO)
        with clock.step("create"):
            native_log = self.functions.create("logCreate", log.callback, level)
            system_log = libraries.system.create("logCreate", log.callback, level)
            self.backend = self.functions.create("backendCreate", native_log, ctypes.c_void_p())
            device = self.functions.create("deviceCreate", native_log, self._device_configs(libraries.layout))
            self.context = self.functions.create("contextCreate", self.backend, device, self._context_configs())
        _fault("compose")
        with clock.step("compose"):
            self.graphs = self._compose(libraries, system_log)

    def _device_configs(self, layout: abi.Layout) -> ctypes.c_void_p:
        soc = self.job["soc_model"].to_bytes(4, "little")
        address = abi.custom_option(0, soc, 24, self.kept, layout.device_union_offset)
        return ctypes.c_void_p(abi.config_list([address], self.kept))

    def _context_configs(self) -> ctypes.c_void_p:
        options = [
            abi.custom_option(option["id"], bytes.fromhex(option["payload"]), 24, self.kept)
            for option in self.job["context_options"]
        ]
        return ctypes.c_void_p(abi.config_list(options, self.kept))

    def _compose(self, libraries: Libraries, system_log: ctypes.c_void_p) -> list[abi.View]:
        dlc = libraries.system.create("dlcCreateFromFile", system_log, ctypes.c_char_p(DLC_FILE.encode()))
        graphs, count = ctypes.c_void_p(), ctypes.c_uint32()
        libraries.system.call(
            "dlcComposeGraphs",
            dlc,
            ctypes.c_void_p(),
            ctypes.c_uint32(0),
            self.backend,
            self.context,
            libraries.interface_by_value(),
            ctypes.c_int32(3),
            ctypes.pointer(graphs),
            ctypes.pointer(count),
        )
        first = graphs.value or 0
        return [abi.View(first + index * abi.GRAPH_INFO_BYTES) for index in range(count.value)]

    def finalize(self, index: int) -> Json:
        name = self.graphs[index].text(8)
        graph = self.functions.create("graphRetrieve", self.context, ctypes.c_char_p(name.encode()))
        schedule = SCHEDULE_FILE.format(index=index) if self.job["schedule"] else None
        options = [self._graph_option(option) for option in self.job["graph_options"].get(name, [])]
        if schedule:
            payload = abi.finalize_payload("sim_trace_final", schedule, self.kept)
            options.append(abi.custom_option(abi.OPTION_FINALIZE, payload, 56, self.kept))
        if options:
            self.functions.call("graphSetConfig", graph, ctypes.c_void_p(abi.config_list(options, self.kept)))
        profile = self.functions.create("profileCreate", self.backend, ctypes.c_uint32(abi.PROFILE_DETAILED))
        _fault("finalize")
        with self.clock.step("finalize"):
            self.functions.call("graphFinalize", graph, profile, ctypes.c_void_p())
        events = finalize_events(self.functions, profile)
        simulated = read_schedule(schedule) if schedule and os.path.exists(schedule) else None
        return {"graph_name": name, "events": events, "schedule": simulated}

    def _graph_option(self, option: Json) -> int:
        if "key" in option:
            payload = abi.finalize_payload(option["key"], option["value"], self.kept)
            return abi.custom_option(abi.OPTION_FINALIZE, payload, 56, self.kept)
        return abi.custom_option(option["id"], bytes.fromhex(option["payload"]), 56, self.kept)


def _deliver(libraries: Libraries, context: ctypes.c_void_p, clock: Clock) -> Json:
    with clock.step("get binary"):
        size = ctypes.c_uint64()
        libraries.backend.call("contextGetBinarySize", context, ctypes.pointer(size))
        buffer = ctypes.create_string_buffer(size.value)
        written = ctypes.c_uint64()
        libraries.backend.call(
            "contextGetBinary", context, ctypes.cast(buffer, ctypes.c_void_p), size, ctypes.pointer(written)
        )
    with clock.step("read info"):
        info = _metadata(libraries, buffer, written.value)
    binary = memoryview(buffer)[: written.value]
    with open(BINARY_FILE, "wb") as file:
        file.write(binary)
    return {
        "context": info,
        "sha256": hashlib.sha256(binary).hexdigest(),
        "file_bytes": written.value,
        "p_values": sorted({int(value) for value in P_TRACE.findall(binary)}),
    }


def _metadata(libraries: Libraries, buffer: Any, size: int) -> Json:
    functions: Functions = libraries.system
    handle = functions.create("contextCreate")
    info = functions.create("contextGetMetaData", handle, ctypes.cast(buffer, ctypes.c_void_p), ctypes.c_uint64(size))
    return context_json(abi.View(info.value or 0))


def _fault(point: str) -> None:
    """`TUNERWEB_FAULT=finalize:crash` makes the child misbehave here, for tests."""
    name, _, fault = os.environ.get("TUNERWEB_FAULT", "").partition(":")
    if name != point:
        return
    print(f"fault hook at {point}: {fault}", flush=True)
    if fault == "hang":
        signal.pause()
    elif fault == "spin":
        while True:
            pass
    elif fault == "grow":
        hoard = []
        while True:
            hoard.append(b"\1" * 2**24)
    elif fault in FAULTS:
        os.kill(os.getpid(), FAULTS[fault])
