"""One person invites another; somebody of another team knows the addresses."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.e2e.conftest import OpenBrowser
from tests.e2e.people import fill_new_account
from tests.e2e.told import Told


@pytest.fixture(scope="module")
def invitation(story: Page) -> str:
    story.goto("/team/")
    story.get_by_label("For whom").fill("grace")
    story.get_by_role("button", name="Create invitation").click()
    return story.get_by_label("Invitation for grace").input_value()


def test_who_follows_an_invitation_sees_the_models_of_the_team(
    invitation: str, detector: str, open_browser: OpenBrowser
) -> None:
    page, _ = open_browser()
    page.goto(invitation)
    fill_new_account(page, "grace")
    page.get_by_role("button", name="Create account and join").click()
    page.get_by_role("link", name="Models").click()
    page.get_by_role("link", name="sample_detector").click()
    expect(page.locator("h1")).to_have_text("sample_detector")


def test_somebody_of_another_team_sees_an_empty_list(
    detector: str, outsider: StorageState, open_browser: OpenBrowser
) -> None:
    page, _ = open_browser(outsider)
    page.goto("/models/")
    expect(page.locator("main")).not_to_contain_text("sample_detector")


def test_somebody_of_another_team_finds_no_page(
    finished: Told, detector: str, outsider: StorageState, open_browser: OpenBrowser
) -> None:
    page, watch = open_browser(outsider)
    watch.allow("404")
    for path in (finished.path, detector, finished.drawers["P 0"]):
        answer = page.goto(path)
        assert answer, path
        assert answer.status == 404, path
        expect(page.locator("h1")).to_have_text("This page does not exist")


def test_somebody_of_another_team_gets_no_file(
    finished: Told, outsider: StorageState, open_browser: OpenBrowser
) -> None:
    page, _ = open_browser(outsider)
    for name in ("bundle.zip", "size_report.json", "trials.csv"):
        assert page.request.get(finished.path + name).status == 404
    assert page.request.get(f"{finished.drawers['P 0']}context_binary.bin").status == 404


def test_somebody_of_another_team_cancels_nothing(
    finished: Told, outsider: StorageState, open_browser: OpenBrowser
) -> None:
    page, _ = open_browser(outsider)
    page.goto("/account/")
    token = page.locator("[name=csrfmiddlewaretoken]").first.input_value()
    answer = page.request.post(f"{finished.path}cancel/", form={"csrfmiddlewaretoken": token})
    assert answer.status == 404


def test_nobody_who_is_not_signed_in_sees_a_sweep(finished: Told, open_browser: OpenBrowser) -> None:
    page, _ = open_browser()
    page.goto(finished.path)
    expect(page.locator("h1")).to_have_text("Sign in")
