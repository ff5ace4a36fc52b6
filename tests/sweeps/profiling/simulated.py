"""Devices that grow warm: the model of noise that the protocol's numbers were chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy

from devices.runners.base import Timing
from sweeps.profiling.blocks import Conditions, MeasuredBlock, Rules, twin_of

BASE_US = 1000.0
RUNS = 20
NOISE = 0.02
SPIKES = 0.05
PER_PROCESS = 0.006
DRIFT = 0.03
CONDITIONS = Conditions(Timing.SIMULATED, "simulated execute time", "burst", "basic", "simulated 1", device="simulated")


class Device:
    """`drift`: how much slower it is after `blocks` blocks than at first."""

    def __init__(self, seed: int, blocks: int, drift: float = DRIFT, noise: float = NOISE) -> None:
        self.random = numpy.random.default_rng(seed)
        self.blocks, self.drift, self.noise = blocks, drift, noise
        self.measured = 0

    def samples_us(self, slower: float) -> tuple[float, ...]:
        """Of a binary that is this share slower than the fastest."""
        warm = 1 + self.drift * self.measured / self.blocks
        process = 1 + self.random.normal(0, PER_PROCESS)
        self.measured += 1
        spikes = 1 + numpy.where(self.random.random(RUNS) < SPIKES, abs(self.random.normal(0, 0.3, RUNS)), 0)
        values = BASE_US * (1 + slower) * warm * process * spikes * (1 + self.random.normal(0, self.noise, RUNS))
        # No time is below zero, however loud the device is.
        return tuple(float(value) for value in abs(values))


def interleaved(device: Device, gaps: Mapping[str, float], rounds: int, rules: Rules) -> list[MeasuredBlock]:
    """The first of `gaps` is the baseline, measured twice in each round."""
    baseline = next(iter(gaps))
    all_gaps = {**gaps, twin_of(baseline): gaps[baseline]}
    names, blocks = list(all_gaps), []
    for number in range(rounds):
        for name in device.random.permutation(names):
            blocks.append(block(number, str(name), device.samples_us(all_gaps[str(name)])))
    return blocks


def block(number: int, name: str, samples_us: Sequence[float], **fields: object) -> MeasuredBlock:
    return MeasuredBlock(number, name, tuple(samples_us), CONDITIONS, **fields)  # type: ignore[arg-type]
