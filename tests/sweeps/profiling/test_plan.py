"""What is measured next follows from what is there, and from nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from sweeps.profiling.blocks import MeasuredBlock, Rules
from sweeps.profiling.plan import Finished, Measure, Pause, Step, next_step
from tests.sweeps.profiling.simulated import Device, block

RULES = Rules(resamples=300)
CANDIDATES = ("base", "a", "b")


def follow(
    gaps: dict[str, float], rules: Rules = RULES, *, drift: float = 0.0, noise: float = 0.005
) -> tuple[list[MeasuredBlock], list[Step]]:
    """Until it is finished: what was measured, and every step that was not a measurement."""
    device, blocks, others = Device(1, blocks=60, drift=drift, noise=noise), list[MeasuredBlock](), list[Step]()
    paused = False
    for _ in range(2000):
        step = next_step(blocks, tuple(gaps), rules, has_paused=paused)
        if isinstance(step, Measure):
            samples = device.samples_us(gaps[step.candidate.removesuffix("#2")])
            blocks.append(block(step.round, step.candidate, samples, after_pause=paused))
            paused = False
        else:
            others.append(step)
            paused = True
            device.measured = 0
        if isinstance(step, Finished):
            return blocks, others
    raise AssertionError("it does not come to an end")


def in_round(blocks: list[MeasuredBlock], number: int) -> list[str]:
    return [each.candidate for each in blocks if each.round == number]


def test_each_round_measures_each_candidate_once_and_the_baseline_twice() -> None:
    blocks, _ = follow(dict.fromkeys(CANDIDATES, 0.0))
    assert Counter(in_round(blocks, 0)) == Counter(["base", "base#2", "a", "b"])


def test_the_order_changes_from_round_to_round() -> None:
    blocks, _ = follow(dict.fromkeys(CANDIDATES, 0.0))
    assert len({tuple(in_round(blocks, number)) for number in range(5)}) > 1


def test_a_new_process_goes_on_where_another_died() -> None:
    blocks, _ = follow(dict.fromkeys(CANDIDATES, 0.0))
    for there in range(len(blocks)):
        wanted = blocks[there]
        assert next_step(blocks[:there], CANDIDATES, RULES) == Measure(wanted.round, wanted.candidate)


def test_it_ends_early_when_every_difference_is_known() -> None:
    blocks, others = follow(dict.fromkeys(CANDIDATES, 0.0))
    assert "every difference is known" in str(others[-1])
    assert max(each.round for each in blocks) + 1 < RULES.most_rounds


def test_noise_costs_rounds_but_never_more_than_the_most() -> None:
    rules = Rules(resamples=300, most_rounds=8)
    blocks, others = follow(dict.fromkeys(CANDIDATES, 0.0), rules, noise=0.2)
    assert max(each.round for each in blocks) + 1 == 8
    assert "the most that are made" in str(others[-1])


def test_who_can_no_longer_win_is_measured_no_more() -> None:
    blocks, _ = follow({"base": 0.0, "a": 0.0, "slow": 0.2}, noise=0.05)
    assert "slow" in in_round(blocks, RULES.least_rounds - 1)
    assert "slow" not in in_round(blocks, RULES.least_rounds)


def test_the_baseline_stays_though_it_is_slow() -> None:
    blocks, _ = follow({"base": 0.2, "a": 0.0, "b": 0.0}, noise=0.05)
    assert {"base", "base#2"} <= set(in_round(blocks, RULES.least_rounds))


def test_a_disturbed_block_is_measured_once_more() -> None:
    first = next_step([], CANDIDATES, RULES)
    assert isinstance(first, Measure)
    noisy = block(0, first.candidate, [1000.0], is_noisy=True)
    assert next_step([noisy], CANDIDATES, RULES) == first
    assert next_step([noisy, noisy], CANDIDATES, RULES) != first


def test_a_device_that_grows_slow_is_given_a_pause() -> None:
    _, others = follow(dict.fromkeys(CANDIDATES, 0.0), drift=0.6)
    assert isinstance(others[0], Pause)
    assert "the device is warm" in others[0].why


def test_pauses_come_to_an_end() -> None:
    _, others = follow(dict.fromkeys(CANDIDATES, 0.0), drift=2.0)
    assert 1 <= sum(isinstance(step, Pause) for step in others) <= RULES.most_pauses


def test_times_that_mean_nothing_need_no_twin() -> None:
    blocks, _ = follow(dict.fromkeys(CANDIDATES, 0.0), Rules(with_twin=False))
    assert Counter(in_round(blocks, 0)) == Counter(CANDIDATES)


def test_without_the_twin_the_least_rounds_are_enough_however_noisy() -> None:
    blocks, others = follow(dict.fromkeys(CANDIDATES, 0.0), Rules(with_twin=False, least_rounds=2), noise=0.2)
    assert max(each.round for each in blocks) + 1 == 2
    assert "2 rounds, which is all" in str(others[-1])


def test_without_the_twin_there_is_no_pause() -> None:
    _, others = follow(dict.fromkeys(CANDIDATES, 0.0), Rules(with_twin=False), drift=2.0)
    assert not any(isinstance(step, Pause) for step in others)


@pytest.mark.parametrize("missing", [0, 3, 7])
def test_a_block_that_was_lost_is_measured_again(missing: int) -> None:
    blocks, _ = follow(dict.fromkeys(CANDIDATES, 0.0))
    lost = blocks.pop(missing)
    assert next_step(blocks, CANDIDATES, RULES) == Measure(lost.round, lost.candidate)
