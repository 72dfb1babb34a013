"""Reading the body of a chat completion: the text, how it ended, and what it took."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

_MOST_TOKENS: Final = 10**9


class Nonsense(Exception):
    """The body is no chat completion at all."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint returned for one request."""

    text: str
    cut_off: bool  # the reply reached its limit of tokens
    refusal: str | None
    usage: tuple[int, int] | None  # tokens in and out; None when the endpoint does not say


def read_completion(body: bytes) -> Completion:
    """Read a body.

    Raises:
        Nonsense: It is not JSON, or not a chat completion.
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
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        start = body[:80].decode("utf-8", "replace").strip()
        raise Nonsense(f"not a chat completion, it begins {start!r}") from error


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
