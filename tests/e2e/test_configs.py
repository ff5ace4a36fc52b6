"""A config is written in the editor, which answers while one types."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import steps

WRONG = '{"devices": [{"soc_model": 57}], "graphs": [{"vtcm_size_mb": 8, "O": 3}]}'
BETTER = '{"devices": [{"soc_model": 57}], "graphs": [{"vtcm_mb": 4, "O": 3}]}'


@pytest.fixture(scope="module")
def config(story: Page) -> str:
    """Version 1 is what the fix made of a wrong key."""
    steps.write_config(story, "detector, 8 MB", WRONG)
    problem = story.locator(".finding-problem")
    expect(problem).to_contain_text("vtcm_size_mb")
    problem.get_by_role("button").click()
    expect(story.locator(".finding-problem")).to_have_count(0)
    expect(story.locator(".CodeMirror-code")).to_contain_text('"vtcm_mb": 8')
    return steps.save_config(story)


def test_a_wrong_key_is_told_while_one_types(page: Page) -> None:
    steps.write_config(page, "never saved", WRONG)
    expect(page.locator(".finding-problem")).to_contain_text("vtcm_size_mb")
    line = page.locator(".CodeMirror-code > div", has=page.locator(".CodeMirror-lint-marker-error"))
    expect(line).to_contain_text("vtcm_size_mb")
    page.evaluate("document.getElementById('config-text').value = document.getElementById('config-text').defaultValue")


def test_a_click_puts_it_right(config: str, page: Page) -> None:
    page.goto(config)
    expect(page.locator(".CodeMirror-code")).to_contain_text('"vtcm_mb": 8')
    expect(page.locator(".CodeMirror-code")).not_to_contain_text("vtcm_size_mb")


def test_a_change_is_another_version_and_the_first_one_stays(config: str, page: Page) -> None:
    page.goto(config)
    steps.type_config(page, BETTER)
    steps.save_config(page)
    expect(page.locator("#messages")).to_contain_text("Saved as version 2.")
    page.goto(f"{config}?version=1")
    expect(page.locator(".CodeMirror-code")).to_contain_text('"vtcm_mb": 8')
    page.get_by_role("link", name="What changed since").click()
    expect(page.locator(".diff-removed", has_text='"vtcm_mb": 8')).to_be_visible()
    expect(page.locator(".diff-added", has_text='"vtcm_mb": 4')).to_be_visible()


def test_who_saves_later_sees_what_was_saved_meanwhile(small_config: str, page: Page, other_page: Page) -> None:
    for each in (page, other_page):
        each.goto(small_config)
    steps.type_config(page, BETTER)
    steps.save_config(page)
    mine = BETTER.replace("4", "2")
    steps.type_config(other_page, mine)
    other_page.get_by_role("button", name="Save as version 2").click()
    expect(other_page.locator("#outcome")).to_contain_text("Version 2 was saved by ada")
    assert other_page.locator("#config-text").input_value() == mine
    other_page.get_by_role("button", name="Save on top, as version 3").click()
    expect(other_page.locator("#messages")).to_contain_text("Saved as version 3.")


@pytest.fixture
def small_config(page: Page) -> str:
    steps.write_config(page, "of two people", BETTER.replace("4", "8"))
    return steps.save_config(page)
