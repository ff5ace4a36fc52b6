"""Every page, full and empty, on a phone and on a laptop, light and dark."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.e2e import steps
from tests.e2e.conftest import OpenBrowser
from tests.e2e.people import FirstStart
from tests.e2e.told import CONFIG, Told

Colours = Literal["light", "dark"]
LOOKS = [("light", 390), ("dark", 390), ("light", 1366), ("dark", 1366)]
FIXED = (
    *("/", "/sweeps/", "/sweeps/?q=nothing+has+this", "/sweeps/new/", "/models/", "/models/upload/"),
    *("/configs/", "/configs/new/", "/targets/", "/account/", "/team/", "/nowhere/"),
)
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def full(story: Page, finished: Told, detector: str) -> tuple[str, ...]:
    """Addresses of pages that show much."""
    steps.write_config(story, "seen in every width", CONFIG)
    config = steps.save_config(story)
    query = f"?clone={steps.public_id_of(finished.path)}"
    views = (
        finished.path,
        f"{finished.path}?by=cycles",
        f"{finished.path}delete/",
        *list(finished.drawers.values())[:2],
    )
    return (*FIXED, *views, detector, config, f"{config}?version=1", f"/sweeps/new/{query}")


def overflowing(page: Page, paths: tuple[str, ...], width: int) -> dict[str, int]:
    page.set_viewport_size({"width": width, "height": 844})
    found = {}
    for path in paths:
        page.goto(path)
        reaches = page.evaluate("document.scrollingElement.scrollWidth")
        if reaches > page.evaluate("document.scrollingElement.clientWidth"):
            found[path] = reaches
    return found


@pytest.mark.parametrize(("colours", "width"), LOOKS)
def test_no_full_page_scrolls_sideways(
    colours: Colours, width: int, full: tuple[str, ...], open_browser: OpenBrowser, administrator: FirstStart
) -> None:
    page, watch = open_browser(administrator.state)
    watch.allow("404")
    page.emulate_media(color_scheme=colours)
    assert overflowing(page, full, width) == {}


def test_no_empty_page_scrolls_sideways(outsider: StorageState, open_browser: OpenBrowser) -> None:
    page, watch = open_browser(outsider)
    watch.allow("404")
    assert overflowing(page, FIXED, 390) == {}


def test_no_page_before_the_sign_in_scrolls_sideways(administrator: FirstStart, open_browser: OpenBrowser) -> None:
    page, watch = open_browser()
    watch.allow("404")
    assert overflowing(page, ("/login/", administrator.link, "/enter/unknown/", "/invite/unknown/"), 390) == {}


def test_the_pages_are_dark_where_the_system_is(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/")
    light = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    assert page.evaluate(BACKGROUND) != light


def test_on_a_phone_a_row_opens_what_the_table_leaves_out(page: Page, finished: Told) -> None:
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
