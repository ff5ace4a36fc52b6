"""The table of bytes in the `*_schematic.bin` that a compile with optrace writes: what each operation moves.

The format is private to the toolchain and may change: what is not found is not available, and never 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from devices.runners.parsers.profile import NotAProfile

SECTION = re.compile(r"^bandwidth_information\s*=\s*\[(?P<rows>.*?)^\]", re.MULTILINE | re.DOTALL)
OPERATION = re.compile(r"\{([^{}]*)\}")
FIELD = re.compile(r'"(\w+)"\s*:\s*(0x[0-9a-fA-F]+|\d+)')
KINDS = ("dram_read", "dram_write", "vtcm_read", "vtcm_write")


@dataclass(frozen=True)
class PlannedTraffic:
    """Bytes of one inference, as the compiler planned them, and how many operations move them."""

    dram_read_bytes: int
    dram_write_bytes: int
    vtcm_read_bytes: int
    vtcm_write_bytes: int
    operations: int

    @property
    def dram_bytes(self) -> int:
        return self.dram_read_bytes + self.dram_write_bytes


def parse_schematic(text: str) -> PlannedTraffic:
    """Raises `NotAProfile` where the table is missing, empty, or written in another way."""
    section = SECTION.search(text)
    if section is None:
        raise NotAProfile(
            "There is no table of bytes here. The *_schematic.bin that a compile with optrace writes is expected."
        )
    operations = [
        {name: int(value, 0) for name, value in FIELD.findall(row)} for row in OPERATION.findall(section["rows"])
    ]
    if not operations or not all(operation.keys() >= set(KINDS) for operation in operations):
        raise NotAProfile("The table of bytes of this schematic is written in a way that is not known here.")
    sums = {f"{kind}_bytes": sum(operation[kind] for operation in operations) for kind in KINDS}
    return PlannedTraffic(**sums, operations=len(operations))
