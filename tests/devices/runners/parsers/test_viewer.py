"""Text and JSON of `qnn-profile-viewer`, and files that are said to be profiles."""

from __future__ import annotations

import json

import pytest

from devices.runners.parsers.profile import NotAProfile
from devices.runners.parsers.recognition import parse_profile
from devices.runners.parsers.viewer_json import parse_viewer_json
from devices.runners.parsers.viewer_text import parse_viewer_text
from tests.conftest import DATA

PROFILES = DATA / "profiles"
TEXT = (PROFILES / "viewer.txt").read_text()
JSON = (PROFILES / "viewer.json").read_text()


def test_the_text_has_an_average_for_each_graph() -> None:
    averages = parse_viewer_text(TEXT)
    assert {graph: times["QNN accelerator (execute) time"] for graph, times in averages.graphs.items()} == {
        "g": 1095.0,
        "other (small)": 210.5,
    }


def test_the_text_tells_inferences_per_second() -> None:
    assert parse_viewer_text(TEXT).inferences_per_s == 690.5


def test_loading_is_no_average_of_an_inference() -> None:
    assert parse_viewer_text(TEXT).graphs["g"]["NetRun"] == 1435.0


def test_text_without_averages_is_refused() -> None:
    with pytest.raises(NotAProfile, match="no average times"):
        parse_viewer_text("Execute Stats (Average):\n")


def test_the_json_has_every_inference() -> None:
    assert parse_viewer_json(JSON).headline() == ("QNN accelerator (execute) time", (1100.0, 1090.0))


def test_the_json_has_a_wall_time_of_the_host() -> None:
    assert parse_viewer_json(JSON).of("host wall time") == pytest.approx((1450.0, 1420.0))


def test_the_json_has_the_load_time() -> None:
    assert parse_viewer_json(JSON).load_us == 38500.0


def test_events_without_a_number_are_counted() -> None:
    assert parse_viewer_json(JSON).skipped_rows == 1


def test_json_that_is_cut_off_is_told_as_cut_off() -> None:
    with pytest.raises(NotAProfile, match="cut off"):
        parse_viewer_json(JSON[: len(JSON) // 2])


@pytest.mark.parametrize("text", ["{}", "[]", '{"messages": 3}'])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(NotAProfile, match="xpected is the JSON of qnn-profile-viewer"):
        parse_viewer_json(text)


@pytest.mark.parametrize("messages", [[None, 3], [{}], [{"method": "BACKEND_EXECUTE"}], [{"profilingEvents": {}}]])
def test_messages_of_another_shape_are_no_inferences(messages: list[object]) -> None:
    assert parse_viewer_json(json.dumps({"messages": messages})).inferences == ()


@pytest.mark.parametrize("name", ["ort_basic.csv", "ort_detailed.csv", "viewer.csv", "viewer.json"])
def test_profiles_are_known_by_their_content(name: str) -> None:
    assert len(parse_profile((PROFILES / name).read_bytes()).inferences) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("viewer.txt", "averages only"),
        ("qhas.json", "QHAS"),
        ("app_log.txt", "lines of an application's log"),
        ("schematic.txt", "no profile"),
    ],
)
def test_what_is_no_profile_is_named(name: str, words: str) -> None:
    with pytest.raises(NotAProfile, match=f"{words}.*is expected"):
        parse_profile((PROFILES / name).read_bytes())


@pytest.mark.parametrize(
    ("content", "words"), [(b"\x7fQNN\x00\xff\xfe", "binary"), (b"a\0b", "binary"), (b"", "empty")]
)
def test_a_raw_log_is_refused_politely(content: bytes, words: str) -> None:
    with pytest.raises(NotAProfile, match=f"{words}.*is expected"):
        parse_profile(content)
