"""Numbers out of a QHAS summary, in each form that a script may hold it in."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sweeps.tuner import BadInput, ReportUnreadable, get_report_details
from tests.conftest import DATA

QHAS = DATA / "profiles" / "qhas.json"
TEXT = QHAS.read_text()


@pytest.mark.parametrize(
    "profiler",
    [
        QHAS,
        str(QHAS),
        TEXT,
        TEXT.encode(),
        json.loads(TEXT),
        SimpleNamespace(report=QHAS),
        SimpleNamespace(data=SimpleNamespace(report=json.loads(TEXT))),
    ],
)
def test_time_and_traffic_are_read(profiler: Any) -> None:
    time_us, report = get_report_details(profiler, "latency")
    assert (time_us, report) == (1010.5, json.loads(TEXT))
    assert get_report_details(profiler, "bandwidth")[0] == 1192960


@pytest.mark.parametrize(
    ("profiler", "sentence"),
    [
        (DATA / "nowhere.json", "cannot be read: No such file"),
        ("nowhere.json", "cannot be read: No such file"),
        ("{", "cut off"),
        ({"data": {}}, "no overall summary"),
        ({"data": {1, 2}}, "What is no JSON is no profile"),
        (None, "This NoneType is no profile"),
        ("x" * 5000, "cannot be read"),
        ("a\0b", "cannot be read"),
    ],
)
def test_what_is_no_summary_is_told(profiler: Any, sentence: str) -> None:
    with pytest.raises(ReportUnreadable, match=sentence):
        get_report_details(profiler, "latency")


@pytest.mark.parametrize(
    ("criterion", "sentence"), [("latency", "gives no time"), ("bandwidth", "gives no DRAM traffic")]
)
def test_a_value_that_is_missing_is_told(criterion: str, sentence: str) -> None:
    with pytest.raises(ReportUnreadable, match=sentence):
        get_report_details({"data": {"htp_overall_summary": {"data": [{"time_us": 0, "total_dram": 0}]}}}, criterion)


def test_an_unknown_criterion_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'rom' is no criterion"):
        get_report_details(QHAS, "rom")
