"""How much a client may send, and how slowly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abstrag.server.answers import Refused, TooLarge, TooSlow, refusal
from abstrag.server.settings import ServerSettings


class BodyLimits:
    """Reads a small body whole before the application sees it, within a limit and a time.

    Uploads pass through: whoever takes them reads them with `received`, under other limits.
    """

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, *, upload: str | None = None
    ) -> None:
        """Wrap an application; POSTs to the address `upload` are left to it."""
        self._app = app
        self._upload = upload
        self._most = settings.max_body_bytes
        self._idle_s = settings.idle_limit_s
        self._whole_s = settings.body_limit_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_upload = scope["type"] == "http" and (
            scope["method"] == "POST" and scope["path"] == self._upload
        )
        if scope["type"] != "http" or is_upload:
            await self._app(scope, receive, send)
            return
        try:
            pieces = [
                piece
                async for piece in received(
                    Headers(scope=scope),
                    receive,
                    most=self._most,
                    idle_s=self._idle_s,
                    whole_s=self._whole_s,
                )
            ]
        except Refused as error:
            await refusal(error)(scope, receive, send)
            return
        whole: Message = {"type": "http.request", "body": b"".join(pieces)}
        await while_there(self._app, whole, scope, receive, send)


async def while_there(
    app: ASGIApp, whole: Message, scope: Scope, receive: Receive, send: Send
) -> None:
    """Let an application answer a request whose body is there, and stop it when the client goes.

    What waits in a line for its turn leaves the line; what a thread has begun is done to its end.
    """
    gone, complete, waiting = asyncio.Event(), False, [whole]

    async def replayed() -> Message:
        if waiting:
            return waiting.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def watched(message: Message) -> None:
        nonlocal complete
        await send(message)
        complete = message["type"] == "http.response.body" and not message.get("more_body", False)

    async def until_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    answering = asyncio.ensure_future(app(scope, replayed, watched))
    watching = asyncio.ensure_future(until_gone())
    try:
        await asyncio.wait((answering, watching), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done() and not complete:
            answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering
    finally:
        answering.cancel()
        watching.cancel()


async def received(
    headers: Headers, receive: Receive, *, most: int, idle_s: float, whole_s: float
) -> AsyncIterator[bytes]:
    """Yield a body piece by piece; too much or too slow ends it at once.

    A body that says how long it is, is refused before a byte of it is read.

    Raises:
        TooLarge: It has, or says it has, more than `most` bytes.
        TooSlow: Nothing came for `idle_s` seconds, not everything within `whole_s`, or the client
            went away in the middle.
    """
    said = headers.get("content-length", "0")
    if not said.isascii() or not said.isdigit() or int(said) > most:
        raise _too_large(most)
    size, more = 0, True
    clock = asyncio.get_running_loop().time
    deadline = clock() + whole_s
    while more:
        left_s = deadline - clock()
        try:
            message = await asyncio.wait_for(receive(), min(idle_s, left_s))
        except TimeoutError:
            said = f"nothing came for {idle_s:g} seconds"
            if left_s < idle_s:
                said = f"the body was not complete after {whole_s:g} seconds"
            raise TooSlow(said, hint="send it again") from None
        if message["type"] == "http.disconnect":
            raise TooSlow("the client went away before it had sent everything")
        piece = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise _too_large(most)
        more = message.get("more_body", False)
        if piece:
            yield piece


def _too_large(most: int) -> TooLarge:
    shown = f"{most / 2**20:.1f} MB" if most >= 2**20 else f"{most:,} bytes"
    return TooLarge(f"the body is larger than {shown}", hint="start the server with --max-mb")
