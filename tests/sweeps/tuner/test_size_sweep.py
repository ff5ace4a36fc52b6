from __future__ import annotations

import errno
from pathlib import Path

import pytest

from sweeps.reports import bundle
from sweeps.tuner.size_sweep import Silent, SweepRequest, run_size_sweep
from tests.conftest import DATA
from tunerweb.work.files import publish


def test_a_disk_that_fills_up_while_the_bundle_is_written_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[Path] = []

    def publish_two(path: Path, source: bytes | Path) -> None:
        if len(published) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        publish(path, source)
        published.append(path)

    monkeypatch.setattr(bundle, "publish", publish_two)
    request = SweepRequest(models=(DATA / "small.dlc",), soc="SM8650", p_values="0", out=tmp_path / "out")
    with pytest.raises(OSError, match="No space left"):
        run_size_sweep(request, Silent())
    assert list((tmp_path / "out").iterdir()) == []


def test_a_users_own_file_in_the_output_folder_stays(tmp_path: Path) -> None:
    own = tmp_path / "model.dlc"
    own.write_bytes((DATA / "small.dlc").read_bytes())
    run_size_sweep(SweepRequest(models=(own,), soc="SM8650", p_values="0", out=tmp_path), Silent())
    assert own.read_bytes() == (DATA / "small.dlc").read_bytes()
