"""How people get accounts, as they do it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import BrowserContext, Page, StorageState, expect

NAME, PASSWORD, TEAM = "ada", "a long horse stapled", "Perception"


@dataclass(frozen=True)
class FirstStart:
    """`heading`: of the page that the new administrator lands on."""

    link: str
    heading: str
    state: StorageState


def set_up(context: BrowserContext, link: str) -> FirstStart:
    page = context.new_page()
    page.goto(link)
    fill_new_account(page, NAME)
    page.get_by_label("Team").fill(TEAM)
    page.get_by_role("button", name="Create administrator and team").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    return FirstStart(link, page.locator("h1").inner_text(), context.storage_state())


def fill_new_account(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.goto("/login/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="Sign out").click()


def come_by_link(context: BrowserContext, link: str) -> StorageState:
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in as").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    return context.storage_state()
