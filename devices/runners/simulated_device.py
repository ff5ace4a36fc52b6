"""Stands in for an NPU: seeded times that drift with a heat of their own. Runs in the simulated device's folder.

A binary's true time follows from its content. The gaps between binaries are none, small and large, so that there are
ties to find. Each run warms the device, time cools it, and heat slows it down.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import sys
import time

BASE_US = 900.0
GAPS = (0.0, 0.0, 0.0, 0.004, 0.02, 0.035, 0.06)
NOISE = 0.02
SPIKES = 0.05
PER_PROCESS = 0.006
IDLE_C = 32.0
HOTTEST_C = 58.0
HEAT_PER_RUN = 0.06
COOLS_IN_S = 45.0
SLOWER_PER_DEGREE = 0.0012


def main() -> None:
    job = json.load(sys.stdin)
    with open(job["binary"], "rb") as file:
        content = hashlib.sha256(file.read()).digest()
    heat = Heat(job["heat"])
    true_us = BASE_US * (1 + GAPS[content[0] % len(GAPS)])
    chance = random.Random(f"{job['seed']} {content.hex()} {heat.processes}")
    process = 1 + chance.gauss(0, PER_PROCESS)
    before, samples = heat.celsius, []
    for _ in range(job["warmup_runs"] + job["runs"]):
        slow = 1 + SLOWER_PER_DEGREE * (heat.celsius - IDLE_C)
        spike = 1 + abs(chance.gauss(0, 0.3)) if chance.random() < SPIKES else 1.0
        samples.append(true_us * process * slow * spike * (1 + chance.gauss(0, NOISE)))
        heat.warm()
    heat.save()
    with open("result.json", "w") as file:
        json.dump({"samples_us": samples, "before_c": before, "after_c": heat.celsius}, file)


class Heat:
    """And how many processes there were, so that each has a noise of its own, and the same again on a fresh device."""

    def __init__(self, path: str) -> None:
        self.path, self.celsius, self.processes = path, IDLE_C, 0
        try:
            with open(path) as file:
                was = json.load(file)
        except (OSError, ValueError):
            return
        self.processes = was.get("processes", 0)
        gone_s = max(0.0, time.time() - was["at"])
        self.celsius = IDLE_C + (was["celsius"] - IDLE_C) * math.exp(-gone_s / COOLS_IN_S)

    def warm(self) -> None:
        self.celsius += HEAT_PER_RUN * (HOTTEST_C - self.celsius) / (HOTTEST_C - IDLE_C)

    def save(self) -> None:
        partial = f"{self.path}.partial"
        with open(partial, "w") as file:
            json.dump({"celsius": self.celsius, "processes": self.processes + 1, "at": time.time()}, file)
        os.replace(partial, self.path)


if __name__ == "__main__":
    main()
