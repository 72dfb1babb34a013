"""Which model serves which role, where it is, and how much may be spent on it."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Final
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from abstrag.errors import InputError
from abstrag.llm.model import CallRole
from abstrag.model.record import record

OPENAI_URL: Final = "https://api.openai.com/v1"

_CHAT: Final = "/chat/completions"
_Whole = Annotated[int, Field(ge=0)]
_Amount = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


@record
class Price:
    """What a million tokens cost, in dollars."""

    input: _Amount = 0.0
    output: _Amount = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what so many tokens cost."""
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


@record
class Limits:
    """The hard caps; None is no cap. A call that could overrun one is not made."""

    max_calls: _Whole | None = None
    max_tokens: _Whole | None = None  # in and out together
    max_cost: _Amount | None = None  # dollars


@record
class Timeouts:
    """How long to wait for an endpoint, how often to try again, how much to ask of it at once."""

    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 120.0  # to the last byte
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    reply_tokens: Annotated[int, Field(ge=1)] | None = None  # even where a prompt allows more

    def reply(self, tokens: int) -> int:
        """Return how many tokens a reply may have that is asked for with so many."""
        return tokens if self.reply_tokens is None else min(tokens, self.reply_tokens)


@record
class Endpoint:
    """One model at one address. The key is named, not kept: it is looked up when it is needed."""

    model: str
    base_url: str = OPENAI_URL
    key_variable: str | None = None  # the environment variable that holds the API key

    @property
    def local(self) -> bool:
        """True when it runs on this machine, where a token costs nothing."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def chat_url(self) -> str:
        """Where chat completions are asked for; a query in the address stays at its end."""
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/").removesuffix(_CHAT)
        return urlunsplit(parts._replace(path=path + _CHAT))

    @property
    def shown(self) -> str:
        """The address as it may be printed: without a name or password in it."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))


@record
class LlmSettings:
    """Everything that was decided about language models for this run."""

    endpoints: dict[CallRole, Endpoint]  # a role that is missing works without a model
    prices: dict[str, Price]  # by model
    limits: Limits = Limits()
    patience: Timeouts = Timeouts()

    def price(self, role: CallRole) -> Price | None:
        """Return the price of a role's model; None when nobody said."""
        endpoint = self.endpoints[role]
        if endpoint.model in self.prices:
            return self.prices[endpoint.model]
        return Price() if endpoint.local else None

    def unpriced(self) -> tuple[str, ...]:
        """Name the models whose price nobody said."""
        return tuple(sorted({self.endpoints[r].model for r in self.endpoints if not self.price(r)}))


def checked_url(text: str) -> str:
    """Return an endpoint's address without a slash at its end.

    Raises:
        InputError: It is no http or https address.
    """
    try:
        parts = urlsplit(text.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise InputError(
            f"{text!r} is not the address of an endpoint",
            hint="it looks like http://127.0.0.1:8080/v1",
        )
    return text.strip().rstrip("/")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
