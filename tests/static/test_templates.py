"""What the content policy forbids must not be in any template, and what a template names must exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STATIC = ROOT / "static"
ICONS = set(re.findall(r'<symbol id="([a-z]+)"', (STATIC / "img/icons.svg").read_text()))

INLINE = {
    "a style attribute": re.compile(r"<[^>]+\sstyle="),
    "a style element": re.compile(r"<style\b"),
    "an event handler": re.compile(r"""<[^>]+\s(on[a-z]+|hx-on[:\w-]*)=["']"""),
    "an inline script": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)"),
    "a swap that htmx takes for a selector": re.compile(r"""hx-swap-oob=["']morph:"""),
    "an expression that needs eval": re.compile(r"""["']js:"""),
}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
@pytest.mark.parametrize("what", INLINE)
def test_no_template_has(what: str, template: Path) -> None:
    assert not INLINE[what].findall(template.read_text())


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_every_static_file_that_a_template_names_exists(template: Path) -> None:
    for name in re.findall(r"""{% static ['"]([^'"]+)['"]""", template.read_text()):
        assert (STATIC / name).is_file()


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_every_icon_that_a_template_names_exists(template: Path) -> None:
    assert set(re.findall(r"""{% icon ['"]([^'"]+)['"]""", template.read_text())) <= ICONS


def test_every_vendored_folder_has_its_licence_and_its_line_in_the_list() -> None:
    listed = (STATIC / "vendor/README.md").read_text()
    for folder in (path for path in (STATIC / "vendor").iterdir() if path.is_dir()):
        assert (folder / "LICENSE").stat().st_size > 0
        for file in folder.iterdir():
            assert file.name in listed or file.name == "LICENSE"


def test_every_vendored_version_is_the_one_in_the_list() -> None:
    listed = (STATIC / "vendor/README.md").read_text()
    for folder in (path for path in (STATIC / "vendor").iterdir() if path.is_dir()):
        assert f"| {folder.name.rsplit('-', 1)[1]} |" in listed
