from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.conftest import DATA
from tests.e2e import people, steps
from tests.e2e.browsers import PATIENCE_MS, Browsers, Person
from tests.e2e.server import Server
from tests.e2e.told import CONFIG, Told, watch_a_sweep
from tests.static.test_in_browser import ARGUMENTS, CHROMIUM

FAILED = pytest.StashKey[bool]()

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
def browsers(server: Server) -> Iterator[Browsers]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield Browsers(browser, server.url)
        browser.close()


@pytest.fixture(autouse=True)
def nobody_complains(
    request: pytest.FixtureRequest, browsers: Browsers, server: Server, tmp_path: Path
) -> Iterator[None]:
    """What a browser complains of fails the test, unless the test allows it; a failed test leaves pictures and logs."""
    yield
    complaints = browsers.complaints
    if complaints or request.node.stash.get(FAILED, False):
        browsers.keep_pictures(tmp_path)
        server.keep_logs(tmp_path)
    browsers.end_of_test()
    assert complaints == []


@pytest.fixture(scope="session")
def administrator(server: Server, browsers: Browsers) -> people.Administrator:
    """Made once, through the link that the first start prints."""
    return people.set_up(browsers.new_person(), server.setup_link())


@pytest.fixture(scope="session")
def outsider(server: Server, browsers: Browsers, administrator: people.Administrator) -> Person:
    """Somebody of another team, signed in."""
    return people.come_by_link(browsers.new_person(), server.sign_in_link("mallory"))


@pytest.fixture
def stranger(browsers: Browsers) -> Person:
    """Somebody who is not signed in."""
    return browsers.new_stranger()


@pytest.fixture
def page(administrator: people.Administrator) -> Page:
    """Of the administrator."""
    return administrator.person.page


@pytest.fixture
def other_page(administrator: people.Administrator) -> Page:
    """A second window of the same person, new for the test."""
    return administrator.person.new_page()


@pytest.fixture
def page_outside(outsider: Person) -> Page:
    return outsider.page


@pytest.fixture(scope="module")
def story(administrator: people.Administrator) -> Page:
    """A page that the tests of a module share, for what is told in several facts."""
    return administrator.person.story


@pytest.fixture(scope="session")
def detector(administrator: people.Administrator) -> str:
    """The path of the sample model, uploaded and kept."""
    return kept(administrator.person.page, DATA / "sample_detector.dlc", "sample_detector")


@pytest.fixture(scope="session")
def small(administrator: people.Administrator) -> str:
    """The path of a model that compiles faster."""
    return kept(administrator.person.page, DATA / "small.dlc", "small")


@pytest.fixture(scope="session")
def finished(administrator: people.Administrator, detector: str) -> Told:
    """A whole sweep of the sample model, watched from its launch to its verdict."""
    page = administrator.person.new_page()
    steps.write_config(page, "balanced", CONFIG)
    return watch_a_sweep(page, detector, steps.save_config(page))


def kept(page: Page, file: Path, name: str) -> str:
    steps.upload(page, file)
    return steps.keep(page, name)
