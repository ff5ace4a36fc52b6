"""The server is stopped in the middle of a sweep and started again; nobody touches the open page."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import steps
from tests.e2e.people import Administrator
from tests.e2e.server import Server

P_VALUES = "0-6,8,13"
POINTS = 10


@dataclass(frozen=True)
class Restarted:
    page: Page
    done_before: int
    rows_before: list[str]
    said: str


@pytest.fixture(scope="module")
def restarted(server: Server, administrator: Administrator, story: Page, detector: str) -> Restarted:
    page = story
    administrator.person.allow(
        "WebSocket connection to .* failed", "ERR_CONNECTION_REFUSED", r"\[object Event\] at .*htmx"
    )
    steps.launch(page, detector, {"Target": "SM8750", "P values": P_VALUES})
    done = steps.rows_of(page).filter(has=page.locator(".state-done"))
    expect(done.first).to_be_visible(timeout=steps.SLOW_MS)
    server.stop()
    rows_before, done_before = ids_of(page), done.count()
    pill = page.locator("[data-live-pill]")
    expect(pill).to_be_visible()
    said = pill.inner_text()
    server.start()
    expect(pill).to_be_hidden(timeout=steps.SLOW_MS)
    expect(page.locator("#sweep-verdict h2")).to_have_text("Verdict", timeout=steps.SLOW_MS)
    return Restarted(page, done_before, rows_before, said)


def test_the_open_page_says_that_it_is_reconnecting(restarted: Restarted) -> None:
    assert restarted.said.strip() == "reconnecting…"


def test_the_stop_was_in_the_middle(restarted: Restarted) -> None:
    assert 1 <= restarted.done_before < POINTS


def test_the_page_heals_and_shows_every_row_done(restarted: Restarted) -> None:
    expect(steps.rows_of(restarted.page).filter(has=restarted.page.locator(".state-done"))).to_have_count(POINTS)


def test_no_row_is_lost_or_moved(restarted: Restarted) -> None:
    assert ids_of(restarted.page) == restarted.rows_before


def test_what_is_shown_is_what_a_new_page_shows(restarted: Restarted) -> None:
    before = steps.rows_of(restarted.page).all_inner_texts()
    restarted.page.reload()
    assert steps.rows_of(restarted.page).all_inner_texts() == before


def ids_of(page: Page) -> list[str]:
    found: list[str] = steps.rows_of(page).evaluate_all("rows => rows.map(row => row.id)")
    return found
