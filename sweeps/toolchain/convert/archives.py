"""The table of contents of a zip, read with bounds; a DLC is one too, and cut-off or hostile files are zips as well.

Python's own reader is not asked before this one has agreed: it trusts what the file says about itself.
"""

from __future__ import annotations

import os
import stat
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

MOST_ENTRIES = 10_000
LONGEST_NAME_BYTES = 255
MOST_UNPACKED_BYTES = 64 * 2**30
MOST_RATIO = 200
RATIO_FREE_BYTES = 2**20
LONGEST_TABLE_BYTES = 16 * 2**20

END = struct.Struct("<4s4H2LH")
END64_LOCATOR = struct.Struct("<4sLQL")
END64 = struct.Struct("<4sQ2H2L4Q")
CENTRAL = struct.Struct("<4s6H3L5H2L")
LOCAL = struct.Struct("<4s5H3L2H")
STORED, DEFLATED = 0, 8
ENCRYPTED = 1
ZIP64 = 0xFFFFFFFF


class ArchiveProblem(ValueError):
    """The message is the end of a sentence that starts with the archive: `it is cut off: ...`."""


@dataclass(frozen=True)
class Entry:
    name: str
    method: int
    flags: int
    packed_bytes: int
    unpacked_bytes: int
    offset: int
    mode: int

    @property
    def is_folder(self) -> bool:
        return self.name.endswith("/")


def read_directory(path: Path) -> tuple[Entry, ...]:
    """All entries, in the order of the table of contents. Raise `ArchiveProblem`."""
    with path.open("rb") as file:
        count, size, start = _find_table(file, path.stat().st_size)
        if count > MOST_ENTRIES or size > LONGEST_TABLE_BYTES:
            raise ArchiveProblem(f"it holds more than {MOST_ENTRIES} files")
        file.seek(start)
        return _parse_table(file.read(size), count)


def _find_table(file: BinaryIO, file_bytes: int) -> tuple[int, int, int]:
    """Entries, size and offset of the central directory."""
    tail_start = max(0, file_bytes - END.size - 0xFFFF)
    file.seek(tail_start)
    tail = file.read()
    position = tail.rfind(b"PK\5\6")
    if position < 0 or len(tail) - position < END.size:
        raise ArchiveProblem("it is cut off: the table of contents at its end is missing")
    _, disk, table_disk, _, count, size, start, comment = END.unpack_from(tail, position)
    if position + END.size + comment != len(tail) or disk or table_disk:
        raise ArchiveProblem("it is damaged: the table of contents is not at its end")
    end = tail_start + position
    if ZIP64 in (size, start) or count == 0xFFFF:
        count, size, start, end = _find_table64(file, end)
    if start + size > end:
        raise ArchiveProblem("it is damaged: its table of contents points outside of the file")
    return count, size, start


def _find_table64(file: BinaryIO, end: int) -> tuple[int, int, int, int]:
    problem = ArchiveProblem("it is damaged: its table of contents for large files is missing")
    if end < END64_LOCATOR.size:
        raise problem
    file.seek(end - END64_LOCATOR.size)
    magic, _, start, _ = END64_LOCATOR.unpack(file.read(END64_LOCATOR.size))
    if magic != b"PK\6\7" or start > end - END64.size:
        raise problem
    file.seek(start)
    fields = END64.unpack(file.read(END64.size))
    if fields[0] != b"PK\6\6":
        raise problem
    return fields[7], fields[8], fields[9], start


def _parse_table(table: bytes, count: int) -> tuple[Entry, ...]:
    entries, position = [], 0
    for _ in range(count):
        if len(table) - position < CENTRAL.size or table[position : position + 4] != b"PK\1\2":
            raise ArchiveProblem("it is damaged: its table of contents has fewer files than it says")
        entry, position = _parse_entry(table, position)
        entries.append(entry)
    return tuple(entries)


def _parse_entry(table: bytes, position: int) -> tuple[Entry, int]:
    fields = CENTRAL.unpack_from(table, position)
    flags, method = fields[3], fields[4]
    packed, unpacked, name_bytes, extra_bytes, comment_bytes = fields[8:13]
    mode, offset = fields[15] >> 16, fields[16]
    name_start = position + CENTRAL.size
    extra_start = name_start + name_bytes
    end = extra_start + extra_bytes + comment_bytes
    if end > len(table) or name_bytes > LONGEST_NAME_BYTES:
        raise ArchiveProblem(f"it is damaged, or holds a name of more than {LONGEST_NAME_BYTES} bytes")
    name = table[name_start:extra_start].decode("utf-8", "replace")
    sizes = _large(table[extra_start : extra_start + extra_bytes], [unpacked, packed, offset])
    return Entry(name, method, flags, sizes[1], sizes[0], sizes[2], mode), end


