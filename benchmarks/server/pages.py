"""The same pages with 100 and with 10,000 trials in the database, asked for in turn."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.server.browser import chromium, first_paint_ms
from benchmarks.server.running import Server

SMALL, LARGE = 100, 10_000
ROUNDS = 15


@dataclass(frozen=True)
class Filled:
    """A server whose database was filled: who can sign in, and the paths of its pages."""

    server: Server
    session: str
    paths: dict[str, str]


def fill(server: Server, trials: int) -> Filled:
    """In a process of its own, since Django serves one database here."""
    command = [sys.executable, "-m", "benchmarks.server.filling", str(server.data), str(trials)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    session, *lines = printed.splitlines()
    return Filled(server, session, dict(line.split(" ", 1) for line in lines))


def compare_pages(small: Filled, large: Filled) -> None:
    print(f"pages with {LARGE:,} trials against {SMALL}, {ROUNDS} requests each in turn")
    with _client(small) as few, _client(large) as many:
        for name in small.paths:
            took: dict[str, list[float]] = {"few": [], "many": []}
            for turn in range(ROUNDS):
                pairs = [("few", few, small), ("many", many, large)]
                for side, client, filled in pairs if turn % 2 else reversed(pairs):
                    took[side].append(_request_ms(client, filled.paths[name]))
            few_ms, many_ms = statistics.median(took["few"]), statistics.median(took["many"])
            print(f"  {name:12} {few_ms:6.1f} ms  {many_ms:6.1f} ms  ratio {many_ms / few_ms:.2f}")


def first_paints(filled: Filled) -> None:
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1366, "height": 768})
        context.add_cookies([{"name": "sessionid", "value": filled.session, "url": filled.server.url}])
        page = context.new_page()
        for name, path in filled.paths.items():
            paints = [first_paint_ms(page, filled.server.url + path) for _ in range(5)]
            print(f"  first paint {name:12} {statistics.median(paints):6.0f} ms")


def _client(filled: Filled) -> httpx.Client:
    return httpx.Client(base_url=filled.server.url, cookies={"sessionid": filled.session}, timeout=60)


def _request_ms(client: httpx.Client, path: str) -> float:
    started = time.monotonic()
    answer = client.get(path)
    assert answer.status_code == 200, f"{path} answered {answer.status_code}"
    return 1000 * (time.monotonic() - started)


def data_folders(folder: Path) -> tuple[Path, Path]:
    return folder / "few", folder / "many"
