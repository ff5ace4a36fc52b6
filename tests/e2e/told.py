"""A sweep as the person sees it who launches it and leaves its page open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e import steps

RECORDER = Path(__file__).with_name("recorder.js").read_text()
CONFIG = '{"devices": [{"soc_model": 57}], "graphs": [{"O": 2}]}\n'
TOP_K = 17
VALUES = """rows => Object.fromEntries(rows.map(row => [
  row.querySelector("th a").textContent,
  [...row.querySelectorAll("td.num [title]")].map(cell => cell.title).filter(title => /^\\d/.test(title))]))"""


@dataclass(frozen=True)
class Told:
    """`values`: the exact values in each row of the table of trials; `drawers`: the address of each trial."""

    path: str
    preview: str
    loads: int
    recorded: dict[str, Any]
    verdict: str
    values: dict[str, list[str]]
    drawers: dict[str, str]


def watch_a_sweep(page: Page, model: str, config: str) -> Told:
    page.add_init_script(RECORDER)
    steps.launch_form(page, model, {"Best binaries to export": str(TOP_K), "Name": "the watched one"}, config)
    expect(page.locator("#launch-preview")).to_contain_text("compiles")
    preview = page.locator("#launch-preview").inner_text()
    loads: list[str] = []
    page.on("domcontentloaded", lambda loaded: loads.append(loaded.url))
    path = steps.send_launch(page)
    expect(page.locator("#sweep-verdict h2")).to_have_text("Verdict", timeout=steps.SLOW_MS)
    rows = steps.rows_of(page)
    return Told(
        path=path,
        preview=preview,
        loads=len(loads),
        recorded=page.evaluate("told"),
        verdict=page.locator("#sweep-verdict p").first.inner_text(),
        values=rows.evaluate_all(VALUES),
        drawers=rows.locator("th a").evaluate_all(
            "links => Object.fromEntries(links.map(link => [link.textContent, link.getAttribute('href')]))"
        ),
    )
