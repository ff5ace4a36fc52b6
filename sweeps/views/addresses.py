"""Where the person is: a request of htmx for a part of a page says so in a header."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import QueryDict

from sweeps.rows.views import PageView
from tunerweb.accounts.http import SignedInRequest

OF_THE_VIEW = ("by", "sort", "all", "page")


def query_on_page(request: SignedInRequest, view: PageView | None = None) -> QueryDict:
    """The query of the address that the person sees, with another view if one is given."""
    current = request.htmx.current_url_abs_path
    query = QueryDict(urlsplit(current).query if current else request.GET.urlencode(), mutable=True)
    if view is not None:
        for name in OF_THE_VIEW:
            query.pop(name, None)
        query.update(QueryDict(view.query))
    return query


def address_of(request: SignedInRequest, query: QueryDict, path: str = "") -> str:
    """Where the person is, or `path`, with this query."""
    here = (request.htmx.current_url_abs_path or "").split("?")[0]
    path = path or here or request.path
    return f"{path}?{query.urlencode()}" if query else path
