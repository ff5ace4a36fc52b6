"""Files to whoever asked, a chunk at a time, whichever way the server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header


def send_file(
    request: HttpRequest, chunks: Iterable[bytes], name: str, size_bytes: int, content_type: str
) -> StreamingHttpResponse:
    """As an attachment, which no cache between keeps: it belongs to one team."""
    headers = {
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
        "Content-Length": str(size_bytes),
        "Content-Type": content_type,
        "Cache-Control": "private",
        "X-Content-Type-Options": "nosniff",
    }
    wanted = () if request.method == "HEAD" else chunks
    # Django would first read all of a plain iterator into memory under ASGI.
    content = _in_threads(iter(wanted)) if isinstance(request, ASGIRequest) else wanted
    return StreamingHttpResponse(content, headers=headers)


async def _in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk
