"""The files of a source model, out of the store and into a folder under their own names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tunerweb.work.artifacts import server_store


def lay_out(files: Iterable[tuple[str, str]], folder: Path) -> tuple[Path, ...]:
    """(name, sha256) of each; one folder per file, since a name may be anything. Links: nothing is copied here."""
    store = server_store()
    paths = []
    for number, (name, sha256) in enumerate(files):
        place = folder / str(number)
        place.mkdir()
        path = place / plain_name(name)
        path.symlink_to(store.path(sha256))
        paths.append(path)
    return tuple(paths)


def plain_name(name: str) -> str:
    """The last part of what a browser called the file, fit for a file system."""
    last = name.replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return last.encode()[:200].decode("utf-8", "ignore") if last not in ("", ".", "..") else "model"
