"""What a server is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final

from abstrag.config import MAX_FILE_BYTES, Budget
from abstrag.errors import InputError

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
DEFAULT_PORT: Final = 8377
DOCUMENTS_KEPT: Final = 8  # in memory, the latest asked: a server runs for long


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where to listen, whom to serve, and how much at a time."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()  # further host names the server is reached by
    max_upload_bytes: int = MAX_FILE_BYTES
    max_body_bytes: int = 1024 * 1024  # of anything but an upload
    search_threads: int = 4
    searches_waiting: int = 256
    judged_threads: int = 2
    judged_waiting: int = 64
    jobs_waiting: int = 32
    budget: Budget = field(default_factory=Budget)  # of a document that is indexed
    head_limit_s: float = 15.0  # for a client to say what it wants
    idle_limit_s: float = 30.0  # between two pieces of a body, sent or received
    body_limit_s: float = 60.0  # for a whole body, however steadily it trickles
    upload_limit_s: float = 900.0  # for a whole upload

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.token:
            raise InputError(
                f"the server would be open to the network at {self.host!r} without a token",
                hint="give --token, or stay on 127.0.0.1",
            )


def is_loopback(host: str) -> bool:
    """True when only this machine can reach a host name or address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
