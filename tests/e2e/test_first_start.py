"""Nobody has an account; the terminal shows a link."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.browsers import Person
from tests.e2e.people import NAME, Administrator, sign_in, sign_out


def test_the_printed_link_makes_the_administrator(administrator: Administrator, page: Page) -> None:
    assert administrator.heading == "Overview"
    page.goto("/account/")
    expect(page.locator("h1")).to_have_text(NAME)
    expect(page.locator(".facts")).to_contain_text("administrator")


def test_the_link_opens_nothing_a_second_time(administrator: Administrator, stranger: Person) -> None:
    stranger.allow("404")
    page = stranger.page
    page.goto(administrator.link)
    expect(page.get_by_role("heading")).to_have_text("This link opens nothing")
    expect(page.locator("main")).to_contain_text("has been used: it works once")


def test_who_signs_out_signs_in_again(administrator: Administrator, stranger: Person) -> None:
    page = stranger.page
    sign_in(page, NAME)
    expect(page.locator("h1")).to_have_text("Overview")
    sign_out(page, NAME)
    page.goto("/models/")
    expect(page.locator("h1")).to_have_text("Sign in")
    sign_in(page, NAME)
    expect(page.locator("h1")).to_have_text("Overview")


def test_a_wrong_password_is_told_and_the_name_is_kept(administrator: Administrator, stranger: Person) -> None:
    page = stranger.page
    sign_in(page, NAME, "not the password")
    expect(page.get_by_role("alert")).to_have_text("Name or password is wrong.")
    expect(page.get_by_label("Name")).to_have_value(NAME)
