"""Listening: uvicorn with timeouts for slow clients and a clean shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from abstrag.errors import AbstragError, InputError
from abstrag.server.settings import ServerSettings

_CONNECTIONS: Final = 512
_BACKLOG: Final = 256
_SHUTDOWN_S: Final = 5
_KEEP_ALIVE_S: Final = 10


def bound_socket(host: str, port: int) -> socket.socket:
    """Take an address and let clients queue there until they are served; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise InputError(
            f"cannot listen on {host!r} port {port}: {error.strerror or error}",
            hint="choose another one with --port, or 0 for any that is free",
        ) from error
    return made


def server_of(app: ASGIApp, settings: ServerSettings) -> uvicorn.Server:
    """Return the server that runs an application, ready to be run on a socket."""
    config = uvicorn.Config(
        app,
        http=_patient(settings),
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_SHUTDOWN_S,
        h11_max_incomplete_event_size=64 * 1024,
    )
    return uvicorn.Server(config)


def _patient(settings: ServerSettings) -> type[H11Protocol]:
    """Return the protocol class that disconnects clients that neither send nor read."""

    class TimeoutProtocol(H11Protocol):
        """HTTP/1.1 with timeouts for heads that do not arrive and answers nobody reads."""

        _asking: asyncio.TimerHandle | None = None  # until the head of a request is there
        _reading: asyncio.TimerHandle | None = None  # until the client takes what is sent to it

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_request()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._expect_request()

        def _expect_request(self) -> None:
            _cancel(self._asking)
            self._asking = self.loop.call_later(settings.head_limit_s, self._unless_asked)

        def _unless_asked(self) -> None:
            if self.cycle is None or self.cycle.response_complete:
                self.transport.close()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._reading = self.loop.call_later(settings.idle_limit_s, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            _cancel(self._reading)

        def connection_lost(self, exc: Exception | None) -> None:
            _cancel(self._asking)
            _cancel(self._reading)
            super().connection_lost(exc)

    return TimeoutProtocol


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def serve(app: ASGIApp, settings: ServerSettings, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; running requests may end, finished work is kept."""
    server = server_of(app, settings)
    # uvicorn handles both while it runs and raises them again when it is done: they have been
    # obeyed by then
    former = {one: signal.signal(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listening])
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)
    if not server.started:
        raise AbstragError("the server did not start", hint="its messages above say why")
