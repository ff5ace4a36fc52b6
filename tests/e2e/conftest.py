from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from tests.conftest import DATA
from tests.e2e import people, steps
from tests.e2e.server import Server
from tests.e2e.told import CONFIG, Told, watch_a_sweep
from tests.e2e.watching import Watch
from tests.static.test_in_browser import ARGUMENTS, CHROMIUM

FAILED = pytest.StashKey[bool]()
PATIENCE_MS = 20_000
OpenBrowser = Callable[..., tuple[Page, Watch]]

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server") / "data") as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Browsers:
    """Windows of people who share nothing, each with what it complained of."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser = browser
        self.server = server
        self.opened: list[tuple[BrowserContext, Watch]] = []

    def open(self, state: StorageState | None = None) -> tuple[Page, Watch]:
        context = self.browser.new_context(
            viewport={"width": 1366, "height": 768},
            color_scheme="light",
            base_url=self.server.url,
            storage_state=state,
        )
        context.set_default_timeout(PATIENCE_MS)
        watch = Watch(context)
        self.opened.append((context, watch))
        return context.new_page(), watch

    @property
    def complaints(self) -> list[str]:
        return [line for _, watch in self.opened for line in watch.unexpected]

    def keep_pictures(self, folder: Path) -> None:
        for number, (context, _) in enumerate(self.opened):
            for each, page in enumerate(context.pages):
                page.screenshot(path=folder / f"browser{number}-page{each}.png", full_page=True)
                (folder / f"browser{number}-page{each}.html").write_text(page.content())

    def close(self) -> None:
        for context, _ in self.opened:
            context.close()


@pytest.fixture
def open_browser(
    request: pytest.FixtureRequest, server: Server, browser: Browser, tmp_path: Path
) -> Iterator[OpenBrowser]:
    """What a browser complains of fails the test, unless the test allows it."""
    browsers = Browsers(browser, server)
    yield browsers.open
    if request.node.stash.get(FAILED, False) or browsers.complaints:
        browsers.keep_pictures(tmp_path)
        server.keep_logs(tmp_path)
    browsers.close()
    assert browsers.complaints == []


@pytest.fixture(scope="module")
def story(browser: Browser, server: Server, administrator: people.FirstStart) -> Iterator[Page]:
    """A page that the tests of a module share, for what is told in several facts."""
    browsers = Browsers(browser, server)
    yield browsers.open(administrator.state)[0]
    browsers.close()
    assert browsers.complaints == []


@pytest.fixture(scope="session")
def administrator(server: Server, browser: Browser) -> people.FirstStart:
    """Made once, through the link that the first start prints."""
    context = browser.new_context(base_url=server.url)
    try:
        return people.set_up(context, server.setup_link())
    finally:
        context.close()


@pytest.fixture(scope="session")
def outsider(server: Server, browser: Browser, administrator: people.FirstStart) -> StorageState:
    """Somebody of another team, signed in."""
    context = browser.new_context(base_url=server.url)
    try:
        return people.come_by_link(context, server.sign_in_link("mallory"))
    finally:
        context.close()


@pytest.fixture
def page(open_browser: OpenBrowser, administrator: people.FirstStart) -> Page:
    """Of the administrator, signed in."""
    return open_browser(administrator.state)[0]


@pytest.fixture(scope="session")
def detector(browser: Browser, server: Server, administrator: people.FirstStart) -> str:
    """The path of the sample model, uploaded and kept."""
    return kept(browser, server, administrator, DATA / "sample_detector.dlc", "sample_detector")


@pytest.fixture(scope="session")
def small(browser: Browser, server: Server, administrator: people.FirstStart) -> str:
    return kept(browser, server, administrator, DATA / "small.dlc", "small")


@pytest.fixture(scope="session")
def finished(browser: Browser, server: Server, administrator: people.FirstStart, detector: str) -> Told:
    """A whole sweep of the sample model, watched from its launch to its verdict."""
    browsers = Browsers(browser, server)
    page, _ = browsers.open(administrator.state)
    try:
        steps.write_config(page, "balanced", CONFIG)
        told = watch_a_sweep(page, detector, steps.save_config(page))
    finally:
        browsers.close()
    assert browsers.complaints == []
    return told


def kept(browser: Browser, server: Server, administrator: people.FirstStart, file: Path, name: str) -> str:
    context = browser.new_context(base_url=server.url, storage_state=administrator.state)
    try:
        page = context.new_page()
        steps.upload(page, file)
        return steps.keep(page, name)
    finally:
        context.close()
