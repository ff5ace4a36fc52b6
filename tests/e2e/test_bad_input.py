"""What people get wrong, on purpose or not: a sentence on the page, nothing lost, no 500."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import DATA
from tests.e2e import steps
from tests.e2e.people import Administrator
from tests.e2e.server import MAX_UPLOAD_BYTES
from tests.e2e.told import CONFIG, Told

MARKUP = "<img src=x onerror=alert(1)>"
LONG = "x" * 150 + " words" * 25
UNKNOWN = ("zzzzzzzzzzzz", "1", "-1", "a'b", "%00", "%0a", "x" * 300, "ä")
GIB = 2**30


@dataclass(frozen=True)
class Seen:
    """A page that shows a name; `widths`: what it reaches to, by the width of the window."""

    text: str
    images: int
    widths: dict[int, int]


@pytest.fixture(scope="module", params=[MARKUP, LONG], ids=["markup", "300 characters"])
def named(request: pytest.FixtureRequest, administrator: Administrator, small: str) -> tuple[str, dict[str, Seen]]:
    """The same name for everything that has one, and all pages that show it."""
    name: str = request.param
    page = administrator.person.new_page()
    page.on("dialog", lambda dialog: pytest.fail(f"a script of a name ran: {dialog.message}"))
    about(page, small, name)
    steps.write_config(page, name, CONFIG)
    config = steps.save_config(page)
    sweep = steps.launch(page, small, {"Name": name, "P values": "0"}, config)
    expect(page.locator("#sweep-verdict h2")).to_have_text("Verdict", timeout=steps.SLOW_MS)
    drawer = page.locator("#trials tbody th a").first.get_attribute("href")
    assert drawer
    create_token(page, name[:100])
    launch = f"/sweeps/new/?clone={steps.public_id_of(sweep)}"
    pages = (small, config, sweep, drawer, launch, "/", "/sweeps/", "/models/", "/configs/", "/account/")
    return name, {path: seen(page, path) for path in pages}


def create_token(page: Page, name: str) -> None:
    page.goto("/account/")
    page.locator("form", has_text="Create token").get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("[data-secret]")).to_be_visible()


def seen(page: Page, path: str) -> Seen:
    page.goto(path)
    widths = {}
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 768})
        widths[width] = page.evaluate("document.scrollingElement.scrollWidth")
    return Seen(page.locator("body").inner_text(), page.locator('img[src="x"]').count(), widths)


def about(page: Page, path: str, name: str) -> None:
    page.goto(path)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Tags", exact=True).fill(name[:40])
    page.get_by_label("Notes", exact=True).fill(name * 3)
    page.get_by_role("button", name="Save name, tags and notes").click()
    expect(page.locator("#messages")).to_contain_text("saved")


def test_a_name_is_shown_as_it_was_typed_and_never_run(named: tuple[str, dict[str, Seen]]) -> None:
    name, pages = named
    assert [path for path, page in pages.items() if name[:20] not in page.text] == []
    assert [path for path, page in pages.items() if page.images] == []


def test_a_name_widens_no_page(named: tuple[str, dict[str, Seen]]) -> None:
    _, pages = named
    assert [path for path, page in pages.items() if page.widths[390] > 390] == []
    assert [path for path, page in pages.items() if page.widths[1366] > 1366] == []


def test_too_long_a_name_is_refused_and_kept_in_the_form(page: Page, small: str) -> None:
    steps.launch_form(page, small, {"Name": "n" * 301, "P values": "0"})
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.locator("#launch-name-error")).to_have_text("This has 301 characters; at most 300 fit.")
    expect(page.locator("#launch-name")).to_have_value("n" * 301)


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("P values", "all of them", "P"),
        ("P values", "99", "99"),
        ("Target", "SM0000", "SM0000"),
        ("Compiles at once", "0", "1"),
        ("Longest compile", "soon", "whole number"),
        ("Memory limit", "-1", "more than 0"),
        ("Priority", "9" * 30, "whole number"),
    ],
)
def test_a_wrong_field_is_told_while_one_types_and_when_it_is_sent(
    page: Page, small: str, field: str, typed: str, sentence: str
) -> None:
    steps.launch_form(page, small, {"Target": "SM8650", field: typed})
    error = page.locator(".field", has=page.get_by_label(field)).locator(".field-error")
    expect(error).to_contain_text(sentence)
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_role("heading", name="Launch a sweep")).to_be_visible()
    expect(error).to_contain_text(sentence)
    expect(page.locator("#launch-form").get_by_label(field)).to_have_value(typed)


def test_a_double_click_launches_one_sweep(page: Page, small: str) -> None:
    steps.launch_form(page, small, {"Target": "SM8650", "P values": "0", "Name": "clicked twice"})
    page.get_by_role("button", name="Launch", exact=True).dblclick()
    expect(page.locator("#sweep-title")).to_be_visible()
    page.goto("/sweeps/?q=clicked+twice")
    expect(page.locator(".sweep-table tbody tr")).to_have_count(1)


def test_a_form_that_is_sent_again_leads_to_the_sweep_that_it_made(page: Page, small: str) -> None:
    steps.launch_form(page, small, {"Target": "SM8650", "P values": "0", "Name": "sent twice"})
    fields = page.locator("#launch-form").evaluate("form => Object.fromEntries(new FormData(form))")
    paths = {page.request.post("/sweeps/new/", form=fields).url for _ in range(2)}
    assert len(paths) == 1
    assert re.search(r"/sweeps/[a-z0-9]{12}/$", paths.pop())


def test_a_model_that_somebody_deleted_meanwhile_is_told_in_the_form(page: Page, other_page: Page) -> None:
    steps.upload(page, DATA / "small.qdq.onnx")
    model = steps.keep(page, "soon gone")
    steps.launch_form(page, model, {"Target": "SM8650", "Name": "kept as typed"})
    other_page.goto(model)
    other_page.locator("summary", has_text="Delete").click()
    other_page.get_by_role("button", name="Delete the model").click()
    expect(other_page.locator("#messages")).to_contain_text("is deleted")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.locator("#launch-model-error")).to_contain_text("is not there any more")
    expect(page.locator("#launch-name")).to_have_value("kept as typed")


@pytest.mark.parametrize("pattern", ["/sweeps/{}/", "/models/{}/", "/configs/{}/", "/models/uploads/{}/", "/enter/{}/"])
def test_an_unknown_id_is_not_found(page: Page, pattern: str) -> None:
    for public_id in UNKNOWN:
        answer = page.request.get(pattern.format(public_id))
        assert answer.status in {400, 404}, f"{pattern} {public_id}"


def test_an_unknown_trial_or_file_of_a_sweep_is_not_found(page: Page, finished: Told) -> None:
    for public_id in UNKNOWN:
        for path in (f"{finished.path}trials/{public_id}/", finished.drawers["P 0"] + public_id):
            assert page.request.get(path).status in {400, 404}, path


def test_what_an_address_asks_for_in_vain_is_left_out(page: Page, finished: Told) -> None:
    for path in (finished.path, "/sweeps/", "/models/", "/configs/", "/sweeps/new/", "/configs/new/"):
        query = "?page=-1&sort=%00&by=nothing&q=%27%22%3C&target=%F0%9F%98%80&model=1&clone=x&copy=x&tag=x&state=x"
        assert page.request.get(path + query).status == 200, path


def test_a_zip_bomb_is_refused_with_a_sentence(page: Page, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("model.onnx", "w") as member:
        for _ in range(512):
            member.write(bytes(2**20))
    steps.upload(page, bomb)
    expect(page.locator("#inspection")).to_contain_text("would unpack to more than")
    page.get_by_role("button", name="Discard this file").click()


def test_a_file_over_the_limit_is_told_before_a_byte_is_sent(page: Page, tmp_path: Path) -> None:
    big = tmp_path / "big.dlc"
    with big.open("wb") as file:
        file.truncate(MAX_UPLOAD_BYTES + 1)
    page.goto("/models/upload/")
    steps.choose(page, [big])
    expect(page.locator(".upload-text")).to_contain_text("this server takes files up to 256 MiB")
    expect(page.locator("[data-upload-send]")).to_be_disabled()


def test_a_declared_size_over_the_limit_is_refused_at_once(page: Page) -> None:
    page.goto("/models/upload/")
    token = page.locator("[name=csrfmiddlewaretoken]").first.input_value()
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(5 * GIB), "X-CSRFToken": token}
    assert page.request.post("/uploads/tus/", headers=headers).status == 413


def test_a_form_without_its_token_is_refused(page: Page, finished: Told) -> None:
    assert page.request.post(f"{finished.path}cancel/").status == 403
