from __future__ import annotations

from dataclasses import replace

import pytest

from sweeps.profiling.blocks import Rules
from sweeps.profiling.ranking import LatencyRanking, TieKey, rank_latency
from sweeps.profiling.words import disagreements, latency_sentences
from tests.sweeps.profiling.simulated import Device, interleaved

RULES = Rules(resamples=300)


def ranked(seed: int = 1, **gaps: float) -> LatencyRanking:
    return rank_latency(interleaved(Device(seed, 100, drift=0.0, noise=0.005), gaps, 9, RULES), "base", RULES)


def test_the_fastest_comes_first_with_its_interval() -> None:
    first = latency_sentences(ranked(base=0.05, a=0.0), "base")[0]
    assert first.startswith("a takes ")
    assert "95 % sure" in first


def test_simulated_times_say_so() -> None:
    assert "(simulated)" in latency_sentences(ranked(base=0.05, a=0.0), "base")[0]


def test_what_is_not_told_apart_is_named_once() -> None:
    said = " ".join(latency_sentences(ranked(base=0.05, a=0.0, b=0.0), "base"))
    assert said.count("not told apart") == 1


def test_the_baseline_is_compared_with_the_best() -> None:
    said = latency_sentences(ranked(base=0.05, a=0.0), "base")
    assert "The baseline (base) is " in said[-1]
    assert said[-1].endswith("slower.")


def test_a_baseline_among_the_best_is_not_called_slower() -> None:
    assert "slower" not in " ".join(latency_sentences(ranked(base=0.0, a=0.05), "base"))


def test_devices_that_contradict_each_other_are_told() -> None:
    found = disagreements({"phone": ranked(base=0.1, a=0.0, b=0.05), "board": ranked(base=0.1, a=0.05, b=0.0)})
    assert found == ["a is faster than b on phone, and slower on board."]


def test_chance_alone_makes_no_devices_contradict_each_other() -> None:
    """The same gaps on both: ranks come from groups, and those that noise puts into different ones do not differ."""
    gaps = {"base": 0.02, "a": 0.0, "b": 0.006, "c": 0.012, "d": 0.018, "e": 0.024}
    for seed in range(20):
        pair = (
            rank_latency(interleaved(Device(each, 63), gaps, 9, RULES), "base", RULES) for each in (seed, seed + 99)
        )
        assert disagreements(dict(zip(("phone", "board"), pair, strict=True))) == []


def test_a_tie_contradicts_nobody() -> None:
    assert disagreements({"phone": ranked(base=0.1, a=0.0, b=0.05), "board": ranked(base=0.1, a=0.0, b=0.0)}) == []


def test_what_is_noise_here_is_what_the_ranking_used() -> None:
    found = replace(ranked(base=0.05, a=0.0, b=0.0), effect=0.034)
    assert "differences below 3.4 % are noise here" in " ".join(latency_sentences(found, "base"))


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ((1.0, 5.0, 3.0), (2.0, 4.0, 2.0), "a is shown first of these: it has the lowest DRAM traffic."),
        ((1.0, 5.0, 3.0), (1.0, 4.0, 3.0), "b is shown first of these: it has the lowest ROM, at equal DRAM traffic."),
        (
            (1.0, 4.0, 3.0),
            (1.0, 4.0, 2.0),
            "b is shown first of these: it has the lowest P, at equal DRAM traffic and ROM.",
        ),
        (None, (1.0, 4.0, 2.0), "b is shown first of these: DRAM traffic, ROM and P are known of no other."),
    ],
)
def test_what_decided_a_tie_is_told(a: TieKey | None, b: TieKey, words: str) -> None:
    keys = {"b": b} if a is None else {"a": a, "b": b}
    assert words in told_of_a_tie(keys)


@pytest.mark.parametrize("keys", [{}, {"a": (1.0, 2.0, 3.0), "b": (1.0, 2.0, 3.0)}])
def test_a_tie_that_only_the_name_decided_claims_no_reason(keys: dict[str, TieKey]) -> None:
    assert "shown first" not in told_of_a_tie(keys)


def told_of_a_tie(keys: dict[str, TieKey]) -> str:
    """Of a and b, which are equal; the baseline is slower."""
    blocks = interleaved(Device(1, 100, drift=0.0, noise=0.005), {"base": 0.05, "a": 0.0, "b": 0.0}, 9, RULES)
    return " ".join(latency_sentences(rank_latency(blocks, "base", RULES, keys), "base", RULES, keys))


@pytest.mark.parametrize(("drift", "words"), [(0.08, "grew 8.0 % slower"), (-0.08, "grew 8.0 % faster")])
def test_a_device_that_changed_more_than_it_may_is_told(drift: float, words: str) -> None:
    assert words in latency_sentences(replace(ranked(base=0.05, a=0.0), drift=drift), "base")[-1]


def test_how_much_it_may_change_is_a_rule() -> None:
    found = replace(ranked(base=0.05, a=0.0), drift=0.08)
    assert "grew" not in " ".join(latency_sentences(found, "base", Rules(most_drift=0.1)))


@pytest.mark.parametrize(("count", "words"), [(1, "1 block was disturbed"), (3, "3 blocks were disturbed")])
def test_disturbed_blocks_are_told(count: int, words: str) -> None:
    assert words in latency_sentences(replace(ranked(base=0.05, a=0.0), disturbed_blocks=count), "base")[-1]


def test_no_disturbed_block_is_no_sentence() -> None:
    assert "disturbed" not in " ".join(latency_sentences(ranked(base=0.05, a=0.0), "base"))
