"""Every request is counted, timed and logged, with a number that its answer carries."""

from __future__ import annotations

import logging
from secrets import token_hex
from time import perf_counter
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abstrag.server.metrics import Metrics

REQUEST: Final = "abstrag.request"  # where a request's scope has its number
_OTHER: Final = "other"  # what was asked for and is not there; a label for each would be endless
log: Final = logging.getLogger("abstrag.access")


class Observed:
    """Stands before everything else, so that what is refused is seen as well."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number = scope[REQUEST] = token_hex(8)
        status = 500
        started = perf_counter()

        async def numbered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = number
            await send(message)

        try:
            await self._app(scope, receive, numbered)
        finally:
            seconds = perf_counter() - started
            route = getattr(scope.get("route"), "path", _OTHER)
            self._metrics.request(scope["method"], route, status, seconds)
            told = {
                "request": number,
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round(1000 * seconds, 1),
            }
            log.info("%s %s %s", scope["method"], route, status, extra={"fields": told})
