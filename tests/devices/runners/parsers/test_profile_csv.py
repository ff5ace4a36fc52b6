"""Profiles as CSV: recorded ones of ONNX Runtime's QNN provider, and `qnn-profile-viewer`'s made by hand."""

from __future__ import annotations

import pytest

from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.profile_csv import parse_profile_csv
from tests.conftest import DATA

ORT_BASIC = (DATA / "profiles" / "ort_basic.csv").read_text()
ORT_DETAILED = (DATA / "profiles" / "ort_detailed.csv").read_text()
VIEWER = (DATA / "profiles" / "viewer.csv").read_text()
HEADER = ORT_BASIC.splitlines()[0]
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
    assert parse_profile_csv(ORT_BASIC).of("QNN (execute) time") == (1258170.0, 627831.0)


def test_the_headline_is_the_event_closest_to_the_npu() -> None:
    assert parse_profile_csv(ORT_BASIC).headline() == ("Accelerator (execute) time", (1258132.0, 627800.0))


def test_the_detailed_level_has_the_same_headline() -> None:
    assert parse_profile_csv(ORT_DETAILED).headline() == ("Accelerator (execute) time", (760304.0, 463757.0))


def test_loading_is_told_apart() -> None:
    assert parse_profile_csv(ORT_BASIC).load_us == 4425.0


def test_counts_are_counts() -> None:
    assert parse_profile_csv(ORT_DETAILED).counters() == {
        "Num times yield occured": (0, 0),
        "Number of HVX threads used": (0, 0),
    }


def test_cycles_are_no_times() -> None:
    assert not [event for event in parse_profile_csv(ORT_DETAILED).others("") if "cycles" in event]


def test_the_warm_up_is_left_out() -> None:
    assert parse_profile_csv(ORT_BASIC).after(1).headline()[1] == (627800.0,)


def test_finalizing_is_no_inference() -> None:
    assert parse_profile_csv(WITH_FINALIZE).headline()[1] == (1359.0, 982.0)


def test_rows_without_a_number_are_counted_and_left_out() -> None:
    assert parse_profile_csv(WITH_FINALIZE).skipped_rows == 1


def test_a_column_after_the_event_is_none_of_its_name() -> None:
    lines = [f"{line},{'Source Node' if line == HEADER else 'conv_a'}" for line in ORT_BASIC.splitlines()]
    assert parse_profile_csv("\n".join(lines)).headline() == ("Accelerator (execute) time", (1258132.0, 627800.0))


def test_columns_are_found_by_name_in_any_order() -> None:
    rows = [line.split(",") for line in ORT_BASIC.splitlines()]
    turned = "\n".join(",".join(reversed(row)) for row in rows)
    assert parse_profile_csv(turned).headline()[1] == (1258132.0, 627800.0)


def test_an_event_that_is_missing_in_one_inference_is_no_headline() -> None:
    lines = ORT_BASIC.splitlines()
    text = "\n".join(lines[:6] + lines[8:])
    assert parse_profile_csv(text).headline()[0] == "QNN (execute) time"


@pytest.mark.parametrize("time", ["nan", "inf", "-1", "", "UNKNOWN"])
def test_what_is_no_time_is_no_sample(time: str) -> None:
    assert parse_profile_csv(f"{HEADER}\n0,EXECUTE,{time},US,BACKEND,ROOT,QNN (execute) time\n").inferences == ()


@pytest.mark.parametrize("text", ["", "\x00\x01binary", "a,b\n1,2\n"])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(NotAProfile, match="not a profile"):
        parse_profile_csv(text)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(NotAProfile, match="lacks the columns Time"):
        parse_profile_csv(ORT_BASIC.replace(",Time,", ",Duration,", 1))


def test_a_profile_without_inferences_gives_no_zeros() -> None:
    with pytest.raises(NotAProfile, match="no time of an inference"):
        parse_profile_csv(HEADER + "\n").headline()


def test_the_viewers_header_is_found_after_its_preamble() -> None:
    assert parse_profile_csv(VIEWER).headline() == ("QNN accelerator (execute) time", (1100.0, 1090.0))


def test_the_viewers_inferences_have_the_time_of_the_whole_call() -> None:
    assert parse_profile_csv(VIEWER).of("NetRun") == (1450.0, 1420.0)


def test_the_viewers_load_time_is_that_of_the_outermost_layer() -> None:
    assert parse_profile_csv(VIEWER).load_us == 38500.0


def test_inferences_per_second_are_no_inference() -> None:
    assert len(parse_profile_csv(VIEWER).inferences) == 2


def test_the_viewers_csv_of_a_log_without_net_run_ends_inferences_like_the_providers() -> None:
    text = "\n".join(line for line in VIEWER.splitlines() if ",NETRUN," not in line)
    assert parse_profile_csv(text).headline()[1] == (1100.0, 1090.0)
