"""QHAS, the summary that the optrace reader of `qnn-profile-viewer` makes: time and traffic of one traced inference.

Versions differ, so each value may be missing. Tracing slows execution down: the time is for reading, not for ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from devices.runners.parsers.json_text import dig, number, read_object, rows, whole
from devices.runners.parsers.profile import NotAProfile

EXPECTED = "the QHAS summary (..._qnn_htp_analysis_summary.json)"
KNOWN_MAJOR = 2


@dataclass(frozen=True)
class Engine:
    """A unit of the HTP, such as HMX or one HVX thread."""

    name: str
    utilization_percent: float | None
    dram_read_bytes: int | None
    dram_write_bytes: int | None


@dataclass(frozen=True)
class Htp:
    """One row of the summary. None: not reported, or reported as 0 where that cannot be."""

    number: int | None
    time_us: float | None
    graph_execute_us: float | None
    dram_read_bytes: int | None
    dram_write_bytes: int | None
    dram_bytes: int | None
    peak_vtcm_bytes: int | None
    engines: tuple[Engine, ...]


@dataclass(frozen=True)
class Qhas:
    """`notes`: what a reader of the numbers has to know, in sentences."""

    source: ClassVar[str] = "QHAS measured"

    htps: tuple[Htp, ...]
    notes: tuple[str, ...]
    report: dict[str, Any]

    @property
    def time_us(self) -> float | None:
        """Of the first row, as Qualcomm's own tuner reads it; of several numbered HTPs, the slowest."""
        times = [htp.time_us for htp in self._counted]
        known = [time for time in times if time is not None]
        return max(known) if len(known) == len(times) else None

    @property
    def dram_bytes(self) -> int | None:
        """Read and written. Several HTPs are summed when the file numbers them; else the first row counts."""
        parts = [htp.dram_bytes for htp in self._counted]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    @property
    def _counted(self) -> tuple[Htp, ...]:
        return self.htps if _are_numbered(self.htps) else self.htps[:1]


def parse_qhas(text: str) -> Qhas:
    """Raises `NotAProfile`."""
    document = read_object(text, EXPECTED)
    summary = rows(dig(document, "data", "htp_overall_summary", "data"))
    if not summary:
        raise NotAProfile(f"There is no overall summary of an HTP in this JSON. Expected is {EXPECTED}.")
    htps = tuple(_htp(row) for row in summary)
    notes = (*_about_version(document), *_about_rows(htps), *(note for htp in htps for note in _about_htp(htp)))
    return Qhas(htps, tuple(dict.fromkeys(notes)), document)


def _htp(row: dict[str, Any]) -> Htp:
    read, write = whole(row.get("total_dram_read")), whole(row.get("total_dram_write"))
    total = whole(row.get("total_dram"))
    if total is None and read is not None and write is not None:
        total = read + write
    return Htp(
        number=whole(row.get("htp")),
        time_us=number(row.get("time_us")) or None,
        graph_execute_us=number(row.get("graph_execute_us")) or None,
        # An inference reads at least its input: 0 means that nothing was counted.
        dram_read_bytes=read if total else None,
        dram_write_bytes=write if total else None,
        dram_bytes=total or None,
        peak_vtcm_bytes=whole(row.get("peak_vtcm_alloc")),
        engines=tuple(_engine(engine) for engine in rows(dig(row, "htp_resources", "data"))),
    )


def _engine(row: dict[str, Any]) -> Engine:
    place = row.get("tid")
    return Engine(
        name=f"{row.get('type', 'unit')} {place}" if place is not None else str(row.get("type", "unit")),
        utilization_percent=number(row.get("utilization")),
        dram_read_bytes=whole(row.get("dram_read")),
        dram_write_bytes=whole(row.get("dram_write")),
    )


def _about_version(document: dict[str, Any]) -> list[str]:
    major = dig(document, "header", "version", "major")
    if major == KNOWN_MAJOR:
        return []
    named = "no version" if major is None else f"version {major}"
    return [f"The summary has {named}; it was read as version {KNOWN_MAJOR}."]


def _are_numbered(htps: tuple[Htp, ...]) -> bool:
    numbers = {htp.number for htp in htps}
    return None not in numbers and len(numbers) == len(htps)


def _about_rows(htps: tuple[Htp, ...]) -> list[str]:
    if len(htps) == 1:
        return []
    if _are_numbered(htps):
        return [f"{len(htps)} HTPs: their traffic is summed, and the time is that of the slowest."]
    return [f"{len(htps)} rows that are not numbered by HTP: only the first counts."]


def _about_htp(htp: Htp) -> list[str]:
    notes = []
    if htp.time_us is None:
        notes.append("The summary gives no time: some versions write 0, or are cut off.")
    if htp.dram_bytes is None:
        notes.append("The summary gives no DRAM traffic.")
    reads = [engine.dram_read_bytes for engine in htp.engines]
    known = [read for read in reads if read is not None]
    if known and htp.dram_read_bytes is not None and sum(known) != htp.dram_read_bytes:
        notes.append(
            f"The engines read {sum(known):,} bytes of DRAM, and the summary says {htp.dram_read_bytes:,}: the "
            "summary's number is used."
        )
    return notes
