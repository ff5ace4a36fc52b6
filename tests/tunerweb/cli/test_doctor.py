"""The command itself, with the real compiler and the real broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TUNERWEB = Path(sys.executable).with_name("tunerweb")


@pytest.fixture(scope="module")
def without_adb(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    """Its exit code and what it found, where no program is installed."""
    environment = {**os.environ, "PATH": "", "TUNERWEB_DATA": str(tmp_path_factory.mktemp("doctor"))}
    ended = subprocess.run([TUNERWEB, "doctor", "--json"], env=environment, capture_output=True, check=False)
    return ended.returncode, json.loads(ended.stdout)


def test_a_machine_that_can_do_the_main_job_is_well(without_adb: tuple[int, dict[str, Any]]) -> None:
    code, found = without_adb
    assert (code, found["ok"]) == (0, True)


def test_adb_is_named_when_it_is_not_there_and_not_needed(without_adb: tuple[int, dict[str, Any]]) -> None:
    adb = next(check for check in without_adb[1]["checks"] if check["name"] == "adb")
    assert (adb["ok"], adb["is_needed"]) == (False, False)
    assert "apt-get install adb" in adb["remedy"]


def test_a_tiny_graph_is_compiled(without_adb: tuple[int, dict[str, Any]]) -> None:
    compile_check = next(check for check in without_adb[1]["checks"] if check["name"] == "self-test compile")
    assert "bytes for SM8650" in compile_check["found"]
