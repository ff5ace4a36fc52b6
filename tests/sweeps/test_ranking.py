from __future__ import annotations

import dataclasses

import pytest

from devices.targets import find_target
from sweeps.measurements import CycleOrigin
from sweeps.ranking import Metric, TrialOutcome, best_p_points, rank, value_of
from tests.sweeps.factories import (
    SM8650,
    estimate,
    failed_trial,
    given_trial,
    golden_trials,
    graph,
    trial,
)


def labels(metric: Metric, *trials: TrialOutcome) -> list[tuple[str, list[str]]]:
    entries = rank(trials, metric, SM8650).entries
    return [(entry.rank_label, [each.label for each in entry.trials]) for entry in entries]


def reasons(metric: Metric, *trials: TrialOutcome) -> dict[str, str]:
    return {each.trial.label: each.reason for each in rank(trials, metric, SM8650).excluded}


def test_the_smallest_is_first() -> None:
    assert labels(Metric.ROM, trial(0, rom=3), trial(1, rom=1), trial(2, rom=2)) == [
        ("1", ["P=1"]),
        ("2", ["P=2"]),
        ("3", ["P=0"]),
    ]


def test_equal_results_share_a_rank_in_p_order_and_the_next_rank_counts_them() -> None:
    trials = trial(8, rom=5), trial(1, rom=5), trial(0, rom=9), trial(3, rom=1)
    assert labels(Metric.ROM, *trials) == [("1", ["P=3"]), ("2=", ["P=1", "P=8"]), ("4", ["P=0"])]


def test_as_given_is_the_last_of_its_rank() -> None:
    assert labels(Metric.ROM, given_trial(), trial(0), trial(5)) == [("1=", ["P=0", "P=5", "as given"])]


def test_a_config_as_given_with_p_0_is_not_the_baseline() -> None:
    assert (
        rank([given_trial(p_value=0, rom=100), trial(1, rom=50)], Metric.ROM, SM8650).entries[0].difference_percent
        is None
    )


def test_differences_are_in_percent_of_the_baseline() -> None:
    entries = rank([trial(0, rom=1000), trial(1, rom=750)], Metric.ROM, SM8650).entries
    assert [entry.difference_percent for entry in entries] == [-25.0, 0.0]


def test_without_a_baseline_there_are_no_differences() -> None:
    ranking = rank([failed_trial(0), trial(1)], Metric.ROM, SM8650)
    assert [entry.difference_percent for entry in ranking.entries] == [None]


def test_a_baseline_of_zero_bytes_gives_no_percentage() -> None:
    ranking = rank([trial(0, dram=0), trial(1, dram=5)], Metric.DRAM, SM8650)
    assert [entry.difference_percent for entry in ranking.entries] == [None, None]


def test_a_failed_trial_is_excluded_with_its_reason() -> None:
    assert reasons(Metric.ROM, trial(0), failed_trial(4, "No room.")) == {"P=4": "No room."}


def test_a_value_that_is_not_reported_is_excluded_and_never_zero() -> None:
    assert reasons(Metric.RAM, trial(0), trial(1, ram=None)) == {"P=1": "not reported"}


def test_values_are_summed_over_the_graphs() -> None:
    both = trial(
        0, graph(name="a", ram=1, dram=10, cycles=estimate(100)), graph(name="b", ram=2, dram=20, cycles=estimate(200))
    )
    assert [value_of(both, metric) for metric in Metric] == [1000, 3, 30, 300]


def test_one_graph_without_a_value_leaves_the_sum_unreported() -> None:
    both = trial(0, graph(name="a", dram=10), graph(name="b", dram=None))
    assert value_of(both, Metric.DRAM) is None


def test_a_pool_of_shared_weights_is_marked_in_the_ram_ranking_only() -> None:
    trials = [trial(0, ram=10), trial(1, ram=20, shared_weights=7)]
    assert [entry.has_shared_weights for entry in rank(trials, Metric.RAM, SM8650).entries] == [False, True]
    assert not any(entry.has_shared_weights for entry in rank(trials, Metric.ROM, SM8650).entries)


def test_cycles_at_another_simulated_clock_are_excluded() -> None:
    trials = trial(0, cycles=estimate(900_000)), trial(19, cycles=estimate(800_000, clock_mhz=2000))
    assert reasons(Metric.CYCLES, *trials) == {"P=19": "another simulated clock (2000 MHz; P=0: 1500 MHz)"}


def test_a_clock_that_only_rounding_moves_is_the_same() -> None:
    trials = trial(0, cycles=estimate(10_000, clock_mhz=1500)), trial(1, cycles=estimate(10_499, clock_mhz=1500))
    assert reasons(Metric.CYCLES, *trials) == {}


def test_cycles_of_another_origin_are_excluded() -> None:
    trials = trial(0, cycles=estimate(900)), trial(1, cycles=estimate(800, origin=CycleOrigin.SCHEDULE))
    assert reasons(Metric.CYCLES, *trials)["P=1"].startswith("cycles of another origin (simulated schedule;")


def test_cycles_without_a_clock_do_not_compare_with_cycles_that_have_one() -> None:
    trials = trial(0, cycles=estimate(9000)), trial(1, cycles=estimate(8000, clock_mhz=None))
    assert reasons(Metric.CYCLES, *trials) == {"P=1": "simulated clock not reported as for P=0"}


def test_cycles_are_compared_with_each_other_when_the_baseline_failed() -> None:
    trials = failed_trial(0), trial(1, cycles=estimate(900_000)), trial(19, cycles=estimate(800_000, clock_mhz=2000))
    assert set(reasons(Metric.CYCLES, *trials)) == {"P=0", "P=19"}


def test_the_best_p_points_leave_out_as_given_and_keep_p_order_in_a_tie() -> None:
    trials = given_trial(rom=1), trial(2, rom=5), trial(0, rom=5), trial(1, rom=7)
    assert [each.label for each in best_p_points(trials, Metric.ROM, 2, SM8650)] == ["P=0", "P=2"]


def test_fewer_points_than_k_are_all_given() -> None:
    assert len(best_p_points([trial(0), trial(1)], Metric.ROM, 9, SM8650)) == 2


@pytest.mark.parametrize("k", [0, -1])
def test_refuses_k_below_one(k: int) -> None:
    with pytest.raises(ValueError, match=f"k is {k}"):
        best_p_points([trial(0)], Metric.ROM, k, SM8650)


def test_recorded_sizes_rank_as_the_compiler_gave_them() -> None:
    trials = golden_trials("det", 52)
    best = {metric: best_p_points(trials, metric, 1, find_target(52))[0].label for metric in Metric}
    assert best == {Metric.ROM: "P=22", Metric.RAM: "P=22", Metric.DRAM: "P=0", Metric.CYCLES: "P=23"}


def test_the_recorded_p_19_runs_at_another_clock() -> None:
    ranking = rank(golden_trials("det", 52), Metric.CYCLES, find_target(52))
    assert [each.reason for each in ranking.excluded if each.trial.p_value == 19] == [
        "another simulated clock (2112 MHz; P=0: 1498 MHz)"
    ]


def test_a_trial_is_found_by_identity() -> None:
    one = trial(0)
    assert rank([one], Metric.ROM, SM8650).entry_of(dataclasses.replace(one)) is None
