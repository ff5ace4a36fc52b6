"""A model comes in through the upload page: cut, resumed, shown for what it is, kept; other files are named."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

import pytest
from playwright.sync_api import CDPSession, Page, Request, expect

from tests.conftest import DATA
from tests.e2e import steps
from tests.e2e.big_model import ROWS, WEIGHT_BYTES, big_model
from tests.e2e.people import Administrator
from tests.e2e.told import Told

MIB = 2**20
SLOW_BYTES_A_SECOND = 16 * MIB
# More than two chunks of 8 MiB have arrived, and it says how fast it goes.
UNDER_WAY = re.compile(r"^(1[89]|[2345]\d)(\.\d)? MiB of 60 MiB · .*/s · \d+ s left")
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154789c6360000000")


def test_a_dlc_is_shown_for_what_it_is_before_it_is_kept(page: Page, detector: str) -> None:
    page.goto(detector)
    expect(page.locator("main")).to_contain_text("DLC")
    expect(page.get_by_role("table", name="Inputs and outputs")).to_contain_text("heatmap")


def test_an_onnx_model_is_shown_with_its_shapes_types_and_operators(page: Page) -> None:
    steps.upload(page, DATA / "sample_detector.qdq.onnx")
    expect(page.locator("main")).to_contain_text("ONNX")
    expect(page.locator("main")).to_contain_text("quantized")
    expect(page.get_by_role("table", name="Inputs and outputs")).to_contain_text("float32")
    expect(page.get_by_role("table", name="Nodes by operator type")).to_contain_text("Conv")
    steps.keep(page, "detector as ONNX", tags="vision, sample", notes="From the exporter, not converted yet.")
    page.goto("/models/?tag=vision")
    expect(page.get_by_role("link", name="detector as ONNX")).to_be_visible()


def test_an_identical_file_is_recognised(page: Page, detector: str, tmp_path: Path) -> None:
    copy = tmp_path / "another name.dlc"
    copy.write_bytes((DATA / "sample_detector.dlc").read_bytes())
    steps.upload(page, copy)
    expect(page.locator("#inspection")).to_contain_text("You already have this model: sample_detector")
    expect(page.get_by_role("button", name="Keep this model")).to_have_count(0)


def test_a_cut_upload_goes_on_after_a_reload_where_it_stopped(
    administrator: Administrator, other_page: Page, tmp_path: Path
) -> None:
    page = other_page
    administrator.person.allow("ERR_INTERNET_DISCONNECTED")
    files = big_model(tmp_path)
    page.goto("/models/upload/")
    network = slow_down(page)
    steps.choose(page, files)
    steps.send(page)
    row = page.locator(".upload", has_text="big.data")
    expect(row.locator(".upload-text")).to_have_text(UNDER_WAY)
    expect(row.locator("progress")).not_to_have_js_property("value", 0)
    cut(network)
    expect(row.locator(".upload-text")).to_have_text("connection lost, trying again…")
    full_speed(network)
    page.reload()
    expect(page.locator("[data-upload-earlier]")).to_contain_text("big.data")
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))
    steps.choose(page, files)
    steps.send(page)
    steps.inspected(page)
    assert [request.method for request in requests if request.url.endswith("/uploads/tus/")] == []
    assert bytes_sent(requests) < WEIGHT_BYTES - 8 * MIB
    expect(page.get_by_role("table", name="Inputs and outputs")).to_contain_text(str(ROWS))
    expect(page.locator("main")).to_contain_text("big.data 60 MiB")
    steps.keep(page, "big")


@pytest.fixture
def context_binary(page: Page, finished: Told, tmp_path: Path) -> Path:
    path = tmp_path / "best.bin"
    path.write_bytes(page.request.get(finished.drawers["P 0"] + "context_binary.bin").body())
    return path


def test_a_context_binary_is_named_for_what_it_is(page: Page, context_binary: Path) -> None:
    steps.upload(page, context_binary)
    expect(page.locator("#inspection")).to_contain_text("is a context binary, so it is compiled already")
    expect(page.get_by_role("button", name="Keep this model")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("photo.png", PNG, "is a PNG picture, not a model"),
        ("noise.dlc", secrets.token_bytes(4096), "its content is of no kind that we know"),
        ("page.onnx", b"<html></html>", "is a web page or XML text"),
        ("torn.dlc", (DATA / "small.dlc").read_bytes()[:300_000], "begins like a DLC, but"),
    ],
)
def test_another_kind_of_file_is_named(page: Page, tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    steps.upload(page, tmp_path / name)
    expect(page.locator("#inspection")).to_contain_text(sentence)
    page.get_by_role("button", name="Discard this file").click()
    expect(page.locator("#messages")).to_contain_text("Discarded")


def test_an_upload_waits_where_it_was_paused(other_page: Page, tmp_path: Path) -> None:
    page = other_page
    big = tmp_path / "paused.bin"
    big.write_bytes(os.urandom(24 * MIB))
    page.goto("/models/upload/")
    network = slow_down(page)
    steps.choose(page, [big])
    steps.send(page)
    expect(page.locator(".upload-text")).to_contain_text("MiB of 24 MiB")
    page.get_by_role("button", name="Pause paused.bin").click()
    expect(page.locator(".upload-text")).to_contain_text("paused at")
    full_speed(network)
    page.get_by_role("button", name="Go on paused.bin").click()
    steps.inspected(page)
    page.get_by_role("button", name="Discard this file").click()


def slow_down(page: Page) -> CDPSession:
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    shape(network, uploadThroughput=SLOW_BYTES_A_SECOND)
    return network


def cut(network: CDPSession) -> None:
    shape(network, offline=True)


def full_speed(network: CDPSession) -> None:
    shape(network)


def shape(network: CDPSession, **conditions: object) -> None:
    everything = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", {**everything, **conditions})


def bytes_sent(requests: list[Request]) -> int:
    return sum(int(request.headers.get("content-length", 0)) for request in requests if request.method == "PATCH")
