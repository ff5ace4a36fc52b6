"""From the launch form to the verdict, on one page that is never loaded again."""

from __future__ import annotations

import json

import pytest

from tests.conftest import DATA
from tests.e2e.told import Told

GOLDEN = json.loads((DATA / "golden_sizes.json").read_text())["models"]["sample_detector"]["57"]
VALID = [int(p_value) for p_value, row in GOLDEN.items() if row and p_value != "unset"]


def test_the_preview_says_how_many_compiles(finished: Told) -> None:
    assert f"{len(VALID) + 1} points, {len(VALID) + 1} compiles" in finished.preview


def test_rows_change_without_a_reload(finished: Told) -> None:
    assert finished.loads == 1


def test_a_row_is_queued_then_compiling_then_done(finished: Told) -> None:
    assert ["queued", "compiling", "done"] in finished.recorded["states"].values()


def test_every_row_ends_done_and_none_goes_back(finished: Told) -> None:
    order = ["queued", "compiling", "done"]
    for label, states in finished.recorded["states"].items():
        assert states == [state for state in order if state in states], label
        assert states[-1] == "done", label


def test_rows_keep_their_places(finished: Told) -> None:
    assert len(finished.recorded["trialOrders"]) == 1


def test_the_ranking_does_not_move_while_the_sweep_runs(finished: Told) -> None:
    """It is drawn when the page is loaded and when it is connected, where a trial may have ended between the two."""
    live = [lines for is_running, lines in map(json.loads, finished.recorded["rankings"]) if is_running]
    assert len(live) <= 2


def test_the_ranking_is_there_when_the_sweep_has_ended(finished: Told) -> None:
    is_running, lines = json.loads(finished.recorded["rankings"][-1])
    assert not is_running
    assert len({trial for line in lines for trial in line.split()}) == len(VALID) + 1


def test_the_verdict_is_a_sentence(finished: Told) -> None:
    assert finished.verdict.endswith(".")


@pytest.mark.parametrize("p_value", VALID)
def test_a_row_shows_the_recorded_values(finished: Told, p_value: int) -> None:
    golden = GOLDEN[str(p_value)]
    sizes = (golden["rom_bytes"], golden["ram_bytes"], golden["write_total_bytes"] + golden["read_total_bytes"])
    cycles = golden.get("schedule_cycles")
    expected = [f"{size:,} bytes" for size in sizes] + ([f"{cycles:,} simulated cycles"] if cycles else [])
    assert finished.values[f"P {p_value}"] == expected
