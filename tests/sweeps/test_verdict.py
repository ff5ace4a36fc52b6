from __future__ import annotations

from typing import Any

from devices.targets import find_target
from sweeps.ranking import TrialOutcome
from sweeps.toolchain.base import GrantedOptions
from sweeps.verdict import verdict
from tests.sweeps.factories import SM8650, estimate, failed_trial, given_trial, golden_trials, trial


def sentences(*trials: TrialOutcome, **options: Any) -> tuple[str, ...]:
    return verdict(trials, SM8650, **options).sentences


def rom_sentence(*trials: TrialOutcome, **options: Any) -> str:
    return next(text for text in sentences(*trials, **options) if text.startswith("ROM"))


def test_ships_a_gain_of_the_threshold_and_names_what_it_costs() -> None:
    assert sentences(trial(0, rom=1000, ram=2000), trial(5, rom=990, ram=2200)) == (
        "ROM: ship P=5, which saves 1.0 % against the baseline (P=0) and costs 10.0 % more RAM.",
        "RAM: nothing is smaller than the baseline (P=0).",
    )


def test_a_gain_under_the_threshold_that_costs_something_is_not_worth_shipping() -> None:
    assert rom_sentence(trial(0, rom=1000, ram=2000), trial(5, rom=991, ram=2001)) == (
        "ROM: nothing worth shipping against the baseline (P=0): the best, P=5, saves 0.90 %, less than 1 %, "
        "and costs 0.05 % more RAM."
    )


def test_any_gain_that_worsens_nothing_is_worth_shipping() -> None:
    assert rom_sentence(trial(0, rom=100_000), trial(5, rom=99_999)) == (
        "ROM: ship P=5, which saves less than 0.01 % against the baseline (P=0) and costs nothing."
    )


def test_ships_a_smaller_gain_for_nothing_before_a_small_one_at_a_cost() -> None:
    text = rom_sentence(trial(0, rom=1000, dram=50), trial(5, rom=992, dram=60), trial(8, rom=995, dram=50))
    assert text == (
        "ROM: ship P=8, which saves 0.50 % against the baseline (P=0) and costs nothing "
        "(P=5 saves 0.80 % and costs 20.0 % more DRAM traffic)."
    )


def test_the_threshold_can_be_set() -> None:
    trials = trial(0, rom=1000, ram=2000), trial(5, rom=970, ram=2001)
    assert "ship P=5" in rom_sentence(*trials, threshold_percent=3.0)
    assert "less than 3.5 %" in rom_sentence(*trials, threshold_percent=3.5)


def test_as_given_is_judged_first_and_may_beat_every_p_value() -> None:
    text = rom_sentence(trial(0, rom=1000, ram=2000), given_trial(rom=900, ram=4000), trial(22, rom=990, ram=2000))
    assert text == (
        "ROM: as given beats every P value, and the best of them, P=22, needs 10.0 % more; "
        "ship the config as given, which saves 10.0 % against the baseline (P=0) and costs 100.0 % more RAM."
    )


def test_compares_with_as_given_and_with_the_baseline_apart() -> None:
    text = rom_sentence(trial(0, rom=1000), given_trial(rom=1100), trial(22, rom=990))
    assert text == (
        "ROM: ship P=22, which saves 10.0 % against as given and costs nothing; "
        "ship P=22, which saves 1.0 % against the baseline (P=0) and costs nothing."
    )


def test_as_given_and_the_baseline_are_one_when_they_are_equal() -> None:
    text = rom_sentence(trial(0), given_trial(), trial(22, rom=990))
    assert text == "ROM: ship P=22, which saves 1.0 % against as given and the baseline (P=0) and costs nothing."


def test_as_given_and_the_baseline_are_told_together_when_nothing_is_smaller_than_either() -> None:
    found = sentences(trial(0, rom=5, ram=9), given_trial(rom=5, ram=8), trial(22, rom=6, ram=9))
    assert found[0] == "ROM: nothing is smaller than as given or the baseline (P=0)."


def test_as_given_comes_before_a_p_value_that_is_equal() -> None:
    text = rom_sentence(trial(0, rom=1000), trial(3, rom=900), given_trial(rom=900))
    assert text == (
        "ROM: nothing is smaller than as given; "
        "ship the config as given, which saves 10.0 % against the baseline (P=0) and costs nothing."
    )


