"""How much a sweep costs above the same compile children by `xargs -P`, and a child above its native calls.

Both sides run in turn (A B B A ...) on the same cores, with the same jobs, log level and simulation. Ratios are what
counts; the seconds are there to judge them by. Run with `make bench` or `python -m benchmarks.sweep --model det.dlc`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from devices.targets import find_target
from sweeps.configs import default_config
from sweeps.search_space import size_sweep_points
from sweeps.toolchain.qnn.child import DLC_FILE
from sweeps.toolchain.qnn.compiler import COMPILE, BundledToolchain
from tunerweb.work.child import Limits, child_command, run_child, write_job
from tunerweb.work.inside import RESULT_FILE

SAMPLE = Path(__file__).parents[1] / "tests" / "data" / "sample_detector.dlc"
TUNERWEB = Path(sys.executable).with_name("tunerweb")


def prepare_jobs(model: Path, soc: str, folder: Path) -> list[Path]:
    """One folder per point of the sweep, each with what its child needs."""
    target = find_target(soc)
    folders = []
    with BundledToolchain().open(model, target) as session:
        config = default_config(session.graph_names)
        for number, point in enumerate(size_sweep_points(config, target, session.graph_names, None)):
            job = folder / f"job-{number}"
            job.mkdir()
            shutil.copyfile(model, job / DLC_FILE)
            write_job(job, session.job(point), Limits())
            folders.append(job)
    return folders


def run_by_xargs(jobs: Sequence[Path], workers: int) -> None:
    """The shell becomes the child, so that the child's parent is xargs, as it expects."""
    command = shlex.join(child_command(site_packages=False))
    script = f'cd "$1" && exec {command} $PPID {COMPILE} >log.txt 2>&1'
    arguments = "\0".join(str(job) for job in jobs)
    subprocess.run(
        ["xargs", "-0", "-P", str(workers), "-n", "1", "sh", "-c", script, "sh"],
        input=arguments.encode(),
        check=True,
    )
    missing = [job.name for job in jobs if not (job / RESULT_FILE).exists()]
    assert not missing, f"no result from {missing}"
    for job in jobs:
        (job / RESULT_FILE).unlink()


def run_sweep(model: Path, soc: str, workers: int, out: Path) -> None:
    command = [str(TUNERWEB), "sweep", str(model), "--soc", soc, "--workers", str(workers), "--out", str(out), "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(work: Callable[[], None]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def compare_sweep(model: Path, soc: str, workers: int, pairs: int, folder: Path) -> None:
    jobs = prepare_jobs(model, soc, folder)
    sides: dict[str, Callable[[], None]] = {
        "sweep": lambda: run_sweep(model, soc, workers, folder / "out"),
        "xargs": lambda: run_by_xargs(jobs, workers),
    }
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for pair in range(pairs):
        order = list(sides) if pair % 2 == 0 else list(sides)[::-1]
        for name in order:
            taken[name].append(seconds(sides[name]))
    ratios = [sweep / xargs for sweep, xargs in zip(taken["sweep"], taken["xargs"], strict=True)]
    print(f"{len(jobs)} compiles of {model.name} for {soc}, {workers} at once, {pairs} interleaved pairs")
    for name, values in taken.items():
        print(f"  {name:6} {statistics.median(values):7.2f} s  ({min(values):.2f} to {max(values):.2f})")
    print(f"  ratio sweep / xargs {statistics.median(ratios):.3f}  ({min(ratios):.3f} to {max(ratios):.3f})")


def compare_child(jobs: Sequence[Path]) -> None:
    """One child at a time: its wall time against the native calls timed inside it."""
    ratios, beyond_ms = [], []
    for folder in jobs:
        job = json.loads((folder / "job.json").read_text())
        job.pop("cpu_limit_s")
        outcome = run_child(COMPILE, job, scratch=folder)
        native_us = sum(outcome.value["steps_us"].values())
        ratios.append(outcome.wall_us / native_us)
        beyond_ms.append((outcome.wall_us - native_us) / 1000)
    print(f"  ratio child / native calls {statistics.median(ratios):.3f}  ({min(ratios):.3f} to {max(ratios):.3f})")
    print(f"  a child beyond its native calls {statistics.median(beyond_ms):.0f} ms  (up to {max(beyond_ms):.0f} ms)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=SAMPLE)
    parser.add_argument("--soc", default="SM8650")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare_sweep(options.model, options.soc, options.workers, options.pairs, Path(folder))
        compare_child(sorted(Path(folder).glob("job-*")))


if __name__ == "__main__":
    main()
