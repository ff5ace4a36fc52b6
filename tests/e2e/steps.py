"""What people do on the pages, as steps of the stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SLOW_MS = 180_000


def upload(page: Page, *files: Path) -> None:
    """From the upload page to the page that says what the files are."""
    page.goto("/models/upload/")
    choose(page, files)
    send(page)
    inspected(page)


def choose(page: Page, files: Sequence[Path]) -> None:
    page.locator("[data-upload-input]").set_input_files(files)


def send(page: Page) -> None:
    page.locator("[data-upload-send]").click()


def inspected(page: Page) -> None:
    """The page follows by itself."""
    page.wait_for_url("**/models/uploads/*/", timeout=SLOW_MS)
    expect(page.locator("#facts-title")).to_be_visible(timeout=SLOW_MS)


def keep(page: Page, name: str = "", tags: str = "", notes: str = "") -> str:
    """The path of the model's page."""
    for label, text in (("Name", name), ("Tags", tags), ("Notes", notes)):
        if text:
            page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Keep this model").click()
    expect(page.get_by_role("link", name="Launch a sweep")).to_be_visible()
    return path_of(page)


def write_config(page: Page, name: str, text: str) -> None:
    """A new config in the editor, not saved yet."""
    page.goto("/configs/new/")
    page.get_by_label("Name", exact=True).fill(name)
    type_config(page, text)


def type_config(page: Page, text: str) -> None:
    page.locator(".CodeMirror").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def save_config(page: Page) -> str:
    """The path of the config's page."""
    page.locator("#config-form button[type=submit].btn-primary").click()
    expect(page.locator("#messages")).to_contain_text("Saved as version")
    return path_of(page)


def launch_form(page: Page, model_path: str, fields: Mapping[str, str], config_path: str = "") -> None:
    """The form with these fields filled in; the keys are its labels."""
    page.goto(f"/sweeps/new/?model={public_id_of(model_path)}&config={public_id_of(config_path)}")
    for label, text in fields.items():
        page.locator("#launch-form").get_by_label(label).fill(text)


def launch(page: Page, model_path: str, fields: Mapping[str, str], config_path: str = "") -> str:
    """The path of the sweep's page, which is open then."""
    launch_form(page, model_path, fields, config_path)
    return send_launch(page)


def send_launch(page: Page) -> str:
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.locator("#sweep-title")).to_be_visible()
    return path_of(page)


def state_of(page: Page) -> Locator:
    return page.locator("#sweep-title .state > span")


def rows_of(page: Page) -> Locator:
    return page.locator("#trials tbody tr")


def public_id_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def path_of(page: Page) -> str:
    """Without the query: where the page is."""
    return str(page.evaluate("location.pathname"))
