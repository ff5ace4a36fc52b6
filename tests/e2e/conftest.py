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
def page(browsers: Browsers, administrator: people.Administrator) -> Page:
    """Of the administrator."""
    return browsers.new_page(administrator.person)


@pytest.fixture
def other_page(browsers: Browsers, administrator: people.Administrator) -> Page:
    """A second window of the same person."""
    return browsers.new_page(administrator.person)


@pytest.fixture
def page_outside(browsers: Browsers, outsider: Person) -> Page:
    return browsers.new_page(outsider)


@pytest.fixture(scope="module")
def story(administrator: people.Administrator) -> Iterator[Page]:
    """A page that the tests of a module share, for what is told in several facts."""
    page = administrator.person.new_page()
    yield page
    page.close()


@pytest.fixture(scope="session")
def detector(administrator: people.Administrator) -> str:
    """The path of the sample model, uploaded and kept."""
    return kept(administrator, DATA / "sample_detector.dlc", "sample_detector")


@pytest.fixture(scope="session")
def small(administrator: people.Administrator) -> str:
    """The path of a model that compiles faster."""
    return kept(administrator, DATA / "small.dlc", "small")


@pytest.fixture(scope="session")
def finished(administrator: people.Administrator, detector: str) -> Told:
    """A whole sweep of the sample model, watched from its launch to its verdict."""
    page = administrator.person.new_page()
    steps.write_config(page, "balanced", CONFIG)
    told = watch_a_sweep(page, detector, steps.save_config(page))
    page.close()
    return told


def kept(administrator: people.Administrator, file: Path, name: str) -> str:
    page = administrator.person.new_page()
    steps.upload(page, file)
    path = steps.keep(page, name)
    page.close()
    return path
