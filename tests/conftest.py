from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=3, help="how many seeded random moments of each kind of kill to try")
    parser.addoption("--model", type=Path, help="also compile this DLC (det.dlc) and compare it with its golden sizes")


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
