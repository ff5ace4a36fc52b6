from __future__ import annotations

import hashlib
from pathlib import Path

from sweeps.tuner.inputs import sha256_of_source, shown


def test_a_model_of_one_file_is_named_by_its_own_hash(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"model")
    assert sha256_of_source(tmp_path / "model.onnx") == hashlib.sha256(b"model").hexdigest()


def test_other_weights_beside_the_same_model_give_another_hash(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"model")
    hashes = set()
    for weights in (b"1", b"2"):
        (tmp_path / "model.onnx.data").write_bytes(weights)
        hashes.add(sha256_of_source(tmp_path / "model.onnx"))
    assert len(hashes) == 2


def test_a_name_with_a_newline_is_shown_on_one_line() -> None:
    assert shown(Path("two\nlines")) == "two\\x0alines"


def test_a_long_name_is_shortened_in_the_middle() -> None:
    assert shown(Path("a" * 300)) == "a" * 40 + "..." + "a" * 40
