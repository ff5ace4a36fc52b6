"""What a model is known by: the sha256 of all that it consists of."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tunerweb.work.store import sha256_of

__all__ = ["sha256_of", "sha256_of_source"]


def sha256_of_source(model: Path) -> str:
    """Of the file when the model is one file; else of the names and hashes of all files that it consists of."""
    files = sorted(path for path in model.parent.rglob("*") if path.is_file())
    if files == [model]:
        return sha256_of(model)
    lines = [f"{sha256_of(path)}  {path.relative_to(model.parent)}\n" for path in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
