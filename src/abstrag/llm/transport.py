"""HTTP that always ends: one deadline for the exchange, a cap on bytes, a way to call it off.

The time limits of HTTP libraries are for one read: a server that sends a byte now and then keeps
them waiting for ever. Here every read of the socket, TLS and headers included, is measured against
one deadline, and gives way at once when the work is called off.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from abstrag.errors import InputError

_CONNECT_S: Final = 10.0
_GLANCE_S: Final = 0.1  # how often a waiting read looks up whether it is still wanted


class Cancelled(Exception):
    """The exchange was ended from our side: nobody waits for it any more."""


class TooLong(Exception):
    """The reply has more bytes than any reply needs."""


class Deadline:
    """Until when the exchange of this thread may take, and whether it is still wanted."""

    def __init__(self, seconds: float, stop: threading.Event) -> None:
        self.deadline = time.monotonic() + seconds
        self.stop = stop

    def left(self) -> float:
        """Return the seconds left.

        Raises:
            Cancelled: The exchange is no longer wanted.
            httpcore.ReadTimeout: No time is left.
        """
        if self.stop.is_set():
            raise Cancelled
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout("the deadline has passed")
        return seconds


_HERE: Final = threading.local()  # an exchange stays in one thread, whoever's connection it is on


def _watch() -> Deadline:
    watch: Deadline = _HERE.watch
    return watch


class _Stream(httpcore.NetworkStream):
    """A connection whose reads and writes keep to the watch of their thread."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        while True:
            try:
                return self._inner.read(max_bytes, min(_watch().left(), _GLANCE_S))
            except httpcore.ReadTimeout:
                _watch().left()  # raises when it really is over

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._inner.write(buffer, _watch().left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        limit = min(_watch().left(), _CONNECT_S)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, limit))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Opens such connections."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        limit = min(_watch().left(), _CONNECT_S)
        plain = httpcore.SyncBackend()
        return _Stream(plain.connect_tcp(host, port, limit, local_address, socket_options))


class Transport(httpx.BaseTransport):
    """Carries the requests of an `httpx.Client`, directly or through the environment's proxy."""

    def __init__(self, url: str, connections: int) -> None:
        """Prepare connections to one address.

        Raises:
            InputError: It is no address, or the environment names a proxy we cannot use.
        """
        try:
            proxy = _proxy(httpx.URL(url))
        except httpx.InvalidURL as error:
            raise InputError(f"{url!r} is not the address of an endpoint: {error}") from error
        common: dict[str, Any] = {
            "ssl_context": httpx.create_ssl_context(),
            "max_connections": connections,
            "network_backend": _Backend(),
        }
        self._pool: httpcore.ConnectionPool = (
            httpcore.HTTPProxy(proxy, **common) if proxy else httpcore.ConnectionPool(**common)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body of the response is read from the returned stream."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        sent = httpcore.Request(
            request.method,
            url,
            headers=request.headers.raw,
            content=request.read(),
            extensions={"timeout": {"pool": _watch().left()}},
        )
        with _as_httpx():
            got = self._pool.handle_request(sent)
        return httpx.Response(got.status, headers=got.headers, stream=_Body(got))

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise httpx.ConnectError(str(error)) from error  # nothing was sent yet
    except httpcore.TimeoutException as error:
        raise httpx.TimeoutException(str(error)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        raise httpx.TransportError(str(error)) from error


def _proxy(url: httpx.URL) -> str | None:
    """Return the proxy that the environment names for an address."""
    if proxy_bypass(url.host):
        return None
    proxies = getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    if found and not found.startswith(("http://", "https://")):
        raise InputError(
            f"the proxy {found.rpartition('@')[2]!r} of the environment is not one for HTTP",
            hint=f"to do without it: export NO_PROXY={url.host}",
        )
    return found


def exchange(
    client: httpx.Client, request: httpx.Request, watch: Deadline, *, most_bytes: int
) -> tuple[httpx.Response, bytes]:
    """Send a request and read the whole reply, in this thread.

    Raises:
        httpx.ConnectError: There is no connection, so nothing was sent.
        httpx.TimeoutException: The last byte had not come by the deadline.
        httpx.TransportError: The connection broke.
        TooLong: The reply does not end.
        Cancelled: The reply is no longer wanted.
    """
    _HERE.watch = watch
    try:
        response = client.send(request, stream=True)
        try:
            body = bytearray()
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > most_bytes:
                    raise TooLong
                watch.left()
        finally:
            response.close()
    except httpcore.ReadTimeout as error:  # of our own look at the clock
        raise httpx.ReadTimeout(str(error)) from error
    finally:
        del _HERE.watch
    return response, bytes(body)
