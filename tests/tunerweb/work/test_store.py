from __future__ import annotations

import errno
import hashlib
import os
import time
from pathlib import Path

import pytest

from tunerweb.work.store import Store, StoreDamaged

CONTENT = b"a model" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def make_old(path: Path) -> None:
    long_ago = time.time() - 7200
    os.utime(path, (long_ago, long_ago))


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_is_named_by_its_sha256(store: Store) -> None:
    stored = store.put(CONTENT)
    assert (stored.sha256, stored.size_bytes) == (SHA256, len(CONTENT))
    assert store.path(SHA256) == store.root / SHA256[:2] / SHA256
    assert store.read(SHA256) == CONTENT


def test_a_file_on_disk_is_copied_and_stays(store: Store, tmp_path: Path) -> None:
    (tmp_path / "model.dlc").write_bytes(CONTENT)
    assert store.put(tmp_path / "model.dlc").sha256 == SHA256
    assert (tmp_path / "model.dlc").read_bytes() == CONTENT


def test_the_same_content_is_stored_once(store: Store) -> None:
    assert store.put(CONTENT) == store.put(CONTENT)
    assert list(store.hashes()) == [SHA256]


def test_nothing_but_the_file_is_left_of_putting_it_in(store: Store) -> None:
    store.put(CONTENT)
    assert everything_in(store.root) == [".lock", f"{SHA256[:2]}/{SHA256}"]


def test_an_adopted_file_is_moved(store: Store, tmp_path: Path) -> None:
    store.root.mkdir()
    part = tmp_path / "part"
    part.write_bytes(CONTENT)
    store.adopt(part, SHA256)
    assert not part.exists()
    assert store.read(SHA256) == CONTENT


def test_an_empty_file_can_be_stored(store: Store) -> None:
    assert store.read(store.put(b"").sha256) == b""


def test_a_damaged_file_is_told(store: Store) -> None:
    store.put(CONTENT)
    store.path(SHA256).write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(StoreDamaged, match="damaged"):
        store.read(SHA256)


def test_a_damaged_file_is_never_given_out_whole(store: Store) -> None:
    store.put(CONTENT)
    store.path(SHA256).write_bytes(b"!" + CONTENT[1:])
    given = []
    with pytest.raises(StoreDamaged):
        given.extend(store.stream(SHA256, chunk_bytes=1000))
    assert sum(map(len, given)) < len(CONTENT)


def test_a_damaged_file_is_healed_by_giving_its_content_in_again(store: Store) -> None:
    store.put(CONTENT)
    store.path(SHA256).write_bytes(b"!")
    store.put(CONTENT)
    assert store.read(SHA256) == CONTENT


def test_a_file_that_is_not_there_is_not_found(store: Store) -> None:
    assert not store.contains(SHA256)
    with pytest.raises(FileNotFoundError):
        store.read(SHA256)


@pytest.mark.parametrize("name", ["", "../etc/passwd", "A" * 64, "ab" * 31])
def test_only_a_sha256_is_a_name(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="not a sha256"):
        store.path(name)


def test_a_full_disk_is_told_and_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(CONTENT)
    assert everything_in(store.root) == []


def test_a_real_full_disk_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    target = store.root / "incoming" / "copy"
    target.parent.mkdir(parents=True)
    target.symlink_to("/dev/full")
    monkeypatch.setattr(store, "_new_copy", lambda: target)
    with pytest.raises(OSError, match="No space left"):
        store.put(CONTENT)
    assert everything_in(store.root) == []


def test_what_killed_processes_left_is_removed_when_it_is_old(store: Store) -> None:
    store.put(CONTENT)
    old, new = (store.root / "incoming" / name for name in ("0" * 32, "1" * 32))
    for path in (old, new):
        path.write_bytes(b"half of")
    make_old(old)
    store.remove_leftovers(older_than_s=3600)
    assert (old.exists(), new.exists(), store.contains(SHA256)) == (False, True, True)


def test_an_old_file_can_be_dropped(store: Store) -> None:
    store.put(CONTENT)
    make_old(store.path(SHA256))
    assert store.remove_if_older(SHA256, 3600)
    assert not store.contains(SHA256)


def test_a_file_that_was_given_in_again_is_not_dropped(store: Store) -> None:
    store.put(CONTENT)
    make_old(store.path(SHA256))
    store.put(CONTENT)
    assert not store.remove_if_older(SHA256, 3600)
    assert store.contains(SHA256)


def test_dropping_what_is_gone_is_no_error(store: Store) -> None:
    store.root.mkdir()
    assert not store.remove_if_older(SHA256, 0)
    store.remove(SHA256)


def test_a_large_file_is_streamed_in_chunks(store: Store) -> None:
    content = os.urandom(3_000_000)
    chunks = list(store.stream(store.put(content).sha256))
    assert [len(chunk) for chunk in chunks] == [2**20, 2**20, 3_000_000 - 2 * 2**20]
    assert b"".join(chunks) == content


def test_no_store_yet_has_no_hashes(store: Store) -> None:
    assert list(store.hashes()) == []
    store.remove_leftovers(0)
