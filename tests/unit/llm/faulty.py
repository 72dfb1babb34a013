"""A server on this machine that does to a client whatever servers do."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler"], None]

_LONG_S = 60.0  # as good as never


class Handler(BaseHTTPRequestHandler):
    """Takes the next behaviour of the script; the last one stays."""

    protocol_version = "HTTP/1.1"
    server: FaultyServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        behaviour = self.server.next(body, dict(self.headers))
        try:
            behaviour(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client went away, as it should

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class FaultyServer(ThreadingHTTPServer):
    """Keeps what it was asked."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, script: list[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self._at_once = 0
        self.over = threading.Event()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next(self, body: dict[str, Any], headers: dict[str, str]) -> Behaviour:
        with self._lock:
            number = len(self.bodies)
            self.bodies.append(body)
            self.headers.append(headers)
            return self.script[min(number, len(self.script) - 1)]

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count whoever is in the block."""
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what is being tested."""


@contextmanager
def serving(*script: Behaviour) -> Iterator[FaultyServer]:
    server = FaultyServer(list(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def completion(
    content: Any,
    *,
    finish: str = "stop",
    usage: Any = (10, 5),
    logprobs: Any = None,
) -> bytes:
    """Return the body of a chat completion."""
    data: dict[str, Any] = {
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content},
                **({"logprobs": logprobs} if logprobs is not None else {}),
            }
        ]
    }
    if usage is not None:
        data["usage"] = (
            {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
            if isinstance(usage, tuple)
            else usage
        )
    return json.dumps(data).encode()


def says(content: Any, **options: Any) -> Behaviour:
    """Reply with a content: a text as it is, anything else as JSON."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    return lambda handler: handler.send(200, completion(text, **options))


def status(code: int, message: str = "", **headers: str) -> Behaviour:
    body = json.dumps({"error": {"message": message}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(code, body, named)


def raw(body: bytes) -> Behaviour:
    return lambda handler: handler.send(200, body)


def stalls(handler: Handler) -> None:
    """Take the request and never answer."""
    handler.server.over.wait(_LONG_S)


def drips_headers(handler: Handler) -> None:
    """Send the head of a reply a byte at a time, without an end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    _drip(handler, b"x")


def drips_body(handler: Handler) -> None:
    """Send a body a byte at a time, without an end."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    _drip(handler, b" ")


def _drip(handler: Handler, what: bytes) -> None:
    began = time.monotonic()
    while time.monotonic() < began + _LONG_S and not handler.server.over.is_set():
        handler.wfile.write(what)
        handler.wfile.flush()
        time.sleep(0.02)


def floods(handler: Handler) -> None:
    """Send white space as fast as it can."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    block = b" " * 65536
    for _ in range(1000):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))


def resets(handler: Handler) -> None:
    """Break the connection off without a word."""
    now = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
    handler.close_connection = True
    handler.connection.close()


def dies_mid_body(handler: Handler) -> None:
    """Promise a body and send half of it."""
    body = completion('{"n": 1}')
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.wfile.flush()
    handler.close_connection = True


def slowly(behaviour: Behaviour, seconds: float) -> Behaviour:
    """Do it after a while."""

    def late(handler: Handler) -> None:
        time.sleep(seconds)
        behaviour(handler)

    return late


def together(behaviour: Behaviour, number: int) -> Behaviour:
    """Do it when that many wait for it at a time, and keep count of the most that ever did."""
    all_there = threading.Barrier(number, timeout=_LONG_S)

    def late(handler: Handler) -> None:
        with handler.server.counting():
            all_there.wait()
        behaviour(handler)

    return late
