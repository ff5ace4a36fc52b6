"""Configs in the test database, and what their pages say, for tests."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from django.test import Client
from django.urls import reverse

from devices.targets import find_target
from sweeps.configs.reviewing import LARGEST_TYPED
from sweeps.configs.starting import starting_text
from sweeps.models import CompileConfig
from sweeps.saving import create_config, describe_config
from tunerweb.accounts.models import User, new_public_id

READY = starting_text(find_target("SM8650"))
TOO_MUCH_VTCM = READY.replace('"vtcm_mb": 0', '"vtcm_mb": 80')
WRAPPER = '{"backend_extensions": {"shared_library_path": "D:\\\\x.dll", "config_file_path": "./sub/inner.json"}}'
HTMX = {"HX-Request": "true"}
HOSTILE = {
    "empty": "",
    "no JSON": "{",
    "nested": "[" * 100_000,
    "NUL": '{"graphs": [\0]}',
    "a key twice": '{"graphs": [], "graphs": [{}]}',
    "not an object": "[]",
    "a number without end": '{"graphs": [{"O": ' + "9" * 5000 + "}]}",
    "half a character": '{"graphs": [{"graph_names": ["\\ud800"]}]}',
    "a wrapper alone": WRAPPER,
    "too large": READY + " " * LARGEST_TYPED,
    "another tool's": '{"dialog": {"version": 1}}',
}


def stored(person: User, name: str = "mobilenet", text: str = READY, tags: tuple[str, ...] = ()) -> CompileConfig:
    row = create_config(person.team, person, name=name, text=text).version.config
    describe_config(row, name=name, notes="", tags=tags)
    return row


def url_of(row: CompileConfig, name: str = "config", *more: object) -> str:
    return reverse(f"sweeps:{name}", args=[row.public_id, *more])


def listed(client: Client, **query: str) -> list[str]:
    page = client.get(reverse("sweeps:config_list"), query).context["page"]
    return [row.name for row in page]


def save(client: Client, row: CompileConfig, text: str, **fields: Any) -> Any:
    form = {"text": text, "seen": row.latest.number, **fields}
    return client.post(url_of(row), form, headers=HTMX)


def check(client: Client, text: str, **fields: Any) -> Any:
    return client.post(reverse("sweeps:config_check"), {"text": text, **fields}, headers=HTMX)


def found_in(response: Any, pattern: str) -> str | None:
    match = re.search(pattern, response.content.decode(), re.DOTALL)
    return unescape(match[1]) if match else None


def said(response: Any) -> str:
    """What the editor says of what was asked, without its mark-up."""
    outcome = found_in(response, r'<div id="outcome"[^>]*>(.*?)<(?:/div>\s*</div>|textarea)') or ""
    return " ".join(re.sub(r"<[^>]*>", " ", outcome).split())


def new_text(response: Any) -> str | None:
    """What takes the place of the text that was typed."""
    return found_in(response, r"<textarea data-new-text[^>]*>\n(.*?)</textarea>")


def text_before(response: Any) -> str | None:
    return found_in(response, r'<textarea name="before"[^>]*>\n(.*?)</textarea>')


def marks(response: Any, kind: str = "problem") -> list[dict[str, Any]]:
    """What is found, as the editor gets it."""
    found = json.loads(found_in(response, r'<script id="config-findings"[^>]*>(.*?)</script>') or "[]")
    return [mark for mark in found if mark["kind"] == kind]


def headline(response: Any) -> str:
    return found_in(response, r'<div id="review-status"[^>]*>(.*?)</div>') or ""


def first_fix(response: Any) -> str:
    return found_in(response, r'name="fix"\s+value="([^"]*)"') or ""


def messages_of(client: Client, row: CompileConfig) -> str:
    return " ".join(str(message) for message in client.get(url_of(row)).context["messages"])


def create(client: Client, **fields: Any) -> Any:
    form = {"name": "new", "text": READY, "public_id": new_public_id(), **fields}
    return client.post(reverse("sweeps:config_new"), form, headers=HTMX)
