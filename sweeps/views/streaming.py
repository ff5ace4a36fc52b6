"""Files out of the store to a browser, a chunk at a time, whichever way the server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header


def send_file(
    request: HttpRequest, chunks: Iterable[bytes], name: str, size_bytes: int, content_type: str
) -> StreamingHttpResponse:
    headers = {
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
        "Content-Length": str(size_bytes),
        "Content-Type": content_type,
    }
    # Django would first read all of a plain iterator into memory under ASGI.
    content = _in_threads(iter(chunks)) if isinstance(request, ASGIRequest) else chunks
    return StreamingHttpResponse(content, headers=headers)


async def _in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk
