from __future__ import annotations

from sweeps.profiling.blocks import Rules
from sweeps.profiling.ranking import LatencyRanking, rank_latency
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
