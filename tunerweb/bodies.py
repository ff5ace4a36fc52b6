"""Django spools a request's whole body to disk before it looks at who sends it: the size is capped before that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

MIB = 1024 * 1024
LARGEST_BODY = 33 * MIB  # the largest piece of an upload, and room for its headers
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
TOO_LARGE = b"This request is too large: files are sent in pieces by the upload page and the API.\n"


def limit_bodies(application: Application, largest: int = LARGEST_BODY) -> Application:
    async def limited(scope: Message, receive: Receive, send: Send) -> None:
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > largest:
            await _refuse(send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > largest:
                return {"type": "http.disconnect"}
            return message

        await application(scope, counted, send)

    return limited


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE})
