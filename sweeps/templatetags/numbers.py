"""Numbers in templates: `{{ rom_bytes|bytes }}`, `{% delta percent %}`, `{% missing "reason" %}`.

What is absent is an em dash with its reason, never 0 and never blank.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sweeps import formats
from sweeps.formats import ByteColumn

register = template.Library()
NOT_REPORTED = "not reported by this toolchain"
NO_BASELINE = "there is no baseline to compare with"


@register.simple_tag
def missing(reason: str = NOT_REPORTED) -> SafeString:
    return format_html(
        '<abbr class="missing" title="{0}"><span aria-hidden="true">—</span>'
        '<span class="visually-hidden">{0}</span></abbr>',
        reason,
    )


@register.filter(name="bytes")
def bytes_filter(value: int | None) -> SafeString:
    """`748 KiB`, the exact count on hover."""
    if value is None:
        return missing()
    return format_html('<span title="{}">{}</span>', formats.bytes_exact(value), formats.bytes_text(value))


@register.filter
def bytes_in(value: int | None, column: ByteColumn | str) -> SafeString:
    """The figure alone, for a column whose head names the unit: a `ByteColumn`, or a unit such as `KiB`."""
    if value is None:
        return missing()
    if isinstance(column, str):
        column = ByteColumn(column, 0 if column in {"B", "KiB"} else 2)
    return format_html('<span title="{}">{}</span>', formats.bytes_exact(value), column.text(value))


@register.filter
def bytes_plain(value: int | None) -> str:
    return "—" if value is None else formats.bytes_text(value)


@register.filter
def bytes_exact(value: int | None) -> str:
    return "—" if value is None else formats.bytes_exact(value)


@register.filter
def byte_column(values: Iterable[int | None]) -> ByteColumn:
    return formats.byte_column(values)


@register.filter
def grouped(value: int | None) -> str | SafeString:
    return missing() if value is None else formats.grouped(value)


@register.filter
def percent(difference: float | None) -> str | SafeString:
    return missing() if difference is None else formats.percent_text(difference)


@register.simple_tag
def delta(difference: float | None, real: bool = True, reason: str = NO_BASELINE) -> SafeString:
    """The difference to the baseline; less is better. Only a real one has a colour, and its sign says the same."""
    if difference is None:
        return missing(reason)
    tone = "" if difference == 0 or not real else " delta-worse" if difference > 0 else " delta-better"
    text = formats.percent_text(difference)
    if difference == 0:
        return format_html('<span class="delta" title="the same as the baseline">{}</span>', text)
    return format_html('<span class="delta{}" title="{}">{}</span>', tone, formats.signed(f"{difference:+.4f} %"), text)


@register.filter
def duration(seconds: float | None) -> str | SafeString:
    return missing("not known yet") if seconds is None else formats.duration_text(seconds)


@register.filter
def microseconds(value_us: float | None) -> str | SafeString:
    return missing() if value_us is None else formats.microseconds_text(value_us)


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """`2 h ago`, the moment itself on hover."""
    if moment is None:
        return missing("not yet")
    stamp = timezone.localtime(moment)
    return format_html(
        '<time class="nowrap" datetime="{}" title="{}">{}</time>',
        stamp.isoformat(timespec="seconds"),
        f"{stamp:%Y-%m-%d %H:%M:%S %Z}",
        formats.ago_text(moment, timezone.now()),
    )
