from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.devices.adb_server import AdbServer, running_adb_server


@pytest.fixture(scope="session")
def adb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    if shutil.which("adb") is None:
        pytest.skip("needs adb")
    with running_adb_server(tmp_path_factory.mktemp("adb")) as server:
        yield server
