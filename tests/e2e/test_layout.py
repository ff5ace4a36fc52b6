"""Every page, full and empty, on a phone, in light and dark; and what has an address of its own."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import steps
from tests.e2e.browsers import Person
from tests.e2e.people import Administrator
from tests.e2e.told import Told

COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
OVERFLOWS = "document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"
FIXED = (
    *("/", "/sweeps/", "/sweeps/?q=nothing+has+this", "/sweeps/new/", "/models/", "/models/upload/"),
    *("/configs/", "/configs/new/", "/targets/", "/account/", "/team/", "/nowhere/"),
)
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def full(story: Page, finished: Told, detector: str) -> tuple[str, ...]:
    """Addresses of pages that show much."""
    story.goto(finished.path)
    config = story.locator("#sweep-title a[href^='/configs/']").get_attribute("href") or ""
    config = config.partition("?")[0]
    query = f"?clone={steps.public_id_of(finished.path)}"
    views = (
        finished.path,
        f"{finished.path}?by=cycles",
        f"{finished.path}delete/",
        *list(finished.drawers.values())[:2],
    )
    return (*FIXED, *views, detector, config, f"{config}?version=1", f"/sweeps/new/{query}")


def overflowing(page: Page, paths: tuple[str, ...]) -> list[str]:
    """Looked at in light and in dark."""
    page.set_viewport_size({"width": 390, "height": 844})
    found = []
    for path in paths:
        page.goto(path)
        for colours in COLOURS:
            page.emulate_media(color_scheme=colours)
            expect(page.locator("html")).to_have_attribute("data-bs-theme", colours)
            if page.evaluate(OVERFLOWS):
                found.append(f"{path} in {colours}")
    return found


def test_no_full_page_scrolls_sideways_on_a_phone(
    full: tuple[str, ...], administrator: Administrator, other_page: Page
) -> None:
    administrator.person.allow("404")
    assert overflowing(other_page, full) == []


def test_no_empty_page_scrolls_sideways_on_a_phone(outsider: Person) -> None:
    outsider.allow("404")
    assert overflowing(outsider.new_page(), FIXED) == []


def test_no_page_before_the_sign_in_scrolls_sideways_on_a_phone(administrator: Administrator, stranger: Person) -> None:
    stranger.allow("404")
    paths = ("/login/", administrator.link, "/enter/unknown/", "/invite/unknown/")
    assert overflowing(stranger.page, paths) == []


def test_a_question_fits_on_a_phone(other_page: Page, full: tuple[str, ...], small: str, finished: Told) -> None:
    page = other_page
    page.set_viewport_size({"width": 390, "height": 844})
    for path in (finished.path, small, full[-3]):
        page.goto(path)
        page.locator("summary", has_text="Delete").click()
        expect(page.locator(".confirm-box").get_by_role("button").first).to_be_visible()
        assert not page.evaluate(OVERFLOWS), path


def test_the_pages_are_dark_where_the_system_is(other_page: Page) -> None:
    page = other_page
    page.emulate_media(color_scheme="light")
    page.goto("/")
    light = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    assert page.evaluate(BACKGROUND) != light


def test_on_a_phone_a_row_opens_what_the_table_leaves_out(other_page: Page, finished: Told) -> None:
    page = other_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(finished.path)
    more = page.locator("#ranking .row-more").first
    expect(more).to_be_visible()
    more.locator("summary").click()
    expect(more).to_contain_text("RAM")


def test_a_trial_has_an_address_that_opens_its_drawer(page: Page, finished: Told) -> None:
    page.goto(finished.path)
    page.locator("#trials").get_by_role("link", name="P 8", exact=True).click()
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text("Context binary")
    assert steps.path_of(page) == finished.drawers["P 8"]
    page.reload()
    expect(drawer).to_contain_text("Context binary")
    page.keyboard.press("Escape")
    expect(drawer).to_be_empty()
    page.go_back()
    expect(drawer).to_contain_text("Context binary")
