"""The scripts and styles in a real browser, under the policy that the server sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect, sync_playwright

from tests.static.guide import MAX_BYTES, UPLOADS, served

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"]
MIB = 2**20

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")

# Where a point of a plot is on the page: plots are drawings, there is no element to ask.
PLACE_OF_POINT = """([plot, name]) => {
  const canvas = document.querySelector(`#${plot} [data-chart-canvas]`);
  canvas.scrollIntoView({ block: "center" });
  const chart = echarts.getInstanceByDom(canvas);
  const box = canvas.getBoundingClientRect();
  for (const [seriesIndex, series] of chart.getOption().series.entries()) {
    const item = series.data.find((each) => each.name === name);
    if (item) {
      const [x, y] = chart.convertToPixel({ seriesIndex }, item.value);
      return [box.x + x, box.y + y];
    }
  }
}"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as url:
        yield url


@pytest.fixture(scope="module")
def context(address: str) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser.new_context(viewport={"width": 1366, "height": 768}, color_scheme="light", base_url=address)
        browser.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page in light colours; whatever the browser complains of fails the test."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto("/sweeps/")
    expect(page.locator("#scatter[data-drawn]")).to_be_attached()
    yield page
    page.evaluate("localStorage.clear()")
    page.close()
    assert complaints == []


@pytest.fixture
def upload(page: Page) -> Locator:
    UPLOADS.received.clear()
    UPLOADS.open.set()
    return page.locator("form[data-upload]")


def click_point(page: Page, name: str) -> None:
    x, y = page.evaluate(PLACE_OF_POINT, ["scatter", name])
    page.mouse.click(x, y)


def file_of(folder: Path, name: str, size: int) -> Path:
    path = folder / name
    path.write_bytes(b"\1" * size)
    return path


def test_equal_results_are_one_point_of_a_plot(page: Page) -> None:
    names = "[...echarts.getInstanceByDom(document.querySelector('#scatter [data-chart-canvas]')).getOption().series]"
    assert page.evaluate(f"{names}.flatMap((each) => each.data.map((item) => item.name)).sort()") == [
        "P 0 +3",
        "P 22",
        "P 23",
    ]


def test_a_trial_without_a_value_is_counted_and_not_drawn(page: Page) -> None:
    expect(page.locator("#scatter [data-chart-missing]")).to_have_text("1 trial has no value here.")


def test_a_click_on_a_point_selects_its_row_and_is_in_the_address(page: Page) -> None:
    click_point(page, "P 22")
    expect(page.locator("tr.is-selected")).to_have_attribute("data-trial", "t22")
    assert page.url.endswith("?selected=t22")


def test_a_selection_survives_a_reload(page: Page) -> None:
    click_point(page, "P 22")
    page.reload()
    expect(page.locator("tr.is-selected")).to_have_attribute("data-trial", "t22")


def test_a_second_click_takes_the_selection_back(page: Page) -> None:
    click_point(page, "P 23")
    click_point(page, "P 23")
    expect(page.locator("tr.is-selected")).to_have_count(0)
    assert page.url.endswith("/sweeps/")


def test_pointing_at_a_point_marks_its_row(page: Page) -> None:
    x, y = page.evaluate(PLACE_OF_POINT, ["scatter", "P 23"])
    page.mouse.move(x, y)
    expect(page.locator("tr.is-marked")).to_have_attribute("data-trial", "t23")


def test_the_axes_are_in_the_address(page: Page) -> None:
    page.get_by_label("Across").select_option("ram_bytes")
    assert page.url.endswith("?plot_x=ram_bytes")


def test_a_plot_is_drawn_again_when_its_data_is_replaced(page: Page) -> None:
    page.evaluate(
        """() => {
          const source = document.getElementById("chart-data");
          const data = JSON.parse(source.textContent);
          source.textContent = JSON.stringify({ ...data, points: data.points.slice(0, 2) });
          document.body.dispatchEvent(new CustomEvent("htmx:afterSettle", { bubbles: true }));
        }"""
    )
    expect(page.locator("#scatter")).to_have_attribute("data-drawn", "2")


def test_a_plot_is_saved_as_a_picture(page: Page) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save Trade-off as PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_an_update_keeps_what_a_person_has_opened(page: Page) -> None:
    page.get_by_text("Show the log").click()
    page.evaluate(
        """() => {
          const box = document.querySelector(".error-box");
          const copy = box.cloneNode(true);
          copy.querySelector("details").removeAttribute("open");
          Idiomorph.morph(box, copy.outerHTML);
        }"""
    )
    expect(page.locator(".error-box .log")).to_be_visible()


