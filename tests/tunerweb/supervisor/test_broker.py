from __future__ import annotations

import os
import tempfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from tunerweb.supervisor import broker
from tunerweb.supervisor.errors import CannotStart

LONG = "x" * 120


def test_the_socket_lies_in_the_data_folder(tmp_path: Path) -> None:
    assert broker.socket_path(Path("/srv/data")) == Path("/srv/data/broker.sock")


@pytest.mark.parametrize("name", [LONG, "with spaces", "a=b", "50%", "ä"])
def test_a_path_not_fit_for_a_socket_gets_a_private_folder_with_a_short_name(tmp_path: Path, name: str) -> None:
    path = broker.socket_path(tmp_path / name)
    assert broker.is_fit(path)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path == broker.socket_path(tmp_path / name)
    broker.remove_socket(tmp_path / name, path)
    assert not path.parent.exists()


def test_a_folder_that_others_can_enter_is_not_used_for_the_socket(tmp_path: Path) -> None:
    path = broker.socket_path(tmp_path / LONG)
    path.parent.chmod(0o755)
    try:
        with pytest.raises(CannotStart, match="open to others"):
            broker.socket_path(tmp_path / LONG)
    finally:
        path.parent.rmdir()


def test_a_link_in_the_place_of_that_folder_is_not_followed(tmp_path: Path) -> None:
    path = broker.socket_path(tmp_path / LONG)
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path)
    try:
        with pytest.raises(CannotStart, match="belongs to somebody else"):
            broker.socket_path(tmp_path / LONG)
    finally:
        path.parent.unlink()


def test_a_temporary_folder_with_a_long_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / LONG).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / LONG))
    path = broker.socket_path(tmp_path / LONG)
    broker.remove_socket(tmp_path / LONG, path)
    assert path.is_relative_to("/tmp")


def test_the_url_says_the_path_to_a_client_that_unquotes_it() -> None:
    url = broker.broker_url(Path("/a b/50%/#1?/broker.sock"))
    assert not set(" #?") & set(url)
    assert unquote(url.removeprefix("unix://")) == "/a b/50%/#1?/broker.sock"


def test_nobody_answers_on_a_socket_that_is_not_there(tmp_path: Path) -> None:
    assert not broker.answers(tmp_path / "broker.sock")


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "http://example.org", "unix:///nowhere/broker.sock"])
def test_a_broker_of_your_own_that_does_not_answer_is_told(url: str) -> None:
    with pytest.raises(CannotStart, match="The broker of REDIS_URL does not answer"):
        broker.require_answer(url)


def test_the_broker_is_private_and_keeps_nothing_on_disk() -> None:
    command = " ".join(broker.broker_command(Path(os.devnull)))
    assert "--port 0 " in command
    assert "--unixsocketperm 700" in command
    assert "--save  --appendonly no" in command
