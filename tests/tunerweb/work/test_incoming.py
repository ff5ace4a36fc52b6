from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from uuid import uuid4

import pytest

from tunerweb.work import incoming as module
from tunerweb.work.incoming import Incoming, PartLocked
from tunerweb.work.store import Store

PIECES = [os.urandom(5000), os.urandom(7000), os.urandom(11)]
CONTENT = b"".join(PIECES)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def incoming(tmp_path: Path) -> Incoming:
    return Incoming(tmp_path / "incoming")


@pytest.fixture
def part(incoming: Incoming) -> str:
    name = str(uuid4())
    incoming.start(name)
    return name


def receive(incoming: Incoming, part: str, pieces: list[bytes]) -> None:
    for piece in pieces:
        incoming.append(part, incoming.length(part) or 0, [piece])


def test_its_length_is_how_far_a_part_has_come(incoming: Incoming, part: str) -> None:
    receive(incoming, part, PIECES[:1])
    assert incoming.length(part) == 5000
    assert incoming.length("00") is None


def test_a_whole_file_goes_into_the_store(incoming: Incoming, part: str, tmp_path: Path) -> None:
    receive(incoming, part, PIECES)
    store = Store(tmp_path / "store")
    assert incoming.move_into(store, part).sha256 == SHA256
    assert store.read(SHA256) == CONTENT


def test_the_hash_is_known_from_receiving(
    incoming: Incoming, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive(incoming, part, PIECES)
    monkeypatch.delattr(module, "sha256_of")
    assert incoming.move_into(Store(tmp_path / "store"), part).sha256 == SHA256


def test_a_server_that_was_restarted_in_the_middle_hashes_the_file_again(
    incoming: Incoming, part: str, tmp_path: Path
) -> None:
    receive(incoming, part, PIECES[:1])
    restarted = Incoming(incoming.folder)
    receive(restarted, part, PIECES[1:])
    assert restarted.move_into(Store(tmp_path / "store"), part).sha256 == SHA256


def test_pieces_that_two_processes_receive_in_turn_make_one_file(incoming: Incoming, part: str, tmp_path: Path) -> None:
    other = Incoming(incoming.folder)
    for process, piece in zip((incoming, other, incoming), PIECES, strict=True):
        receive(process, part, [piece])
    assert incoming.move_into(Store(tmp_path / "store"), part).sha256 == SHA256


def test_moving_in_can_be_done_again_after_a_death_in_the_middle(incoming: Incoming, part: str, tmp_path: Path) -> None:
    receive(incoming, part, PIECES)
    store = Store(tmp_path / "store")
    incoming.move_into(store, part)
    assert Incoming(incoming.folder).move_into(store, part).sha256 == SHA256


def test_nothing_is_left_of_a_removed_part(incoming: Incoming, part: str) -> None:
    receive(incoming, part, PIECES)
    (incoming.folder / f"{part}.whole").touch()
    incoming.remove(part)
    assert list(incoming.folder.iterdir()) == []


def test_a_piece_that_breaks_off_leaves_the_part_as_it_was(incoming: Incoming, part: str, tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield PIECES[1][:100]
        raise OSError("the connection is gone")

    receive(incoming, part, PIECES[:1])
    with pytest.raises(OSError, match="gone"):
        incoming.append(part, 5000, broken())
    assert incoming.length(part) == 5000
    receive(incoming, part, PIECES[1:])
    assert incoming.move_into(Store(tmp_path / "store"), part).sha256 == SHA256


def test_a_piece_is_written_at_the_end_only(incoming: Incoming, part: str) -> None:
    receive(incoming, part, PIECES[:1])
    with pytest.raises(PartLocked):
        incoming.append(part, 0, [b"over"])
    assert incoming.path(part).read_bytes() == PIECES[0]


def test_a_part_that_was_removed_does_not_come_back(incoming: Incoming, part: str) -> None:
    incoming.remove(part)
    with pytest.raises(FileNotFoundError):
        incoming.append(part, 0, [b"late"])
    assert list(incoming.folder.iterdir()) == []


def test_one_holder_at_a_time(incoming: Incoming, part: str) -> None:
    with incoming.locked(part, 0), pytest.raises(PartLocked), Incoming(incoming.folder).locked(part, 0):
        pass


def test_a_waiter_gets_the_lock_when_it_is_free(incoming: Incoming, part: str) -> None:
    descriptor = incoming.lock(part, 0)
    assert descriptor is not None
    freer = Thread(target=lambda: incoming.unlock(descriptor))
    freer.start()
    with incoming.locked(part, 10):
        freer.join()


def test_the_lock_of_a_removed_part_is_nobodys(incoming: Incoming, part: str) -> None:
    incoming.remove(part)
    with pytest.raises(FileNotFoundError):
        incoming.lock(part, 0)


def test_the_oldest_parts_are_found(incoming: Incoming, part: str) -> None:
    assert list(incoming.parts_older_than(3600)) == []
    os.utime(incoming.path(part), (time.time() - 7200,) * 2)
    assert list(incoming.parts_older_than(3600)) == [part]


@pytest.mark.parametrize("name", ["", "../up", "a/b", "A", ".."])
def test_a_part_is_never_outside_the_folder(incoming: Incoming, name: str) -> None:
    with pytest.raises(ValueError, match="does not name a part"):
        incoming.path(name)


def test_only_so_many_hashes_are_kept_in_memory(
    incoming: Incoming, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_DIGESTS", 1)
    receive(incoming, part, PIECES)
    other = str(uuid4())
    incoming.start(other)
    receive(incoming, other, PIECES[:1])
    assert len(incoming._digests) == 1
    assert incoming.move_into(Store(tmp_path / "store"), part).sha256 == SHA256
