"""One person invites another; somebody of another team knows the addresses."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browsers import Person
from tests.e2e.people import fill_new_account
from tests.e2e.told import Told


@pytest.fixture(scope="module")
def invitation(story: Page) -> str:
    story.goto("/team/")
    story.get_by_label("For whom").fill("grace")
    story.get_by_role("button", name="Create invitation").click()
    return story.get_by_label("Invitation for grace").input_value()


def test_who_follows_an_invitation_sees_the_models_of_the_team(
    invitation: str, detector: str, stranger: Person
) -> None:
    page = stranger.page
    page.goto(invitation)
    fill_new_account(page, "grace")
    page.get_by_role("button", name="Create account and join").click()
    page.get_by_role("link", name="Models").click()
    page.get_by_role("link", name="sample_detector").click()
    expect(page.locator("h1")).to_have_text("sample_detector")


def test_somebody_of_another_team_sees_an_empty_list(detector: str, page_outside: Page) -> None:
    page_outside.goto("/models/")
    expect(page_outside.get_by_role("heading", name="Models")).to_be_visible()
    expect(page_outside.locator("main")).not_to_contain_text("sample_detector")


def test_somebody_of_another_team_finds_no_page(
    finished: Told, detector: str, outsider: Person, page_outside: Page
) -> None:
    outsider.allow("404")
    for path in (finished.path, detector, finished.drawers["P 0"]):
        answer = page_outside.goto(path)
        assert answer, path
        assert answer.status == 404, path
        expect(page_outside.locator("h1")).to_have_text("This page does not exist")


def test_somebody_of_another_team_gets_no_file(finished: Told, page_outside: Page) -> None:
    for name in ("bundle.zip", "size_report.json", "trials.csv"):
        assert page_outside.request.get(finished.path + name).status == 404
    assert page_outside.request.get(finished.drawers["P 0"] + "context_binary.bin").status == 404


def test_somebody_of_another_team_cancels_nothing(finished: Told, page_outside: Page) -> None:
    page_outside.goto("/account/")
    token = page_outside.locator("[name=csrfmiddlewaretoken]").first.input_value()
    answer = page_outside.request.post(f"{finished.path}cancel/", form={"csrfmiddlewaretoken": token})
    assert answer.status == 404


def test_nobody_who_is_not_signed_in_sees_a_sweep(finished: Told, stranger: Person) -> None:
    page = stranger.page
    page.goto(finished.path)
    expect(page.locator("h1")).to_have_text("Sign in")
