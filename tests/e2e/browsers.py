"""Browsers of people, and what they complain of while a test clicks through pages."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, Response, ViewportSize

PATIENCE_MS = 20_000
WINDOW: ViewportSize = {"width": 1366, "height": 768}
# Fires for what the policy stops without a word on the console, too.
TELL_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`));"""
# Said by htmx of a question that is still open when its page is left, or when a newer question takes its place.
LEFT = r"^htmx:(afterRequest|sendAbort|sendError), \[object HTML"


class Person:
    """Somebody's browser. It collects errors of scripts, lines on the console, violations of the policy and 500s.

    Two pages stay open, one for each test and one for each module: a new one takes as long as a small compile. Who
    changes the size or the colours of a page takes a new one.
    """

    def __init__(self, browser: Browser, base_url: str) -> None:
        # Without animations: nothing here looks at them, and drawing them takes the cores that compile.
        self.context = browser.new_context(
            viewport=WINDOW, color_scheme="light", reduced_motion="reduce", base_url=base_url
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.add_init_script(TELL_VIOLATIONS)
        self.context.on("console", self._line)
        self.context.on("weberror", lambda error: self._complaints.append(str(error.error)))
        self.context.on("response", self._answer)
        self.page, self.story = self.context.new_page(), self.context.new_page()
        self._new_pages: list[Page] = []
        self.start_over()

    def start_over(self) -> None:
        self._complaints: list[str] = []
        self._allowed = [LEFT]

    def allow(self, *patterns: str) -> None:
        """What this test brings about on purpose."""
        self._allowed += patterns

    @property
    def complaints(self) -> list[str]:
        return [line for line in self._complaints if not any(re.search(each, line) for each in self._allowed)]

    def new_page(self) -> Page:
        """Open until the test ends."""
        page = self.context.new_page()
        self._new_pages.append(page)
        return page

    def end_of_test(self) -> None:
        for page in self._new_pages:
            page.close()
        self._new_pages = []
        self.start_over()

    def _line(self, line: ConsoleMessage) -> None:
        if line.type in {"error", "warning"}:
            self._complaints.append(f"{line.text} at {line.location.get('url', '')}")

    def _answer(self, answer: Response) -> None:
        if answer.status >= 500:
            self._complaints.append(f"{answer.status} {answer.request.method} {answer.url}")


class Browsers:
    """Of all people. Who comes again need not load every script again; who came for one test leaves after it."""

    def __init__(self, browser: Browser, base_url: str) -> None:
        self._browser = browser
        self._base_url = base_url
        self._people: list[Person] = []
        self._strangers: list[Person] = []

    def new_person(self) -> Person:
        self._people.append(Person(self._browser, self._base_url))
        return self._people[-1]

    def new_stranger(self) -> Person:
        self._strangers.append(Person(self._browser, self._base_url))
        return self._strangers[-1]

    @property
    def complaints(self) -> list[str]:
        return [line for person in (*self._people, *self._strangers) for line in person.complaints]

    def keep_pictures(self, folder: Path) -> None:
        pages = [page for person in (*self._people, *self._strangers) for page in person.context.pages]
        for number, page in enumerate(pages):
            page.bring_to_front()
            page.screenshot(path=folder / f"page{number}.png", full_page=True)
            (folder / f"page{number}.html").write_text(page.content())

    def end_of_test(self) -> None:
        for stranger in self._strangers:
            stranger.context.close()
        self._strangers = []
        for person in self._people:
            person.end_of_test()
