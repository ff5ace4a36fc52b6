"""Devices in the browser: added, tested step by step, set aside, removed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import steps
from tests.e2e.people import Administrator
from tests.e2e.test_layout import OVERFLOWS

STEPS = 5


@pytest.fixture(scope="module")
def simulated(administrator: Administrator) -> str:
    """The path of a simulated device that has passed its test."""
    page = administrator.person.new_page()
    page.goto("/devices/new/?platform=simulated")
    page.get_by_label("Name", exact=True).fill("the simulated one")
    page.get_by_role("button", name="Add and test the connection").click()
    expect(page.locator(".step-done")).to_have_count(STEPS, timeout=steps.SLOW_MS)
    return page.url


def test_a_device_that_passed_its_test_is_idle(page: Page, simulated: str) -> None:
    page.goto("/devices/")
    expect(page.locator("#devices tr", has_text="the simulated one")).to_contain_text("idle")


def test_a_simulated_device_says_so_everywhere(page: Page, simulated: str) -> None:
    page.goto("/devices/")
    expect(page.locator("#devices tr", has_text="the simulated one").locator(".tag")).to_have_text("simulated")
    page.goto(simulated)
    expect(page.locator("#device-live")).to_contain_text("its times are made up")


def test_this_host_is_added_with_one_click(page: Page) -> None:
    page.goto("/devices/")
    page.get_by_role("button", name="Add this host").click()
    expect(page.locator(".step-done")).to_have_count(STEPS, timeout=steps.SLOW_MS)
    expect(page.locator("#device-live")).to_contain_text("times mean nothing and are never ranked")


def test_the_fields_follow_the_platform_and_keep_what_was_typed(page: Page) -> None:
    page.goto("/devices/new/")
    page.get_by_label("Name", exact=True).fill("my board")
    page.get_by_label("Platform").select_option("linux")
    expect(page.get_by_label("Private key")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("my board")


def test_a_secret_never_travels_in_an_address(page: Page) -> None:
    page.goto("/devices/new/?platform=linux")
    page.get_by_label("Password").fill("correct horse battery")
    with page.expect_request("**/devices/new/fields/**") as asked:
        page.get_by_label("Platform").select_option("windows")
    assert "correct" not in asked.value.url
    assert "csrf" not in asked.value.url


def test_a_mistake_is_told_beside_its_field(administrator: Administrator, page: Page) -> None:
    administrator.person.allow("422")
    page.goto("/devices/new/?platform=linux")
    page.get_by_label("Name", exact=True).fill("my board")
    page.get_by_label("Identifier").fill("nobody")
    page.get_by_role("button", name="Add and test the connection").click()
    expect(page.locator("#id_identifier_error")).to_contain_text("There is no user")
    expect(page.get_by_label("Identifier")).to_have_value("nobody")


def test_a_device_is_set_aside_and_removed(page: Page) -> None:
    page.goto("/devices/new/?platform=simulated")
    page.get_by_label("Name", exact=True).fill("short-lived")
    page.get_by_role("button", name="Add and test the connection").click()
    expect(page.locator(".step-done")).to_have_count(STEPS, timeout=steps.SLOW_MS)
    page.get_by_role("button", name="Set aside").click()
    expect(page.locator("#device-live")).to_contain_text("quarantined")
    page.locator("summary", has_text="Remove").click()
    page.get_by_role("button", name="Remove the device").click()
    expect(page.locator("#messages")).to_contain_text("short-lived is removed")


def test_the_pages_fit_a_phone(other_page: Page, simulated: str) -> None:
    other_page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/devices/", "/devices/new/?platform=linux", simulated):
        other_page.goto(path)
        assert not other_page.evaluate(OVERFLOWS), path


def test_somebody_of_another_team_sees_no_device(page_outside: Page, simulated: str) -> None:
    page_outside.goto("/devices/")
    expect(page_outside.locator("h2").first).to_have_text("No device yet")
