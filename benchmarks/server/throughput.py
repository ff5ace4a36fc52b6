"""Sweeps through the server against `xargs -P` with the same compile children; our CPU; how soon queued work starts."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from benchmarks.server.people import graph_names_of, launch, newcomer, source_of, wait_until_finished
from benchmarks.server.running import Server
from benchmarks.server.spreads import spread
from benchmarks.sweep import prepare_jobs, run_by_xargs, seconds

LAUNCHES = 20


def compare_sweeps(server: Server, model: Path, soc: str, workers: int, pairs: int, folder: Path) -> None:
    jobs = prepare_jobs(model, soc, folder)
    names = graph_names_of(model, soc)
    ratios, cpu_ms, taken = [], [], []
    for pair in range(pairs):
        if pair % 2:
            xargs_s = seconds(lambda: run_by_xargs(jobs, workers))
            sweep_s, ours_ms = _one_sweep(server, model, names, soc, workers)
        else:
            sweep_s, ours_ms = _one_sweep(server, model, names, soc, workers)
            xargs_s = seconds(lambda: run_by_xargs(jobs, workers))
        ratios.append(sweep_s / xargs_s)
        cpu_ms.append(ours_ms)
        taken.append((sweep_s, xargs_s))
    print(f"{len(jobs)} compiles of {model.name} for {soc}, {workers} at once, {pairs} interleaved pairs")
    server_s, xargs_s = (statistics.median(side) for side in zip(*taken, strict=True))
    print(f"  server {server_s:.2f} s, xargs {xargs_s:.2f} s")
    print(f"  ratio server / xargs {statistics.median(ratios):.3f}  ({min(ratios):.3f} to {max(ratios):.3f})")
    print(f"  our CPU per trial outside the child {statistics.median(cpu_ms):.0f} ms  (up to {max(cpu_ms):.0f} ms)")


def _one_sweep(server: Server, model: Path, names: tuple[str, ...], soc: str, workers: int) -> tuple[float, float]:
    """Seconds from the launch to the end of the last trial, and our CPU per trial: all processes less the children."""
    source = source_of(user := newcomer(), model, names)
    cpu_before, started = server.cpu_s(), time.monotonic()
    sweep = launch(user, source, soc, workers)
    wait_until_finished(sweep)
    wall_s = time.monotonic() - started
    trials = list(sweep.trials.with_work())
    children_s = sum(trial.compilation.cpu_us for trial in trials) / 1e6
    return wall_s, 1000 * (server.cpu_s() - cpu_before - children_s) / len(trials)


def queued_to_started(model: Path, soc: str) -> None:
    """With a free worker: one sweep after the other, the first compile of each."""
    names = graph_names_of(model, soc)
    waits_ms = []
    for _ in range(LAUNCHES):
        user = newcomer()
        sweep = launch(user, source_of(user, model, names), soc, 1, p_values="0")
        wait_until_finished(sweep)
        first = min((trial.compilation for trial in sweep.trials.with_work()), key=lambda row: row.started_at)
        waits_ms.append(1000 * (first.started_at - first.created_at).total_seconds())
    print(f"  queued to started, free worker: {spread(waits_ms, 0.99)} ({LAUNCHES} launches)")
