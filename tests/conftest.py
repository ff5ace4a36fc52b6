from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import end_connections, running_postgres

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=3, help="how many seeded random moments of each kind of kill to try")
    parser.addoption("--postgres", action="store_true", help="run what needs a database, and only that, on PostgreSQL")
    parser.addoption("--model", type=Path, help="also compile this DLC (det.dlc) and compare it with its golden sizes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--postgres"):
        return
    kept = [item for item in items if needs_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def needs_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db", "database_url"} & set(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session")
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Of the PostgreSQL that the tests run on; empty: they run on SQLite, as the server does by itself."""
    if not request.config.getoption("--postgres"):
        yield ""
        return
    with running_postgres() as server:
        yield server.url()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(database_url: str) -> None:
    """Called by pytest-django before it makes the test database."""
    if database_url:
        # Imported here: most tests need no Django.
        import dj_database_url
        from django.conf import settings
        from django.db import connections

        settings.DATABASES = {"default": dict(dj_database_url.parse(database_url))}
        connections.settings = connections.configure_settings(settings.DATABASES)
        del connections["default"]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, database_url: str) -> Iterator[None]:
    """PostgreSQL drops no database that a thread of some test is still connected to."""
    yield
    if database_url:
        end_connections(database_url)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the tests remember between runs stays out of the cache of the person who runs them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        yield


@pytest.fixture
def small_dlc() -> Path:
    return DATA / "small.dlc"


@pytest.fixture
def sample_dlc() -> Path:
    return DATA / "sample_detector.dlc"


@pytest.fixture
def sample_onnx() -> Path:
    return DATA / "sample_detector.qdq.onnx"
