from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.qhas import Qhas, parse_qhas
from tests.conftest import DATA

TEXT = (DATA / "profiles" / "qhas.json").read_text()


def changed(**values: Any) -> Qhas:
    """The summary with one row, some of its values being others or, for None, missing."""
    document = json.loads(TEXT)
    row = document["data"]["htp_overall_summary"]["data"][0]
    row |= values
    for name in [name for name, value in values.items() if value is None]:
        del row[name]
    return parse_qhas(json.dumps(document))


def of_two(**values: Any) -> Qhas:
    """Two rows, the second with other values."""
    document = json.loads(TEXT)
    table = document["data"]["htp_overall_summary"]["data"]
    table.append({**deepcopy(table[0]), **values})
    return parse_qhas(json.dumps(document))


def test_time_and_traffic_are_read() -> None:
    summary = parse_qhas(TEXT)
    assert (summary.time_us, summary.dram_bytes) == (1010.5, 1192960)


def test_the_source_is_named_beside_the_numbers() -> None:
    assert parse_qhas(TEXT).source == "QHAS measured"


def test_reads_and_writes_are_told_apart() -> None:
    htp = parse_qhas(TEXT).htps[0]
    assert (htp.dram_read_bytes, htp.dram_write_bytes, htp.peak_vtcm_bytes) == (1191936, 1024, 3145728)


def test_engines_are_named() -> None:
    assert [engine.name for engine in parse_qhas(TEXT).htps[0].engines] == ["HMX 256", "HVX 512", "HVX 513"]


def test_engines_that_add_up_need_no_note() -> None:
    assert parse_qhas(TEXT).notes == ()


def test_engines_that_do_not_add_up_are_noted() -> None:
    summary = changed(total_dram_read=1200000)
    assert "engines read 1,191,936 bytes of DRAM, and the summary says 1,200,000" in summary.notes[0]


def test_a_missing_total_is_what_was_read_and_written() -> None:
    assert changed(total_dram=None).dram_bytes == 1192960


def test_missing_traffic_is_not_zero() -> None:
    summary = changed(total_dram=None, total_dram_read=None, total_dram_write=None)
    assert (summary.dram_bytes, summary.notes) == (None, ("The summary gives no DRAM traffic.",))


def test_traffic_of_zero_was_not_counted() -> None:
    summary = changed(total_dram=0, total_dram_read=0, total_dram_write=0)
    assert (summary.dram_bytes, summary.htps[0].dram_read_bytes) == (None, None)


def test_a_time_of_zero_is_no_time() -> None:
    assert changed(time_us=0).time_us is None


def test_missing_parts_are_tolerated() -> None:
    summary = changed(time_us=None, graph_execute_us=None, peak_vtcm_alloc=None, htp_resources=None, htp=None)
    assert (summary.time_us, summary.dram_bytes, summary.htps[0].engines) == (None, 1192960, ())


def test_values_that_are_no_numbers_are_missing() -> None:
    summary = changed(time_us="fast", peak_vtcm_alloc=-5)
    assert (summary.time_us, summary.htps[0].peak_vtcm_bytes) == (None, None)


def test_several_numbered_htps_are_summed() -> None:
    summary = of_two(htp=1, time_us=1200.0)
    assert (summary.dram_bytes, summary.time_us) == (2 * 1192960, 1200.0)


def test_summing_is_noted() -> None:
    assert of_two(htp=1).notes == ("2 HTPs: their traffic is summed, and the time is that of the slowest.",)


def test_rows_with_one_number_are_not_summed() -> None:
    summary = of_two(htp=0, time_us=5.0)
    assert (summary.dram_bytes, summary.time_us) == (1192960, 1010.5)


def test_a_sum_with_a_missing_part_is_missing() -> None:
    assert of_two(htp=1, total_dram=0).dram_bytes is None


@pytest.mark.parametrize(("header", "words"), [({"version": {"major": 7}}, "version 7"), ({}, "no version")])
def test_an_unknown_version_is_read_with_a_note(header: dict[str, Any], words: str) -> None:
    summary = parse_qhas(json.dumps(json.loads(TEXT) | {"header": header}))
    assert (words in summary.notes[0], summary.dram_bytes) == (True, 1192960)


def test_the_whole_report_is_kept() -> None:
    assert parse_qhas(TEXT).report == json.loads(TEXT)


@pytest.mark.parametrize("end", [1, 200, len(TEXT) // 2, len(TEXT) - 10])
def test_a_summary_that_is_cut_off_is_told_as_cut_off(end: int) -> None:
    with pytest.raises(NotAProfile, match="cut off"):
        parse_qhas(TEXT[:end])


@pytest.mark.parametrize("text", ["{}", '{"data": {"htp_overall_summary": {"data": []}}}', '{"data": []}'])
def test_a_file_without_a_summary_says_which_is_expected(text: str) -> None:
    with pytest.raises(NotAProfile, match="qnn_htp_analysis_summary"):
        parse_qhas(text)


@pytest.mark.parametrize("text", ["", "<html>", "[" * 100000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotAProfile):
        parse_qhas(text)
