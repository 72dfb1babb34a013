"""Access control in front of the application: hosts, tokens, and sizes of bodies.

A page of another site can make a browser send requests here. Two things give such a request away,
and both are checked before anything else: the name it was sent to (a rebound DNS name is not ours)
and the origin it was sent from. A token keeps everybody else out where the server can be reached
from other machines.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abstrag.server.answers import Foreign, NotAllowed, NoToken, Refused, TooLarge, TooSlow, refusal
from abstrag.server.settings import LOOPBACK_NAMES, ServerSettings, is_loopback
from abstrag.server.settings import TokenScope as Access

_ASKING: Final = frozenset("search support explain why-not budget sweep compare ask".split())
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_GUARDED: Final = ("/api/", "/metrics")


class Guard:
    """Lets a request through, or refuses it; either way the answer has the security headers."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        *,
        public: bool = True,
        needs: Callable[[str, str], Access] | None = None,
    ) -> None:
        """Guard an application.

        Where it is `public`, what is not under /api or /metrics needs no token. `needs` says which
        scope a method and path take; those of the studio unless given.
        """
        self._app = app
        self._tokens = settings.all_tokens
        self._needs = needs or needed
        self._any_address = not is_loopback(settings.host)
        self._names = frozenset(
            name.casefold() for name in (*LOOPBACK_NAMES, settings.host, *settings.names)
        )
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def safer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope["method"], scope["path"], Headers(scope=scope))
        except Refused as error:
            await refusal(error)(scope, receive, safer)
            return
        await self._app(scope, receive, safer)

    def _check(self, method: str, path: str, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_ours(_name_of(host)):
            raise Foreign(
                f"this server is not called {host!r}",
                hint="use the address it printed at its start, or start it with --name",
            )
        origin = headers.get("origin")
        # the scheme is not compared: behind a proxy with TLS the page is https and we are not
        if origin is not None and _place_of(origin) != host.casefold():
            raise Foreign(f"requests from pages of {origin!r} are refused")
        if not self._tokens or (self._public and not path.startswith(_GUARDED)):
            return
        shown = _token(headers).encode()
        # all of them are compared, so that the time tells nothing
        met = [t.scope for t in self._tokens if hmac.compare_digest(shown, t.secret.encode())]
        if not met:
            raise NoToken(
                "the token is missing or wrong",
                hint="send the header Authorization: Bearer TOKEN, as printed at the start",
            )
        if max(met) < self._needs(method, path):
            raise NotAllowed(
                f"this token allows no {method} of {path!r}",
                hint=f"it takes a token of scope {self._needs(method, path).name.lower()}",
            )

    def _is_ours(self, name: str) -> bool:
        """True for our own names and for bare addresses, which DNS rebinding cannot fake."""
        if name in self._names:
            return True
        return self._any_address and _is_address(name)


def needed(method: str, path: str) -> Access:
    """Return the scope that a request needs; an unknown route needs the highest."""
    if method in ("GET", "HEAD"):
        return Access.READ
    last = path.rstrip("/").rpartition("/")[2]
    if method == "POST" and last in _ASKING:
        return Access.READ
    if path == "/api/documents" and method == "POST":
        return Access.INDEX
    if path.startswith("/api/jobs/") and method == "DELETE":
        return Access.INDEX
    return Access.ADMIN


def _name_of(host: str) -> str:
    """Return a Host header without its port and without the brackets of an IPv6 address."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _place_of(origin: str) -> str | None:
    """Return host and port of an Origin header; None for what is no origin at all."""
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _token(headers: Headers) -> str:
    """Return the token a request offers, or nothing."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.casefold() == "bearer" else ""


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
        await _while_there(self._app, whole, scope, receive, send)


async def _while_there(
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
