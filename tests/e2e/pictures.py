"""Takes the pictures of the README anew, by hand: python -m tests.e2e.pictures"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.conftest import DATA
from tests.e2e import people, steps
from tests.e2e.browsers import WINDOW, Person
from tests.e2e.server import Server
from tests.static.test_in_browser import ARGUMENTS, CHROMIUM

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST_BYTES = 250_000
# The place that pages leave for a scroll bar is not in the picture.
SCROLL_BAR = 15
CONFIG = """{
  "devices": [{ "soc_model": 57, "dsp_arch": "v75" }],
  "graphs": [{ "vtcm_mb": 8, "O": 2 }]
}
"""


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(Path(folder) / "data") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        person = Person(browser, server.url)
        people.set_up(person, server.setup_link())
        person.page.set_viewport_size({**WINDOW, "width": WINDOW["width"] + SCROLL_BAR})
        take(person.page)
        browser.close()


def take(page: Page) -> None:
    steps.upload(page, DATA / "sample_detector.dlc")
    detector = steps.keep(page, "sample_detector", "detection, int8", "The detector of the front camera.")
    steps.upload(page, DATA / "small.dlc")
    small = steps.keep(page, "keyword spotter", "audio")
    steps.write_config(page, "camera, 8 MB VTCM", CONFIG)
    config = steps.save_config(page)
    sweeps = [(f"keyword spotter, {target}", small, target, "") for target in ("QCS6490", "SM8350", "SM8450")]
    sweeps += [("detector on last year's phone", detector, "SM8550", ""), ("detector, balanced", detector, "", config)]
    for name, model, target, chosen in sweeps:
        finished = steps.launch(page, model, {"Name": name, "Target": target}, chosen)
        expect(page.locator("#sweep-verdict h2")).to_have_text("Verdict", timeout=steps.SLOW_MS)
    picture_of_results(page, finished)
    picture_of_launch(page, detector)
    picture_of_overview(page, small)


def picture_of_results(page: Page, path: str) -> None:
    page.goto(f"{path}?by=ram")
    for plot in ("scatter", "kinds"):
        expect(page.locator(f"#{plot}[data-drawn]")).to_be_attached()
    save(page, "sweep")


def picture_of_launch(page: Page, detector: str) -> None:
    fields = {"Target": "SM8750", "Best binaries to export": "3", "Name": "detector on the new phone"}
    steps.launch_form(page, detector, fields)
    expect(page.locator("#launch-preview")).to_contain_text("About")
    page.locator("h1").click()
    save(page, "launch")


def picture_of_overview(page: Page, small: str) -> None:
    """While what the picture before it shows is running."""
    steps.send_launch(page)
    steps.launch(page, small, {"Name": "keyword spotter, all phones", "Target": "SM8650"})
    page.goto("/")
    expect(page.locator("#overview-running")).to_contain_text("left", timeout=steps.SLOW_MS)
    save(page, "overview")


def save(page: Page, name: str) -> None:
    page.bring_to_front()
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, animations="disabled", clip={"x": 0, "y": 0, **WINDOW})
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise SystemExit(f"{path} has {size:,} bytes; at most {LARGEST_BYTES:,} fit the README.")
    print(f"{path}: {size:,} bytes")


if __name__ == "__main__":
    main()
