from __future__ import annotations

import json
from typing import Any

import pytest

from devices.targets import find_target
from sweeps.ranking import TrialOutcome
from sweeps.reports import csv_rows, size_report
from sweeps.toolchain.base import GrantedOptions
from tests.sweeps.factories import SM8650, estimate, failed_trial, given_trial, golden_trials, trial


def report(*trials: TrialOutcome, k: int = 1, **options: Any) -> dict[str, Any]:
    return size_report(trials, k, SM8650, **options)


def test_the_documented_keys_are_all_there() -> None:
    documented = {
        "baseline_rom_size_bytes",
        "baseline_ram_size_bytes",
        "baseline_ram_breakdown_bytes",
        "best_rom",
        "best_ram",
        "top_k_rom",
        "top_k_ram",
        "per_p_rom_size_bytes",
        "per_p_ram_size_bytes",
        "per_p_ram_breakdown_bytes",
        "per_p_errors",
        "as_given",
    }
    assert documented <= set(report(trial(0)))


def test_recorded_sizes_give_the_report_of_a_real_sweep() -> None:
    written = size_report(golden_trials("det", 52), 2, find_target(52))
    assert written["baseline_rom_size_bytes"] == 3821568
    assert written["best_rom"] == {"p_value": 22, "rom_size_bytes": 3801088, "improvement_percent": 0.54}
    assert written["top_k_rom"][1] == {
        "rank": 2,
        "p_value": 6,
        "rom_size_bytes": 3813376,
        "improvement_percent": 0.21,
    }
    assert written["best_ram"]["ram_breakdown_delta_bytes"] == {
        "opDataSize": -61440,
        "constSize": 0,
        "ioTensorSize": 0,
        "ddrTensorSize": 0,
        "spillFillBufferSize": 0,
        "total": -61440,
    }


def test_the_breakdown_names_its_kinds_as_the_binary_does() -> None:
    assert report(trial(0, ram=7))["baseline_ram_breakdown_bytes"] == {
        "opDataSize": 7,
        "constSize": 0,
        "ioTensorSize": 0,
        "ddrTensorSize": 0,
        "spillFillBufferSize": 0,
        "total": 7,
    }


def test_the_baseline_wins_a_tie_and_improves_nothing() -> None:
    best = report(trial(3), trial(0), trial(1))["best_rom"]
    assert (best["p_value"], str(best["improvement_percent"])) == (0, "0.0")


def test_an_improvement_is_positive_and_has_two_decimals() -> None:
    assert report(trial(0, rom=3000), trial(1, rom=2999))["best_rom"]["improvement_percent"] == 0.03


def test_a_worse_point_has_a_negative_improvement() -> None:
    assert report(trial(0, rom=100), trial(1, rom=150), k=2)["top_k_rom"][1]["improvement_percent"] == -50.0


def test_ranks_of_the_top_k_count_on_through_ties() -> None:
    top = report(trial(0), trial(1), trial(2), k=3)["top_k_rom"]
    assert [(entry["rank"], entry["p_value"]) for entry in top] == [(1, 0), (2, 1), (3, 2)]


def test_a_failed_baseline_leaves_nulls() -> None:
    written = report(failed_trial(0), trial(1))
    assert written["baseline_rom_size_bytes"] is None
    assert written["baseline_ram_breakdown_bytes"] is None
    assert written["best_rom"] == {"p_value": 1, "rom_size_bytes": 1000, "improvement_percent": None}
    assert written["best_ram"]["ram_breakdown_delta_bytes"] is None


def test_nothing_compiled_leaves_nulls_under_the_same_keys() -> None:
    written = report(failed_trial(0))
    assert written["best_rom"] == {"p_value": None, "rom_size_bytes": None, "improvement_percent": None}
    assert written["top_k_ram"] == []


def test_failed_and_invalid_p_values_are_null_and_have_a_reason() -> None:
    written = report(trial(0), failed_trial(8, "No room."), invalid={7: "P=7 needs at least two cores."})
    assert written["per_p_rom_size_bytes"] == {"0": 1000, "7": None, "8": None}
    assert written["per_p_ram_breakdown_bytes"]["7"] is None
    assert written["per_p_errors"] == {"7": "P=7 needs at least two cores.", "8": "No room."}


