from __future__ import annotations

import pytest

from devices.runners.base import BinaryInfo, Runtime, Timing
from devices.runners.failures import explained, failure_of
from devices.transports.base import CommandResult

INFO = BinaryInfo("g", (), (), soc_model=57, dsp_arch=75, build_id="v2.51.0.260929181845")
RUNTIME = Runtime("onnxruntime-qnn", "2.3.0", "v2.47.0.260601114230", Timing.MEASURED)
DENIED = 'avc: denied { read } for comm="app" name="version" dev="sysfs" permissive=0'


def failed(log: str = "", exit_code: int = 1) -> str:
    return failure_of(CommandResult(exit_code, "", log, 1000), INFO, RUNTIME).message


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            "Stub lib id mismatch: expected (v2.28.0), detected (v2.25.0)\nerror code 1008",
            "v2.28.0 was expected and v2.25.0 was found, most likely the copy in /vendor",
        ),
        ("Failed to create context from binary: error 5000", "older than the binary"),
        ("Could not create context from binary with err 0x1388", "older than the binary"),
        ("QNN_CONTEXT_ERROR_CREATE_FROM_BINARY: Failure to create context from binary", "several cores"),
        ("context create failed, err 5005", "cannot give the binary the VTCM"),
        ("Failed to allocate VTCM of 8388608 bytes\nerr 5000", "cannot give the binary the VTCM"),
        ("device create failed: 14001", "library of its arch is missing"),
        ("error 30010", "damaged, or no context binary"),
        ("remote_handle64_open failed 0x80000600", "older library from /vendor"),
        ("undefined symbol qnn_2_49_0_skel_handle_invoke", "older library from /vendor"),
        ("transportStatus: 9", "not signed"),
        ("Failed to find available PD for contextId 1 context size estimate 3652345600", "signed process"),
        ("graph execute error: 1007", "NPU restarted"),
        ("err 1008", "of different versions"),
    ],
)
def test_codes_and_phrases_are_explained(log: str, words: str) -> None:
    assert words in explained(log)


@pytest.mark.parametrize(
    "log",
    [
        DENIED,
        "all is well",
        "took 5000 us",
        "wrote 14001 bytes",
        "at 0x138800",
        "v2.1007.5",
        "VTCM is 8 MB",
        "id 150005",
    ],
)
def test_what_explains_nothing_is_no_reason(log: str) -> None:
    assert explained(log) == ""


def test_a_denial_is_not_taken_for_the_reason() -> None:
    assert "library of its arch" in failed(f"{DENIED}\ndevice create failed: 14001")


def test_versions_of_both_sides_stand_beside_a_mismatch() -> None:
    assert failed("error 5000").endswith(
        "The binary is for SM8650 (v75) by QNN v2.51.0.260929181845; the device has QNN v2.47.0.260601114230."
    )


def test_a_kill_from_outside_hints_at_memory() -> None:
    assert "memory ran out" in failed(exit_code=137)


def test_an_unknown_failure_shows_its_last_line() -> None:
    assert failed("first\nlast line") == "The run ended with exit code 1: 'last line'"
