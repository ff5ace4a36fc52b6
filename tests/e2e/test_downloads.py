"""Whatever a sweep hands out is, byte by byte, what the same compiles make without a server."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from sweeps.tuner import optimizeROMandRAM
from tests.conftest import DATA
from tests.e2e.told import CONFIG, TOP_K, Told


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same sweep by the Python API: same model, same config."""
    folder = tmp_path_factory.mktemp("direct")
    (folder / "config.json").write_text(CONFIG)
    out = folder / "out"
    optimizeROMandRAM(str(DATA / "sample_detector.dlc"), str(folder / "config.json"), str(out), max_workers=2, k=TOP_K)
    return out


@pytest.fixture(scope="module")
def bundle(story: Page, finished: Told) -> dict[str, bytes]:
    """As the browser saves it."""
    story.goto(finished.path)
    story.get_by_role("button", name="Download").click()
    with story.expect_download() as download:
        story.get_by_role("link", name="Best binaries and configs").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def report(bundle: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bundle["size_report.json"])
    return found


def test_the_bundle_has_exactly_the_files_of_a_direct_sweep(bundle: dict[str, bytes], direct: Path) -> None:
    assert set(bundle) == {path.name for path in direct.iterdir()}


def test_every_file_of_the_bundle_has_the_same_bytes(bundle: dict[str, bytes], direct: Path) -> None:
    different = [name for name, content in bundle.items() if content != (direct / name).read_bytes()]
    assert different == []


def test_the_report_alone_is_the_one_in_the_bundle(bundle: dict[str, bytes], finished: Told, page: Page) -> None:
    assert page.request.get(f"{finished.path}size_report.json").body() == bundle["size_report.json"]


def test_each_trial_hands_out_its_own_binary_and_config(
    story: Page, finished: Told, report: dict[str, Any], direct: Path
) -> None:
    stems = {f"P {each['p_value']}": stem_of(each["rank"]) for each in report["top_k_rom"]} | {"as given": "as_given"}
    assert set(stems) == set(finished.drawers)
    for label, stem in stems.items():
        for name in ("context_binary.bin", "config.json"):
            answer = story.request.get(finished.drawers[label] + name)
            assert answer.body() == (direct / f"{stem}_{name}").read_bytes(), f"{label} {name}"


def test_the_wrapper_of_a_trial_names_its_config_as_it_is_saved(story: Page, finished: Told) -> None:
    config = story.request.get(finished.drawers["P 8"] + "config.json")
    wrapper = story.request.get(finished.drawers["P 8"] + "wrapper.json").json()
    named = wrapper["backend_extensions"]["config_file_path"]
    assert named == "p8_config.json"
    assert f'filename="{named}"' in config.headers["content-disposition"]


def test_a_file_is_saved_from_the_drawer(story: Page, finished: Told, direct: Path) -> None:
    story.goto(finished.path)
    story.locator("#trials").get_by_role("link", name="as given").click()
    drawer = story.get_by_role("complementary", name="Trial")
    with story.expect_download() as download:
        drawer.get_by_role("link", name="context_binary.bin").click()
    assert download.value.path().read_bytes() == (direct / "as_given_context_binary.bin").read_bytes()
    assert download.value.suggested_filename == "as_given_context_binary.bin"


def test_the_csv_has_the_sizes_of_the_report(story: Page, finished: Told, report: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(story.request.get(f"{finished.path}trials.csv").text())))
    sizes = {row["p_value"]: int(row["rom_bytes"]) for row in rows if row["p_value"] in report["per_p_rom_size_bytes"]}
    recorded = {p_value: size for p_value, size in report["per_p_rom_size_bytes"].items() if size is not None}
    assert sizes == recorded


def stem_of(rank: int) -> str:
    return "rom_optimized" if rank == 1 else f"rom_optimized_rank{rank}"