def _large(extra: bytes, sizes: list[int]) -> list[int]:
    """The 64-bit values, which stand in an extra field in the order of those that did not fit."""
    values = iter(_large_values(extra))
    try:
        return [next(values) if size == ZIP64 else size for size in sizes]
    except StopIteration:
        raise ArchiveProblem("it is damaged: the size of a large file is missing") from None


def _large_values(extra: bytes) -> tuple[int, ...]:
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<2H", extra)
        if kind == 1:
            whole = min(size, len(extra) - 4) // 8
            return struct.unpack_from(f"<{whole}Q", extra, 4)
        extra = extra[4 + size :]
    return ()


def check_entries(path: Path, entries: Sequence[Entry]) -> None:
    """Refuse what an honest zip of a model never is: bombs, links, odd names, overlapping files. `ArchiveProblem`."""
    for entry in entries:
        _check_name(entry)
        _check_kind(entry)
    _check_sizes(path, entries)
    names = [unicodedata.normalize("NFC", entry.name).casefold() for entry in entries]
    if len(set(names)) < len(names):
        raise ArchiveProblem("it holds two files of the same name")
    check_layout(path, entries)


def _check_name(entry: Entry) -> None:
    if not is_plain_location(entry.name.removesuffix("/")):
        raise ArchiveProblem(f"it holds {quoted(entry.name)}, a name that leads outside of it")


def _check_kind(entry: Entry) -> None:
    kind = stat.S_IFMT(entry.mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveProblem(f"it holds {quoted(entry.name)}, which is a link or a special file")
    if entry.flags & ENCRYPTED:
        raise ArchiveProblem(f"{quoted(entry.name)} in it is encrypted")
    if entry.method not in (STORED, DEFLATED):
        raise ArchiveProblem(f"{quoted(entry.name)} in it is packed in a way other than plain zip")


def _check_sizes(path: Path, entries: Sequence[Entry]) -> None:
    for entry in entries:
        if entry.unpacked_bytes > max(RATIO_FREE_BYTES, entry.packed_bytes * MOST_RATIO):
            raise ArchiveProblem(f"{quoted(entry.name)} in it would unpack to more than {MOST_RATIO} times its size")
    total = sum(entry.unpacked_bytes for entry in entries)
    disk = os.statvfs(path.parent)
    if total > min(MOST_UNPACKED_BYTES, disk.f_bavail * disk.f_frsize // 2):
        raise ArchiveProblem(f"it would unpack to {total / 2**30:.1f} GB, more than this machine has room for")


def check_layout(path: Path, entries: Sequence[Entry]) -> None:
    """Every file of the zip lies in it, on bytes of its own. Raise `ArchiveProblem`."""
    end, file_bytes = 0, path.stat().st_size
    with path.open("rb") as file:
        for entry in sorted(entries, key=lambda entry: entry.offset):
            if entry.offset < end:
                raise ArchiveProblem(f"{quoted(entry.name)} in it shares its bytes with another file")
            file.seek(entry.offset)
            head = file.read(LOCAL.size)
            if len(head) < LOCAL.size or head[:4] != b"PK\3\4":
                raise ArchiveProblem(f"it is damaged at {quoted(entry.name)}")
            name_bytes, extra_bytes = LOCAL.unpack(head)[9:11]
            end = entry.offset + LOCAL.size + name_bytes + extra_bytes + entry.packed_bytes
            if end > file_bytes:
                raise ArchiveProblem(f"it is damaged: {quoted(entry.name)} in it does not end within the file")


def is_plain_location(text: str) -> bool:
    """A relative path to a file below the folder it is read from, on every system."""
    unprintable = not text.isprintable()
    if not text or unprintable or "\\" in text or ":" in text or text.startswith("/"):
        return False
    parts = PurePosixPath(text).parts
    return (
        ".." not in parts
        and len(text.encode()) <= LONGEST_NAME_BYTES * 4
        and all(len(p.encode()) <= 255 for p in parts)
    )


def quoted(text: str) -> str:
    """A name as a sentence can hold it: on one line, in quotes, its middle left out when it is long."""
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text).replace('"', '\\"')
    return f'"{shown}"' if len(shown) <= 90 else f'"{shown[:50]}...{shown[-30:]}"'
