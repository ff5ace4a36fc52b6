"""Profiles of ONNX Runtime's QNN provider. `ORT_BASIC` was written by the package 2.7.0 (QNN v2.51.0.260929181845)."""

from __future__ import annotations

import pytest

from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.profile_csv import parse_profile_csv

HEADER = "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier"
ORT_BASIC = f"""{HEADER}
0,BACKEND,1219,US,BACKEND,ROOT,Accelerator (load binary) time
0,INIT,4528,US,BACKEND,ROOT,QNN (load binary) time
0,BACKEND,0,COUNT,BACKEND,ROOT,Number of HVX threads used
0,BACKEND,449536,US,BACKEND,ROOT,Accelerator (execute) time
0,EXECUTE,449587,US,BACKEND,ROOT,QNN (execute) time
0,BACKEND,0,COUNT,BACKEND,ROOT,Number of HVX threads used
0,BACKEND,472497,US,BACKEND,ROOT,Accelerator (execute) time
0,EXECUTE,472551,US,BACKEND,ROOT,QNN (execute) time
"""
WITH_FINALIZE = f"""{HEADER}
0,FINALIZE,500000,US,BACKEND,ROOT,QNN (finalize) time
0,BACKEND,499000,US,BACKEND,ROOT,Accelerator (finalize) time
0,UNKNOWN,UNKNOWN,OBJECT,BACKEND,ROOT,trace
0,BACKEND,1359,US,BACKEND,ROOT,Accelerator (execute) time
0,NODE,25100,CYCLES,BACKEND,SUB-EVENT,/stem/conv:OpId_16 (cycles)
0,NODE,900,CYCLES,BACKEND,SUB-EVENT,"a, b:OpId_17 (cycles)"
0,NODE,900,CYCLES,BACKEND,SUB-EVENT,c, d:OpId_18 (cycles)
0,EXECUTE,1400,US,BACKEND,ROOT,QNN (execute) time
0,BACKEND,982,US,BACKEND,ROOT,Accelerator (execute) time
0,EXECUTE,1020,US,BACKEND,ROOT,QNN (execute) time
"""


def test_each_inference_has_its_times() -> None:
    assert parse_profile_csv(ORT_BASIC).of("QNN (execute) time") == (449587.0, 472551.0)


def test_the_headline_is_the_event_closest_to_the_npu() -> None:
    assert parse_profile_csv(ORT_BASIC).headline() == ("Accelerator (execute) time", (449536.0, 472497.0))


def test_loading_is_told_apart() -> None:
    assert parse_profile_csv(ORT_BASIC).load_us == 4528.0


def test_counts_are_counts() -> None:
    assert parse_profile_csv(ORT_BASIC).counts == ({"Number of HVX threads used": 0},) * 2


def test_finalizing_is_no_inference() -> None:
    assert parse_profile_csv(WITH_FINALIZE).headline()[1] == (1359.0, 982.0)


def test_rows_without_a_number_are_counted_and_left_out() -> None:
    assert parse_profile_csv(WITH_FINALIZE).skipped_rows == 1


def test_the_header_is_found_after_a_preamble_and_its_names_are_trimmed() -> None:
    text = "Log: x\n\nTime Scale: 1e-06\n\n" + ORT_BASIC.replace(HEADER, HEADER.replace(",", ", "))
    assert parse_profile_csv(text).headline()[1] == (449536.0, 472497.0)


def test_an_event_that_is_missing_in_one_inference_is_no_headline() -> None:
    lines = ORT_BASIC.splitlines()
    text = "\n".join(lines[:6] + lines[8:])
    assert parse_profile_csv(text).headline()[0] == "QNN (execute) time"


@pytest.mark.parametrize("text", ["", "\x00\x01binary", "a,b\n1,2\n"])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(NotAProfile, match="not a profile"):
        parse_profile_csv(text)


def test_a_profile_without_inferences_gives_no_zeros() -> None:
    with pytest.raises(NotAProfile, match="no time of an inference"):
        parse_profile_csv(HEADER + "\n").headline()
