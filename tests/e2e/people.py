"""How people get accounts, as they do it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.e2e.browsers import Person

NAME, PASSWORD, TEAM = "ada", "a long horse stapled", "Perception"


@dataclass(frozen=True)
class Administrator:
    """`heading`: of the page that they landed on."""

    link: str
    heading: str
    person: Person


def set_up(person: Person, link: str) -> Administrator:
    page = person.page
    page.goto(link)
    fill_new_account(page, NAME)
    page.get_by_label("Team").fill(TEAM)
    page.get_by_role("button", name="Create administrator and team").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    heading = page.locator("h1").inner_text()
    return Administrator(link, heading, person)


def come_by_link(person: Person, link: str) -> Person:
    page = person.page
    page.goto(link)
    page.get_by_role("button", name="Sign in as").click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    return person


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
