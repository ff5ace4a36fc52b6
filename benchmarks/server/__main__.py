"""`python -m benchmarks.server [--model det.dlc]`: all figures of the server from one run."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.server import browser, pages, throughput
from benchmarks.server.running import server, set_up_django
from benchmarks.sweep import SAMPLE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=SAMPLE)
    parser.add_argument("--soc", default="SM8650")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", choices=["sweeps", "pages"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tunerweb-bench-") as folder:
        if options.only != "pages":
            sweeps(options, Path(folder))
        if options.only != "sweeps":
            filled_pages(Path(folder))


def sweeps(options: argparse.Namespace, folder: Path) -> None:
    jobs = folder / "jobs"
    jobs.mkdir()
    data = folder / "data"
    with server(data, options.workers) as running:
        set_up_django(data)
        throughput.compare_sweeps(running, options.model, options.soc, options.workers, options.pairs, jobs)
        throughput.queued_to_started(options.model, options.soc)
        with browser.chromium() as chromium:
            browser.finished_to_row(running, chromium, options.model, options.soc, options.workers)


def filled_pages(folder: Path) -> None:
    few, many = pages.data_folders(folder)
    with server(few, 1) as one, server(many, 1) as other:
        small, large = pages.fill(one, pages.SMALL), pages.fill(other, pages.LARGE)
        pages.compare_pages(small, large)
        pages.first_paints(large)


if __name__ == "__main__":
    main()
