"""Sending one body to one endpoint until it is answered: retries, deadlines, and the budget.

The budget is asked before every single exchange. One that was sent and never answered counts with
its worst case, because it may have been worked on, and billed; one that was answered with an error
counts as a call.
"""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from abstrag.errors import ModelUnreachable
from abstrag.llm.budget import CallBudget, Spending, most_tokens, tokens_of
from abstrag.llm.call import Exchange, Transcript
from abstrag.llm.settings import Endpoint, Price, Timeouts
from abstrag.llm.transport import Cancelled, Deadline, TooLong, Transport, exchange

_MOST_TOKENS: Final = 10**9


class NoCompletion(Exception):
    """The body is no chat completion at all."""


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """A token of a reply, and the likely ones in its place with their log probabilities."""

    text: str
    likely: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint returned for one request."""

    text: str
    cut_off: bool  # the reply reached its limit of tokens
    refusal: str | None
    usage: tuple[int, int] | None  # tokens in and out; None when the endpoint does not say
    tokens: tuple[TokenChoice, ...] = ()  # what might have stood in their place, where told


def read_completion(body: bytes) -> Completion:
    """Read a body.

    Raises:
        NoCompletion: It is not JSON, or not a chat completion.
    """
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        message = choice["message"]
        return Completion(
            text=_text(message.get("content")).encode("utf-8", "replace").decode(),
            cut_off=choice.get("finish_reason") == "length",
            refusal=_refusal(message.get("refusal")),
            usage=_usage(data.get("usage")),
            tokens=_tokens(choice.get("logprobs")),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        start = body[:80].decode("utf-8", "replace").strip()
        raise NoCompletion(f"not a chat completion, it begins {start!r}") from error


def read_error(body: bytes) -> str:
    """Return what an endpoint says went wrong, on one line."""
    try:
        said = json.loads(body)
        for key in ("error", "message", "detail"):
            if isinstance(said, dict) and key in said:
                said = said[key]
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace")
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:300]}…"


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # some endpoints return a list of parts
        return "".join(part["text"] for part in content if part.get("type") == "text")
    raise TypeError("content is neither a text nor a list of parts")


def _refusal(refusal: Any) -> str | None:
    if refusal is not None and not isinstance(refusal, str):
        raise TypeError("the refusal is no text")
    return (refusal or "").encode("utf-8", "replace").decode() or None


def _tokens(logprobs: Any) -> tuple[TokenChoice, ...]:
    """Return the tokens of a reply; nothing where they are not told, or in another form."""
    try:
        return tuple(
            TokenChoice(
                str(one["token"]),
                tuple((str(x["token"]), float(x["logprob"])) for x in one["top_logprobs"]),
            )
            for one in (logprobs or {}).get("content") or ()
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return ()


def _usage(usage: Any) -> tuple[int, int] | None:
    if not isinstance(usage, dict):
        return None
    sent, received = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(sent) is not int or type(received) is not int:
        return None
    # a request always has tokens: whoever counts none, or more than there are, does not count
    if not (0 < sent <= _MOST_TOKENS and 0 <= received <= _MOST_TOKENS):
        return None
    return sent, received


# When to try again, and when to stop trying for a while.

MAX_WAIT_S: Final = 60.0  # an endpoint that wants more of it is not available

_FACTOR: Final = 2.0
_GIVE_UP_AFTER: Final = 3  # calls in a row that failed for good
_REST_S: Final = 30.0  # then nothing is sent for this long


def backoff(attempt: int, base_s: float) -> float:
    """Return how long to wait before another try: doubling, and not all callers alike."""
    return float(min(MAX_WAIT_S, base_s * _FACTOR**attempt) * random.uniform(0.5, 1.0))


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds a Retry-After header asks for; None when it asks for nothing we know."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


class CircuitBreaker:
    """Keeps a hundred calls from each waiting in vain for the same dead endpoint."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed = 0
        self._rest_until = 0.0
        self._pause_until = 0.0
        self._last = ""

    def check(self, name: str) -> None:
        """Let a call through.

        Raises:
            ModelUnreachable: Several calls in a row got nowhere a moment ago.
        """
        with self._lock:
            if time.monotonic() < self._rest_until:
                raise ModelUnreachable(
                    f"{name} was not asked again: {_GIVE_UP_AFTER} calls in a row failed, "
                    f"the last because {self._last}",
                    hint="finished calls are kept; run the same command again when it is back",
                )

    def succeeded(self) -> None:
        """Note that the endpoint answers."""
        with self._lock:
            self._failed, self._rest_until = 0, 0.0

    def gave_up(self, why: str) -> None:
        """Note that a call got nowhere."""
        with self._lock:
            self._failed += 1
            self._last = why
            if self._failed >= _GIVE_UP_AFTER:
                self._rest_until = time.monotonic() + _REST_S

    def hold_off(self, seconds: float) -> None:
        """Note that the endpoint asks everyone to wait."""
        with self._lock:
            self._pause_until = max(self._pause_until, time.monotonic() + seconds)

    def pause(self) -> float:
        """Return how long everyone should still wait."""
        with self._lock:
            return max(0.0, self._pause_until - time.monotonic())


