from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tunerweb.supervisor.data_folder import held
from tunerweb.supervisor.errors import CannotStart


def test_the_secret_is_made_once(tmp_path: Path) -> None:
    with held(tmp_path):
        first = (tmp_path / "secret_key").read_text()
    with held(tmp_path):
        assert (tmp_path / "secret_key").read_text() == first
    assert len(first) > 64
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with held(tmp_path):
        pass
    (tmp_path / "secret_key").chmod(mode)
    with pytest.raises(CannotStart, match="secret_key can be read by others"), held(tmp_path):
        pass


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(CannotStart, match="cannot be used: File exists"), held(tmp_path / "data"):
        pass


def test_what_fails_while_it_is_held_is_not_blamed_on_the_folder(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), held(tmp_path):
        raise PermissionError
    with held(tmp_path):
        pass
