"""How answers leave the server: records as JSON, errors as one sentence and a hint."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from abstrag.errors import AbstragError, InputError
from abstrag.server.metrics import REQUEST

# What only a server has to refuse: errors that exist because there is a request.
#
# They are `InputError`s with an HTTP status of their own, so every answer that is no success has
# the same three fields: one sentence, a hint, and the name of the class.


class Refused(InputError):
    """A request that cannot be served as it is."""

    http_status = 400
    headers: dict[str, str] = {}  # noqa: RUF012 - read only; a subclass names its own


class NoToken(Refused):
    """The token is missing or wrong."""

    http_status = 401
    headers = {"WWW-Authenticate": "Bearer"}  # noqa: RUF012


class NotAllowed(Refused):
    """The token is known and does not allow this."""

    http_status = 403


class Foreign(Refused):
    """The request comes from another web site, or under a name that is not ours."""

    http_status = 403


class NotThere(Refused):
    """Nothing is at this address."""

    http_status = 404


class TooSlow(Refused):
    """The client took too long to send its request."""

    http_status = 408
    headers = {"Connection": "close"}  # noqa: RUF012


class TooLarge(Refused):
    """The body of the request is over the limit."""

    http_status = 413
    headers = {"Connection": "close"}  # noqa: RUF012 - the rest of the body is not read


class WrongType(Refused):
    """The body has another media type than the address takes."""

    http_status = 415


class TooBusy(Refused):
    """The queue is full."""

    http_status = 429
    headers = {"Retry-After": "2"}  # noqa: RUF012


def told(error: AbstragError) -> dict[str, Any]:
    """Return an error as plain data, for answers and failed jobs alike."""
    return {"error": str(error), "hint": error.hint, "kind": type(error).__name__}


JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
_LINGER_S: Final = 2.0
_LINGER_BYTES: Final = 64 * 1024 * 1024
log: Final = logging.getLogger("abstrag.server")


def encoded(data: Any) -> bytes:
    """Return plain data as JSON; `<` is escaped, so no browser can take an answer for a page."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").encode()


def answer(data: Any, status: int = 200) -> Response:
    """Return plain data as a response."""
    return Response(encoded(data), status, media_type=JSON)


def event(data: Any) -> bytes:
    """Return plain data as one server-sent event."""
    return b"data: " + encoded(data) + b"\n\n"


def refusal(error: AbstragError) -> Response:
    """Return an error as a response."""
    headers = error.headers if isinstance(error, Refused) else None
    kind = _Lingering if isinstance(error, TooLarge) else Response
    return kind(encoded(told(error)), error.http_status, headers=headers, media_type=JSON)


class _Lingering(Response):
    """A refusal that is sent so that a client that is still sending can read it.

    Hanging up at once resets the connection, and with it goes the answer. So what is still coming
    is thrown away for a moment, within bounds.
    """

    async def __call__(
        self,
        scope: Scope,  # noqa: ARG002 - the interface's
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer, and hang up when the client is done or the bounds are reached."""
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                thrown_away = 0
                while thrown_away < _LINGER_BYTES:
                    message = await receive()
                    thrown_away += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        break
        await send({"type": "http.response.body", "body": b""})


def install(app: FastAPI) -> None:
    """Make an application answer every error in the same form."""

    @app.exception_handler(AbstragError)
    async def _foreseen(_request: Request, error: AbstragError) -> Response:
        return refusal(error)

    @app.exception_handler(RequestValidationError)
    async def _unfit(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        sent = request.headers.get("content-type", "")
        if first["loc"][0] == "body" and sent.split(";")[0].strip() != JSON:
            return refusal(WrongType(f"the body is {sent!r}", hint=f"send it as {JSON}"))
        where = ".".join(map(str, first["loc"][1:])) or "the body"
        return refusal(InputError(f"{where}: {first['msg']}", hint="see /openapi.json"))

    @app.exception_handler(HTTPException)
    async def _framework(request: Request, error: HTTPException) -> Response:
        refused = Refused(f"{request.method} {request.url.path}: {error.detail}")
        refused.http_status = error.status_code
        return refusal(refused)

    @app.exception_handler(Exception)
    async def _unforeseen(request: Request, error: Exception) -> Response:
        number = {"request": request.scope.get(REQUEST)}
        path = request.url.path
        log.error("%s %s failed", request.method, path, exc_info=error, extra={"fields": number})
        return refusal(
            AbstragError(
                "something went wrong inside the server",
                hint="its log has the details; please report them",
            )
        )