_MOST_BYTES: Final = 8 * 1024 * 1024
_CONNECTIONS: Final = 128
_STALLS: Final = 2  # a server that stalls twice is not waited for a third time
_REFUSED: Final = frozenset({400, 413, 415, 422, 501})  # our wording, not the endpoint's health
_AGAIN: Final = frozenset({408, 409, 425, 429})  # and everything from 500 on
_INTERNAL: Final = 500
_SHORTEST_KEY: Final = 8  # characters; what is shorter may be part of an answer


class WordingRefused(Exception):
    """The endpoint does not want this request as it is worded."""


class Failing(WordingRefused):
    """The endpoint fails on this request, though it is there: its wording may be why."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """One exchange that brought nothing."""

    why: str
    lost: bool = False
    answered: bool = False  # with an error
    stalled: bool = False
    internal: bool = False
    wait_s: float | None = None  # what the endpoint asks for


class Sender:
    """The way to one endpoint; may be shared by threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        key: str | None,
        price: Price | None,
        patience: Timeouts,
        budget: CallBudget,
        backoff_s: float,
    ) -> None:
        self.name = f"{endpoint.model!r} at {endpoint.shown}"
        self._key = key
        self._price = price or Price()
        self._patience = patience
        self._budget = budget
        self._backoff_s = backoff_s
        self._circuit = CircuitBreaker()
        self._url = endpoint.chat_url
        headers = {"Accept-Encoding": "identity", "User-Agent": "abstrag"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        transport = Transport(endpoint.base_url, _CONNECTIONS)
        self._http = httpx.Client(transport=transport, headers=headers, trust_env=False)

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def send(
        self,
        payload: dict[str, Any],
        transcript: Transcript,
        stop: threading.Event,
        *,
        most_out: int,
        suspect: bool,
    ) -> Completion:
        """Send a body and return the completion; the transcript is filled with every exchange.

        The reply may have `most_out` tokens. With `suspect` the wording of the body is new to this
        endpoint, so that failures may be due to it.

        Raises:
            WordingRefused: The endpoint does not want this body.
            ModelUnreachable: It does not answer, or refuses us.
            OverBudget: The next exchange may cost too much.
            Cancelled: `stop` was set.
        """
        body = json.dumps(payload, ensure_ascii=True).encode()
        tokens_in = most_tokens(body.decode())
        worst = Spending(1, tokens_in + most_out, self._price.of(tokens_in, most_out))
        stalls = attempt = 0
        while True:
            self._circuit.check(self.name)
            _wait(self._circuit.pause(), stop)
            got = self._exchange(body, transcript, stop, worst)
            if isinstance(got, Completion):
                self._circuit.succeeded()
                return got
            if got.internal and suspect and attempt > 0:
                raise Failing(got.why)
            stalls += got.stalled
            attempt += 1
            pause = backoff(attempt, self._backoff_s) if got.wait_s is None else got.wait_s
            if attempt > self._patience.retries or stalls >= _STALLS or pause > MAX_WAIT_S:
                raise self._given_up(got, attempt)
            transcript.note(f"tried again after: {got.why}")
            if got.wait_s is not None:
                self._circuit.hold_off(got.wait_s)
            _wait(pause, stop)

    def _given_up(self, fault: _Fault, attempts: int) -> ModelUnreachable:
        self._circuit.gave_up(fault.why)
        tries = "1 try" if attempts == 1 else f"{attempts} tries"
        hint = "is the server running? finished calls are kept, so the same command continues"
        if fault.stalled:
            hint = f"timeout_s is {self._patience.timeout_s:g}; a slow model needs more"
        return ModelUnreachable(
            f"{self.name} gave no reply in {tries}: {fault.why}",
            hint=hint,
        )

    def _exchange(
        self, body: bytes, transcript: Transcript, stop: threading.Event, worst: Spending
    ) -> Completion | _Fault:
        """Do one exchange, write it down, and settle with the budget."""
        self._budget.set_aside(worst, stop)
        began = time.monotonic()
        taken, written = worst, Exchange(transcript.mode, "called off", 0.0, lost=True)
        try:
            got = self._attempt(body, stop)
            if isinstance(got, Completion):
                written, taken = self._billed(got, body, transcript, worst)
            else:
                written = Exchange(transcript.mode, got.why, 0.0, lost=got.lost)
                taken = worst if got.lost else Spending(calls=int(got.answered))
            return got
        except (WordingRefused, ModelUnreachable) as error:
            written, taken = Exchange(transcript.mode, str(error), 0.0), Spending(calls=1)
            raise
        finally:
            transcript.add(written, time.monotonic() - began)
            self._budget.settle(worst, taken)

    def _attempt(self, body: bytes, stop: threading.Event) -> Completion | _Fault:
        request = self._http.build_request(
            "POST", self._url, content=body, headers={"Content-Type": "application/json"}
        )
        watch = Deadline(self._patience.timeout_s, stop)
        try:
            response, reply = exchange(self._http, request, watch, most_bytes=_MOST_BYTES)
        except httpx.ConnectError as error:
            return _Fault(f"no connection ({self._clean(str(error))})")
        except httpx.TimeoutException:
            seconds = f"{self._patience.timeout_s:g} s"
            return _Fault(f"the reply was not complete within {seconds}", lost=True, stalled=True)
        except httpx.TransportError as error:
            return _Fault(f"the connection broke ({self._clean(str(error))})", lost=True)
        except TooLong:
            return _Fault(f"the reply did not end within {_MOST_BYTES:,} bytes", lost=True)
        if response.status_code == httpx.codes.OK:
            try:
                return read_completion(self._masked(reply))
            except NoCompletion as error:
                return _Fault(self._clean(str(error)), lost=True)
        return self._refusal(response, self._clean(read_error(reply)))

    def _refusal(self, response: httpx.Response, said: str) -> _Fault:
        """Tell what a status other than 200 means."""
        status = response.status_code
        why = f"status {status}: {said}" if said else f"status {status}"
        if status in _REFUSED:
            raise WordingRefused(why)
        if "insufficient_quota" not in said and (status in _AGAIN or status >= _INTERNAL):
            wait = retry_after(response.headers.get("Retry-After"))
            return _Fault(why, answered=True, internal=status == _INTERNAL, wait_s=wait)
        hint = None
        if status in (401, 403):
            hint = "put a key into ABSTRAG_API_KEY" if not self._key else "is the key right?"
        elif status == httpx.codes.NOT_FOUND:
            hint = "check the model's name, and that the address ends like .../v1"
        raise ModelUnreachable(f"{self.name} refuses us: {why}", hint=hint)

    def _billed(
        self, got: Completion, body: bytes, transcript: Transcript, worst: Spending
    ) -> tuple[Exchange, Spending]:
        """Return what an answered exchange took."""
        if got.usage is None:
            transcript.note("the endpoint does not count tokens; ours are estimates")
            sent, received = tokens_of(body.decode()), tokens_of(got.text)
            taken = worst  # an estimate must not loosen the cap
        else:
            sent, received = got.usage
            taken = Spending(1, sent + received, self._price.of(sent, received))
        cost = self._price.of(sent, received)
        return Exchange(transcript.mode, "ok", 0.0, sent, received, cost), taken

    def _masked(self, reply: bytes) -> bytes:
        """Take the key out of a reply that repeats it; one that is a mere word would be missed."""
        if self._key is None or len(self._key) < _SHORTEST_KEY:
            return reply
        return reply.replace(self._key.encode(), b"***")

    def _clean(self, text: str) -> str:
        """Take the key out of what an endpoint says about it."""
        return text.replace(self._key, "***") if self._key else text


def _wait(seconds: float, stop: threading.Event) -> None:
    if stop.wait(seconds):
        raise Cancelled