def test_p_values_are_in_their_order_as_numbers() -> None:
    assert list(report(trial(0), trial(20), trial(3), invalid={7: "x"})["per_p_rom_size_bytes"]) == [
        "0",
        "3",
        "7",
        "20",
    ]


def test_as_given_stays_out_of_the_documented_keys() -> None:
    written = report(trial(0), given_trial(rom=1, p_value=5))
    assert written["best_rom"]["p_value"] == 0
    assert "5" not in written["per_p_rom_size_bytes"]


def test_as_given_is_compared_with_the_baseline() -> None:
    given = report(trial(0, rom=1000), given_trial(rom=800))["as_given"]
    assert (given["rom_size_bytes"], given["rom_improvement_percent"], given["error"]) == (800, 20.0, None)


def test_as_given_that_failed_has_its_reason() -> None:
    given = report(trial(0), failed_trial(None, "No such option.", as_given=True))["as_given"]
    assert (given["rom_size_bytes"], given["error"]) == (None, "No such option.")


def test_a_p_that_was_not_granted_is_reported_and_never_the_best() -> None:
    written = report(trial(0), trial(5, rom=1, granted=GrantedOptions(p_value=0)))
    assert written["best_rom"]["p_value"] == 0
    assert written["per_p_excluded"] == {"5": "P=5 requested, P=0 granted"}


def test_a_baseline_that_was_not_granted_gives_no_percentages() -> None:
    written = report(trial(0, granted=GrantedOptions(p_value=1)), trial(2))
    assert written["best_rom"]["improvement_percent"] is None


def test_what_is_told_about_the_sweep_is_added_and_replaces_nothing() -> None:
    written = report(trial(0), about={"target": "SM8650", "verdict": "mine"})
    assert written["target"] == "SM8650"
    assert written["verdict"] != "mine"


def test_traffic_cycles_and_hashes_are_given_for_each_p() -> None:
    written = report(trial(0, dram=7, cycles=estimate(9)))
    assert written["per_p_dram_bytes"] == {"0": 7}
    assert written["per_p_simulated_cycles"] == {"0": 9}
    assert written["per_p_sha256"] == {"0": f"{1000:064x}"}


@pytest.mark.parametrize("k", [0, -3])
def test_refuses_k_below_one(k: int) -> None:
    with pytest.raises(ValueError, match="give 1 or more"):
        report(trial(0), k=k)


def test_the_report_is_strict_json() -> None:
    json.dumps(report(trial(0), failed_trial(1), given_trial(), k=2), allow_nan=False)


def cells(*trials: TrialOutcome) -> list[dict[str, str]]:
    head, *rows = csv_rows(trials, SM8650)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_a_csv_row_has_value_rank_and_difference() -> None:
    _, row = cells(trial(0, rom=1000), trial(1, rom=900))
    assert (row["point"], row["rom_bytes"], row["rom_rank"], row["rom_difference_percent"]) == (
        "P=1",
        "900",
        "1",
        "-10.0",
    )


def test_a_csv_cell_of_what_is_not_reported_is_empty() -> None:
    row = cells(trial(0))[0]
    assert (row["dram_bytes"], row["simulated_cycles"], row["cycle_origin"]) == ("", "", "")


def test_a_csv_row_of_a_failed_trial_has_its_reason() -> None:
    assert cells(failed_trial(0, "No room."))[0]["error"] == "No room."


def test_a_csv_row_says_why_it_is_not_ranked() -> None:
    row = cells(trial(0, granted=GrantedOptions(p_value=1)))[0]
    assert (row["rom_bytes"], row["rom_rank"], row["rom_excluded"]) == ("1000", "", "P=0 requested, P=1 granted")


def test_a_csv_cell_is_never_a_formula() -> None:
    assert cells(failed_trial(0, "=HYPERLINK()"))[0]["error"] == "'=HYPERLINK()"


def test_a_csv_keeps_negative_numbers() -> None:
    assert cells(trial(0, rom=10), trial(1, rom=5))[1]["rom_difference_percent"] == "-50.0"
