from __future__ import annotations

import re
from pathlib import Path

from tests.tunerweb.cli.commands import tunerweb


def test_the_demo_sweeps_the_sample_model_to_its_ranking(tmp_path: Path) -> None:
    done = tunerweb("demo", "--once", "--data", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"See it live, the link signs you in once: http://127\.0\.0\.1:\d+/enter/", done.stdout)
    assert "ranked by ROM" in done.stdout
    assert "ROM: ship P=22" in done.stdout
    assert done.stdout.endswith("Stopped.\n")
