"""Somebody cancels a sweep while the compiler works, and takes it up again later."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import steps
from tests.e2e.server import Server

BUDGET_S = 2.0
POINTS = {"Target": "SM8550", "P values": "0-6"}


@pytest.fixture(scope="module")
def cancelled_after_s(story: Page, detector: str) -> float:
    """Seconds from the click to the word."""
    steps.launch(story, detector, POINTS)
    expect(steps.rows_of(story).filter(has_text="compiling").first).to_be_visible(timeout=steps.SLOW_MS)
    clicked_at = time.monotonic()
    story.locator("#sweep-actions").get_by_role("button", name="Cancel").click()
    expect(steps.state_of(story)).to_have_text("cancelled")
    return time.monotonic() - clicked_at


def test_a_cancelled_sweep_says_so_within_two_seconds(cancelled_after_s: float) -> None:
    assert cancelled_after_s <= BUDGET_S


def test_a_cancelled_sweep_leaves_no_compile_running(cancelled_after_s: float, server: Server) -> None:
    assert server.is_at_rest()


def test_no_row_of_a_cancelled_sweep_still_waits(cancelled_after_s: float, story: Page) -> None:
    for state in ("queued", "compiling"):
        expect(steps.rows_of(story).filter(has_text=state)).to_have_count(0)


def test_a_cancelled_sweep_is_retried_to_its_end_on_the_same_page(cancelled_after_s: float, story: Page) -> None:
    story.get_by_role("button", name="Retry unfinished").click()
    expect(steps.state_of(story)).to_have_text("done", timeout=steps.SLOW_MS)
    expect(story.locator("#sweep-verdict h2")).to_have_text("Verdict")
    expect(steps.rows_of(story).filter(has=story.locator(".state-done"))).to_have_count(8)


def test_one_trial_is_cancelled_alone(story: Page, small: str) -> None:
    steps.launch(story, small, {"Target": "SM8450", "P values": "0-6"})
    row = steps.rows_of(story).filter(has=story.get_by_role("link", name="P 6", exact=True))
    row.get_by_role("button", name="Cancel").click()
    expect(row).to_contain_text("It was cancelled.")
    expect(story.locator("#sweep-verdict h2")).to_have_text("Verdict", timeout=steps.SLOW_MS)
    expect(steps.rows_of(story).filter(has=story.locator(".state-done"))).to_have_count(7)


def test_a_paused_sweep_starts_nothing_until_it_is_resumed(story: Page, small: str) -> None:
    steps.launch(story, small, {"Target": "SM8350", "P values": "0-3"})
    story.get_by_role("button", name="Pause").click()
    expect(story.locator("#sweep-verdict h2")).to_have_text("Paused")
    expect(steps.rows_of(story).filter(has_text="compiling")).to_have_count(0, timeout=steps.SLOW_MS)
    expect(steps.rows_of(story).filter(has_text="queued").first).to_be_visible()
    story.get_by_role("button", name="Resume").click()
    expect(story.locator("#sweep-verdict h2")).to_have_text("Verdict", timeout=steps.SLOW_MS)