def test_the_colours_follow_the_system_until_somebody_chooses(page: Page) -> None:
    html = page.locator("html")
    expect(html).to_have_attribute("data-bs-theme", "light")
    page.emulate_media(color_scheme="dark")
    expect(html).to_have_attribute("data-bs-theme", "dark")


def test_chosen_colours_survive_a_reload(page: Page) -> None:
    page.get_by_role("button", name="Switch between light and dark colours").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_the_editor_writes_through_to_its_field(page: Page) -> None:
    page.evaluate(
        "document.getElementById('f-json').addEventListener('input', () => document.body.dataset.heard = 'yes')"
    )
    page.locator(".CodeMirror").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" ")
    expect(page.locator("body")).to_have_attribute("data-heard", "yes")
    assert page.evaluate("document.getElementById('f-json').value").endswith("} ")


def test_the_editor_marks_the_line_of_a_finding(page: Page) -> None:
    line = page.locator(".CodeMirror-code > div", has=page.locator(".CodeMirror-lint-marker-error"))
    expect(line).to_contain_text('"vtcm_mb": 16')


def test_tab_leaves_the_editor(page: Page) -> None:
    page.locator(".CodeMirror").click()
    page.keyboard.press("Tab")
    expect(page.locator("#f-all")).to_be_focused()


def test_files_are_sent_and_their_ids_posted(page: Page, upload: Locator, tmp_path: Path) -> None:
    files = [file_of(tmp_path, "model.onnx", 9 * MIB), file_of(tmp_path, "weights.data", 3 * MIB)]
    upload.locator("input[type=file]").set_input_files(files)
    upload.get_by_role("button", name="Upload 2 files (12 MiB)").click()
    page.wait_for_url("**/targets/?uploads=*")
    assert page.url.split("uploads=")[1].split(",") == list(UPLOADS.received)
    assert list(UPLOADS.received.values()) == [9 * MIB, 3 * MIB]


def test_a_file_that_is_too_large_is_told_before_a_byte_is_sent(upload: Locator, tmp_path: Path) -> None:
    upload.locator("input[type=file]").set_input_files(file_of(tmp_path, "model.onnx", MAX_BYTES + MIB))
    expect(upload.locator(".upload-text")).to_have_text("model.onnx is 41 MiB; this server takes files up to 40 MiB.")
    expect(upload.get_by_role("button", name="Upload", exact=True)).to_be_disabled()
    assert UPLOADS.received == {}


def test_an_upload_goes_on_after_a_reload(page: Page, upload: Locator, tmp_path: Path) -> None:
    model = file_of(tmp_path, "model.onnx", 20 * MIB)
    UPLOADS.open.clear()
    upload.locator("input[type=file]").set_input_files(model)
    with page.expect_request(lambda request: request.method == "PATCH"):
        upload.get_by_role("button", name="Upload 1 file").click()
    page.reload()
    UPLOADS.open.set()
    expect(upload.locator("[data-upload-earlier]")).to_contain_text("Not finished: model.onnx.")
    upload.locator("input[type=file]").set_input_files(model)
    upload.get_by_role("button", name="Upload 1 file").click()
    page.wait_for_url("**/targets/?uploads=*")
    assert len(UPLOADS.received) == 1


def test_a_paused_upload_waits_until_it_is_told_to_go_on(page: Page, upload: Locator, tmp_path: Path) -> None:
    UPLOADS.open.clear()
    upload.locator("input[type=file]").set_input_files(file_of(tmp_path, "model.onnx", 20 * MIB))
    with page.expect_request(lambda request: request.method == "PATCH"):
        upload.get_by_role("button", name="Upload 1 file").click()
    upload.get_by_role("button", name="Pause model.onnx").click()
    UPLOADS.open.set()
    expect(upload.locator(".upload-text")).to_contain_text("paused")
    upload.get_by_role("button", name="Go on model.onnx").click()
    page.wait_for_url("**/targets/?uploads=*")


@pytest.mark.parametrize("width", [390, 768, 1366])
def test_no_width_scrolls_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_rank_point_value_and_difference(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    heads = page.locator(".data-table thead th:visible")
    expect(heads).to_have_text(["Rank", "P", "ROM KiB", "Δ"])


def test_a_question_closes_with_escape(page: Page) -> None:
    page.locator("details.confirm > summary").click()
    expect(page.get_by_role("button", name="Delete the sweep")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete the sweep")).to_be_hidden()
