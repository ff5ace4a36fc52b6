"""What of a sweep a page shows. All of it is in the address, so that a link shows the same to everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from sweeps.ranking import Metric

ORDERS = ("rank", "p", *Metric)
LARGEST_PAGE_NUMBER_DIGITS = 6


@dataclass(frozen=True)
class PageView:
    """`sort`: one of `ORDERS`, with `-` in front from the largest down; `page` is that of the trials."""

    by: Metric = Metric.ROM
    sort: str = "rank"
    show_all: bool = False
    page: int = 1

    @staticmethod
    def read(query: Mapping[str, str]) -> PageView:
        """Anything that makes no sense counts as not said."""
        by, sort, page = query.get("by", ""), query.get("sort", ""), query.get("page", "")
        is_number = page.isascii() and page.isdecimal() and len(page) <= LARGEST_PAGE_NUMBER_DIGITS
        return PageView(
            by=Metric(by) if by in list(Metric) else Metric.ROM,
            sort=sort if sort.removeprefix("-") in ORDERS else "rank",
            show_all=query.get("all", "") == "1",
            page=max(1, int(page)) if is_number else 1,
        )

    @property
    def sort_key(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    @property
    def is_ranked(self) -> bool:
        """In the order of the ranking, or against it: then ties are one line."""
        return self.sort_key in ("rank", self.by)

    @property
    def query(self) -> str:
        """As it stands in the address: only what is not the default."""
        said = {
            "by": "" if self.by is Metric.ROM else self.by,
            "sort": "" if self.sort == "rank" else self.sort,
            "all": "1" if self.show_all else "",
            "page": "" if self.page == 1 else str(self.page),
        }
        return urlencode({key: value for key, value in said.items() if value})