def test_a_flat_sweep_is_called_flat() -> None:
    assert sentences(trial(0), trial(1), given_trial()) == (
        "The sweep is flat: all 3 settings give the same ROM and RAM, so nothing is worth shipping.",
    )


def test_a_flat_metric_beside_another_is_named() -> None:
    assert sentences(trial(0, ram=10), trial(1, ram=9))[0] == "ROM: the same for all settings (1,000 bytes)."


def test_one_setting_alone_has_nothing_to_compare() -> None:
    assert sentences(trial(0), failed_trial(1)) == ("Only P=0 can be ranked: there is nothing to compare it with.",)


def test_a_failed_baseline_is_said_and_leaves_no_percentages() -> None:
    found = sentences(failed_trial(0, "It ran out of memory."), trial(1, rom=5, ram=4), trial(2, rom=6, ram=3))
    assert found == (
        "The baseline (P=0) did not compile, so nothing is compared with it: It ran out of memory.",
        "ROM: P=1 is the smallest (5 bytes).",
        "RAM: P=2 is the smallest (3 bytes).",
    )


def test_a_failed_config_as_given_is_said() -> None:
    found = sentences(trial(0), failed_trial(None, "No such option.", as_given=True), trial(1, rom=900))
    assert found[0] == "The config as given did not compile, so nothing is compared with it: No such option."


def test_nothing_compiled() -> None:
    assert sentences(failed_trial(0, "The disk is full")) == (
        "Nothing compiled, so there is nothing to ship: The disk is full.",
    )


def test_a_baseline_that_was_not_built_as_asked_is_no_reference() -> None:
    wrong = trial(0, granted=GrantedOptions(p_value=3))
    assert sentences(wrong, trial(1), trial(2, rom=9))[0] == (
        "The baseline (P=0) is out of the ranking: P=0 requested, P=3 granted."
    )


def test_nothing_is_shipped_when_nothing_was_built_as_asked() -> None:
    wrong = [trial(p, granted=GrantedOptions(p_value=3)) for p in (0, 1)]
    assert sentences(*wrong)[-1] == (
        "Nothing that compiled was built as it was asked for, so there is nothing to rank or to ship."
    )


def test_why_a_reference_is_out_is_said_once() -> None:
    wrong = trial(0, rom=1, ram=1, granted=GrantedOptions(p_value=3))
    assert sum("requested" in text for text in sentences(wrong, trial(1), trial(2, rom=9))) == 1


def test_cycles_at_another_clock_count_as_an_unknown_cost() -> None:
    slow = trial(0, rom=1000, cycles=estimate(900_000))
    other = trial(19, rom=995, cycles=estimate(800_000, clock_mhz=2000))
    assert "saves 0.50 %, less than 1 %, and costs an unknown amount of simulated cycles" in rom_sentence(slow, other)


def test_a_trial_that_would_win_were_it_comparable_is_named() -> None:
    slow = trial(0, cycles=estimate(900_000))
    other = trial(19, cycles=estimate(800_000, clock_mhz=2000))
    assert sentences(slow, other)[-1] == (
        "P=19 is not ranked for simulated cycles: another simulated clock (2000 MHz; P=0: 1500 MHz)."
    )


def test_a_difference_to_nothing_is_given_in_bytes() -> None:
    assert rom_sentence(trial(0, rom=1000, dram=0), trial(1, rom=900, dram=4096)).endswith(
        "and costs 4,096 bytes more DRAM traffic."
    )


def test_a_metric_that_nobody_reports_is_not_judged() -> None:
    assert not any("DRAM" in text or "cycles" in text for text in sentences(trial(0), trial(1, rom=9)))


def test_recorded_sizes_of_a_detector_are_not_worth_shipping_for_rom() -> None:
    text = verdict(golden_trials("sample_detector", 57), find_target(57)).text
    assert "ROM: nothing worth shipping against the baseline (P=0): the best, P=22, saves 0.53 %" in text


def test_recorded_cycles_are_bought_with_size() -> None:
    text = verdict(golden_trials("det", 52), find_target(52)).text
    assert "Simulated cycles: ship P=23, which saves 5.6 % against the baseline (P=0) and costs 3.6 % more ROM" in text
