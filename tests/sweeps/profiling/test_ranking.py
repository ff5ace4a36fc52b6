"""What a ranking holds, and when there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devices.runners.base import Timing
from sweeps.profiling.blocks import MeasuredBlock, NotRankable, Rules, UnusableBlock
from sweeps.profiling.ranking import LatencyRanking, rank_latency
from tests.sweeps.profiling.simulated import BASE_US, Device, block, interleaved

RULES = Rules(resamples=500)
ROUNDS = 9
NAMES = ("base", "a", "b", "c", "d", "best")


def gaps(gap: float) -> dict[str, float]:
    """All are this share slower than the best, which is the last."""
    return {name: 0.0 if name == "best" else gap for name in NAMES}


def ranked(seed: int, gap: float) -> LatencyRanking:
    device = Device(seed, blocks=ROUNDS * (len(NAMES) + 1))
    return rank_latency(interleaved(device, gaps(gap), ROUNDS, RULES), "base", RULES)


def test_how_much_slower_is_told_with_its_interval() -> None:
    last = ranked(0, 0.06).candidates[-1].slower_than_best
    assert last is not None
    assert last.low < 0.06 < last.high


def test_the_same_blocks_give_the_same_ranking() -> None:
    assert ranked(3, 0.02) == ranked(3, 0.02)


def test_ties_are_ordered_by_what_is_exact() -> None:
    blocks = interleaved(Device(1, 50), {"base": 0.0, "a": 0.0, "b": 0.0}, ROUNDS, RULES)
    keys = {"base": (3.0,), "a": (2.0,), "b": (1.0,)}
    found = rank_latency(blocks, "base", RULES, keys)
    assert [(each.rank, each.name) for each in found.candidates] == [(1, "b"), (1, "a"), (1, "base")]


def test_who_has_no_tie_key_comes_last_of_those_that_tie() -> None:
    blocks = interleaved(Device(1, 50), {"base": 0.0, "a": 0.0, "b": 0.0}, ROUNDS, RULES)
    found = rank_latency(blocks, "base", RULES, {"base": (3.0,), "b": (1.0,)})
    assert [each.name for each in found.candidates] == ["b", "base", "a"]


def test_a_binary_that_differs_from_itself_makes_it_too_noisy_to_rank() -> None:
    blocks = interleaved(Device(1, 50, noise=0.6), gaps(0.06), ROUNDS, RULES)
    with pytest.raises(NotRankable, match="Too noisy to rank"):
        rank_latency(blocks, "base", RULES)


def test_four_rounds_are_too_few() -> None:
    with pytest.raises(NotRankable, match="4 rounds are too few"):
        rank_latency(interleaved(Device(1, 50), gaps(0.03), 4, RULES), "base", RULES)


def test_a_candidate_with_too_few_rounds_is_left_out() -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    found = rank_latency([each for each in blocks if each.candidate != "a" or each.round < 3], "base", RULES)
    assert list(found.left_out) == ["a"]
    assert "a" not in [each.name for each in found.candidates]


def with_conditions(blocks: list[MeasuredBlock], **fields: object) -> list[MeasuredBlock]:
    return [replace(each, conditions=replace(each.conditions, **fields)) for each in blocks]  # type: ignore[arg-type]


def test_emulated_times_are_never_ranked() -> None:
    blocks = with_conditions(interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES), timing=Timing.EMULATED)
    with pytest.raises(NotRankable, match="Not rankable: emulated"):
        rank_latency(blocks, "base", RULES)


def test_emulated_comes_before_the_missing_twin() -> None:
    blocks = with_conditions(interleaved(Device(1, 50), gaps(0.03), 1, RULES), timing=Timing.EMULATED)
    with pytest.raises(NotRankable, match="Not rankable: emulated"):
        rank_latency([each for each in blocks if each.candidate != "base#2"], "base", RULES)


def test_a_reference_that_was_not_measured_twice_is_told() -> None:
    with pytest.raises(NotRankable, match="a was not measured twice in each round"):
        rank_latency(interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES), "a", RULES)


def test_who_failed_in_the_middle_is_left_out_with_the_reason() -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    found = rank_latency(blocks, "base", RULES, refused={"a": "It crashed.", "never ran": "It is too large."})
    assert found.left_out == {"a": "It crashed.", "never ran": "It is too large."}
    assert "a" not in [each.name for each in found.candidates]


def after_a_baseline() -> list[MeasuredBlock]:
    """The session began with another baseline, `old`, which failed."""
    new = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    return [*interleaved(Device(2, 50), {"old": 0.0}, ROUNDS, RULES), *new]


def test_the_twin_of_a_refused_baseline_is_no_candidate() -> None:
    blocks = [each for each in after_a_baseline() if each.candidate != "old"]
    found = rank_latency(blocks, "base", RULES, refused={"old": "It crashed."})
    assert {each.name for each in found.candidates} == set(NAMES)
    assert found.left_out == {"old": "It crashed."}


def test_the_twin_of_an_earlier_baseline_is_no_candidate() -> None:
    found = rank_latency(after_a_baseline(), "base", RULES)
    assert {each.name for each in found.candidates} == {*NAMES, "old"}
    assert found.left_out == {}


def test_a_refused_reference_says_why() -> None:
    with pytest.raises(NotRankable, match=r"base cannot be what the others are compared with: It crashed\."):
        rank_latency(after_a_baseline(), "base", RULES, refused={"base": "It crashed."})


@pytest.mark.parametrize(
    ("samples_us", "words"),
    [
        ((), "holds no measurement"),
        ((1000.0, 0.0), "holds 0 µs"),
        ((-1.0,), "holds -1 µs"),
        ((float("nan"),), "holds nan µs"),
        ((float("inf"),), "holds inf µs"),
    ],
)
def test_samples_that_no_inference_gives_are_refused(samples_us: tuple[float, ...], words: str) -> None:
    with pytest.raises(UnusableBlock, match=f"The block of a in round 3 {words}"):
        block(2, "a", samples_us)


@pytest.mark.parametrize("field", ["event", "perf_profile", "profiling_level", "runtime", "log_level", "device"])
def test_blocks_of_different_conditions_are_never_in_one_ranking(field: str) -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    with pytest.raises(NotRankable, match=rf"different conditions.*\({field}: another and |{field}: .* and another"):
        rank_latency([*with_conditions(blocks[:1], **{field: "another"}), *blocks[1:]], "base", RULES)


def test_the_conditions_that_are_the_same_are_not_named() -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    with pytest.raises(NotRankable, match=r"\(perf_profile: balanced and burst\)"):
        rank_latency([*with_conditions(blocks[:1], perf_profile="balanced"), *blocks[1:]], "base", RULES)


def test_one_round_is_never_ranked_whatever_the_rules_say() -> None:
    rules = Rules(least_rounds=1, most_rounds=1)
    with pytest.raises(NotRankable, match="1 round is too few to rank; 5 are needed"):
        rank_latency(interleaved(Device(1, 50), gaps(0.06), 1, rules), "base", rules)


@pytest.mark.parametrize("seed", range(5))
def test_who_was_measured_only_while_the_device_was_cool_does_not_win_by_that(seed: int) -> None:
    blocks = interleaved(Device(seed, 80, drift=1.0), {"base": 0.0, "a": -0.02, "slow": 0.03}, 20, RULES)
    found = rank_latency([each for each in blocks if each.candidate != "slow" or each.round < 6], "base", RULES)
    assert "slow" not in [each.name for each in found.groups()[0]]
    assert ("a", "slow") in found.ahead


def test_a_block_that_was_measured_once_more_counts_nowhere() -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    disturbed = block(0, "a", [9e5] * 3, is_noisy=True)
    found = rank_latency([disturbed, *blocks], "base", RULES)
    assert replace(found, disturbed_blocks=0) == rank_latency(blocks, "base", RULES)


def test_how_many_blocks_were_disturbed_is_counted() -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    disturbed = [block(number, "a", [9e5] * 3, is_noisy=True) for number in (0, 4)]
    assert rank_latency([*disturbed, *blocks], "base", RULES).disturbed_blocks == 2


def test_the_effect_is_that_of_the_rules_on_a_quiet_device() -> None:
    blocks = interleaved(Device(1, 50, noise=0.0005), gaps(0.03), 25, Rules(effect=0.02))
    assert rank_latency(blocks, "base", Rules(effect=0.02)).effect == 0.02


def test_the_effect_is_the_noise_floor_on_a_loud_device() -> None:
    found = rank_latency(interleaved(Device(1, 50, noise=0.1), gaps(0.1), ROUNDS, RULES), "base", RULES)
    assert found.effect == found.noise_floor > RULES.effect


def test_the_order_in_which_blocks_were_saved_changes_nothing() -> None:
    blocks = interleaved(Device(1, 50), gaps(0.03), ROUNDS, RULES)
    assert rank_latency(blocks[::-1], "base", RULES) == rank_latency(blocks, "base", RULES)


def test_nothing_measured_is_told() -> None:
    with pytest.raises(NotRankable, match="Nothing was measured"):
        rank_latency([], "base", RULES)


def test_the_statistics_of_a_candidate() -> None:
    blocks = [
        block(number, name, [BASE_US + number] * 3) for number in range(ROUNDS) for name in ("base", "base#2", "a")
    ]
    stats = rank_latency(blocks, "base", RULES).candidates[0].stats
    assert (stats.latency_us.median, stats.mad_us, stats.lowest_us, stats.p99_us) == (BASE_US + 4, 2.0, BASE_US, None)
    assert (stats.rounds, stats.runs) == (ROUNDS, 3 * ROUNDS)
