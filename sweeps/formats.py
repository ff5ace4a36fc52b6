"""Numbers as people read them. Every function is text in, nothing else: no markup, no rounding that hides a sign."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
MINUS = "\N{MINUS SIGN}"
MOST_DECIMALS = 3


@dataclass(frozen=True)
class ByteColumn:
    """How all values of one column are written: one unit, and as many decimals as it takes to tell them apart."""

    unit: str
    decimals: int

    def text(self, value: int) -> str:
        return signed(f"{value / unit_size(self.unit):,.{self.decimals}f}")


def signed(text: str) -> str:
    """With a true minus sign, as wide as a plus."""
    return text.replace("-", MINUS)


def unit_size(unit: str) -> int:
    return int(1024 ** BYTE_UNITS.index(unit))


def grouped(value: int) -> str:
    return signed(f"{value:,}")


def bytes_exact(value: int) -> str:
    return f"{grouped(value)} byte" if abs(value) == 1 else f"{grouped(value)} bytes"


def bytes_text(value: int) -> str:
    """Three figures: `512 B`, `748 KiB`, `2.16 MiB`."""
    unit = _unit_of(value)
    size = unit_size(unit)
    decimals = 0 if value % size == 0 else _three_figures(value / size)
    return f"{ByteColumn(unit, decimals).text(value)} {unit}"


def byte_column(values: Iterable[int | None]) -> ByteColumn:
    known = sorted({value for value in values if value is not None})
    if not known:
        return ByteColumn("B", 0)
    largest = max(known, key=abs)
    unit = _unit_of(largest)
    whole = all(value % unit_size(unit) == 0 for value in known)
    fewest = 0 if whole else _three_figures(largest / unit_size(unit))
    told_apart = {0, *known}
    for decimals in range(fewest, MOST_DECIMALS + 1):
        column = ByteColumn(unit, decimals)
        if len({column.text(value) for value in told_apart}) == len(told_apart):
            return column
    return ByteColumn(unit, MOST_DECIMALS)


def _unit_of(value: int) -> str:
    size = float(abs(value))
    for unit in BYTE_UNITS[:-1]:
        if round(size) < 1024:
            return unit
        size /= 1024
    return BYTE_UNITS[-1]


def _three_figures(size: float) -> int:
    if abs(size) >= 99.95:
        return 0
    return 1 if abs(size) >= 9.995 else 2


def percent_text(difference: float) -> str:
    """A difference in percent, always with its sign: `+46 %`; `=` for none at all."""
    if difference == 0:
        return "="
    sign = "+" if difference > 0 else MINUS
    size = abs(difference)
    if size < 0.01:
        return f"{sign}<0.01 %"
    decimals = 0 if size >= 9.95 else 1 if size >= 0.095 else 2
    return f"{sign}{size:,.{decimals}f} %"


def duration_text(seconds: float) -> str:
    """`850 µs`, `420 ms`, `9.1 s`, `42 s`, `1 min 10 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds <= 0:
        return "0 s"
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1, 1e3, "ms")):
        if seconds < limit * 0.9995:
            return f"{seconds * factor:.3g} {unit}"
    if seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return _two_parts(whole)


def _two_parts(seconds: int) -> str:
    minutes = seconds // 60
    if minutes < 60:
        return _parts((minutes, "min"), (seconds % 60, "s"))
    if minutes < 24 * 60:
        return _parts((minutes // 60, "h"), (minutes % 60, "min"))
    return _parts((minutes // (24 * 60), "d"), (minutes // 60 % 24, "h"))


def _parts(large: tuple[int, str], small: tuple[int, str]) -> str:
    return " ".join(f"{count:,} {unit}" for count, unit in (large, small) if count)


def microseconds_text(value_us: float) -> str:
    return duration_text(value_us / 1e6)


def ago_text(moment: datetime, now: datetime) -> str:
    """`just now`, `2 h ago`, `in 5 min`; the date itself once it is a month away."""
    passed = now - moment
    size = abs(passed)
    if size < timedelta(seconds=45):
        return "just now"
    if size >= timedelta(days=30):
        return moment.date().isoformat()
    text = _one_part(size)
    return f"{text} ago" if passed > timedelta(0) else f"in {text}"


def _one_part(size: timedelta) -> str:
    minutes = max(1, round(size.total_seconds() / 60))
    if minutes < 60:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 36 else f"{round(hours / 24)} d"
