"""What a server is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from abstrag.config import MAX_FILE_BYTES, DocumentBudget
from abstrag.errors import InputError

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
DEFAULT_PORT: Final = 8377
SHORTEST_SECRET: Final = 16  # characters of a token in a file
DOCUMENTS_KEPT: Final = 8  # in memory, the latest asked: a server runs for long


class TokenScope(IntEnum):
    """What a token allows; each allows what the ones before it do."""

    READ = 1  # ask and look
    INDEX = 2  # bring documents in, and cancel that
    ADMIN = 3  # forget, edit, refine, revert


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a client shows, and what it may do with it."""

    secret: str = field(repr=False)
    scope: TokenScope


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where to listen, whom to serve, and how much at a time."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = field(default=None, repr=False)
    tokens: tuple[AccessToken, ...] = ()  # further ones that allow less; `token` allows everything
    names: tuple[str, ...] = ()  # further host names the server is reached by
    max_upload_bytes: int = MAX_FILE_BYTES
    max_body_bytes: int = 1024 * 1024  # of anything but an upload
    search_threads: int = 4
    searches_waiting: int = 256
    judged_threads: int = 2
    judged_waiting: int = 64
    jobs_waiting: int = 32
    budget: DocumentBudget = field(default_factory=DocumentBudget)  # of a document that is indexed
    head_limit_s: float = 15.0  # for a client to say what it wants
    idle_limit_s: float = 30.0  # between two pieces of a body, sent or received
    body_limit_s: float = 60.0  # for a whole body, however steadily it trickles
    upload_limit_s: float = 900.0  # for a whole upload

    @property
    def all_tokens(self) -> tuple[AccessToken, ...]:
        """Every token that opens something."""
        whole = (AccessToken(self.token, TokenScope.ADMIN),) if self.token else ()
        return (*whole, *self.tokens)

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.all_tokens:
            raise InputError(
                f"the server would be open to the network at {self.host!r} without a token",
                hint="give --token, or stay on 127.0.0.1",
            )


def read_tokens(path: Path) -> tuple[AccessToken, ...]:
    """Read a file of tokens: lines of a scope and a secret, such as `read 8f3a…`."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the tokens in {str(path)!r} cannot be read: {error}") from error
    made = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, secret = line.strip().partition(" ")
        if name.upper() not in TokenScope.__members__ or len(secret.strip()) < SHORTEST_SECRET:
            raise InputError(
                f"line {number} of {str(path)!r} is no scope and token",
                hint=f"write read, index or admin, and {SHORTEST_SECRET} characters or more",
            )
        made.append(AccessToken(secret.strip(), TokenScope[name.upper()]))
    if not made:
        raise InputError(f"{str(path)!r} has no token", hint="write a line: read SECRET")
    return tuple(made)


def is_loopback(host: str) -> bool:
    """True when only this machine can reach a host name or address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
