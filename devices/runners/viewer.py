"""`qnn-profile-viewer` of an SDK, run on this machine on the log that `qnn-net-run` wrote on the device."""

from __future__ import annotations

import json
import os
from pathlib import Path

from devices.runners.base import RunFailed, RunnerMissing
from devices.runners.parsers.profile import NotAProfile, Profile
from devices.runners.parsers.qhas import Qhas, parse_qhas
from devices.runners.parsers.recognition import parse_profile
from devices.runners.sdk import Sdk
from devices.transports.processes import run_process

TIMEOUT_S = 300.0
OPTRACE_READER = "libQnnHtpOptraceProfilingReader.so"
QHAS_AS_JSON = {"features": {"qhas_schema": True, "qhas_json": True}}
NO_SCHEMATIC = (
    "A QHAS summary needs the *_schematic.bin that belongs to this binary, and there is none. Compile the binary with "
    "optrace, which writes it."
)


def read_log(sdk: Sdk, log: Path) -> Profile:
    """Every inference of the log; beside it a .csv is made. Raises `RunFailed`, `RunnerMissing`."""
    table = log.with_suffix(".csv")
    _view(sdk, log, ["--output", str(table)])
    try:
        return parse_profile(_made(table))
    except NotAProfile as error:
        raise RunFailed(f"qnn-profile-viewer made nothing that can be read. {error}") from None


def checked_schematic(schematic: Path | None) -> Path:
    """Raises `RunFailed`, which is better known before a trace is made than after."""
    if schematic is None or not schematic.is_file():
        raise RunFailed(NO_SCHEMATIC)
    return schematic


def read_trace(sdk: Sdk, log: Path, schematic: Path) -> Qhas:
    """Of a run with optrace. Raises `RunFailed`, `RunnerMissing`."""
    settings = log.with_name("viewer.json")
    settings.write_text(json.dumps(QHAS_AS_JSON))
    trace = log.with_name("trace.json")
    reader = str(sdk.viewer_library(OPTRACE_READER))
    options = ["--schematic", str(schematic), "--reader", reader, "--output", str(trace), "--config", str(settings)]
    _view(sdk, log, options)
    try:
        return parse_qhas(_made(trace.with_name("trace_qnn_htp_analysis_summary.json")).decode(errors="replace"))
    except NotAProfile as error:
        raise RunFailed(f"qnn-profile-viewer made no summary that can be read. {error}") from None


def _view(sdk: Sdk, log: Path, options: list[str]) -> None:
    if log.stat().st_size == 0:
        raise RunFailed("The profile of the run is empty, as it is when a run failed on its way.")
    # The tool refuses symbolic links.
    argv = [str(sdk.viewer()), "--input_log", str(log.resolve()), *options]
    libraries = str(sdk.viewer().parents[2] / "lib" / sdk.viewer().parent.name)
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LD_LIBRARY_PATH": libraries}
    try:
        ended = run_process(argv, environment=environment, folder=str(log.parent), timeout_s=TIMEOUT_S)
    except OSError as error:
        raise RunnerMissing(f"{argv[0]} cannot be started on this server: {error.strerror}.") from None
    if ended.why or ended.exit_code != 0:
        words = f"{ended.stdout}\n{ended.stderr}"
        reason = "took too long" if ended.why else f"ended with exit code {ended.exit_code}"
        last = words.strip().rpartition("\n")[2][:200]
        raise RunFailed(f"qnn-profile-viewer {reason} on the profile of the run: {last or 'it said nothing'}.", words)


def _made(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise RunFailed(f"qnn-profile-viewer ended well and made no {path.name}.") from None
