"""What only a server has to refuse: errors that exist because there is a request.

They are `InputError`s with an HTTP status of their own, so every answer that is no success has the
same three fields: one sentence, a hint, and the name of the class.
"""

from __future__ import annotations

from typing import Any

from abstrag.errors import AbstragError, InputError


class Refused(InputError):
    """A request that cannot be served as it is."""

    http_status = 400
    headers: dict[str, str] = {}  # noqa: RUF012 - read only; a subclass names its own


class NoToken(Refused):
    """The token is missing or wrong."""

    http_status = 401
    headers = {"WWW-Authenticate": "Bearer"}  # noqa: RUF012


class NotAllowed(Refused):
    """The token is known and does not allow this."""

    http_status = 403


class Foreign(Refused):
    """The request comes from another web site, or under a name that is not ours."""

    http_status = 403


class NotThere(Refused):
    """Nothing is at this address."""

    http_status = 404


class TooSlow(Refused):
    """The client took too long to send its request."""

    http_status = 408
    headers = {"Connection": "close"}  # noqa: RUF012


class TooLarge(Refused):
    """The body of the request is over the limit."""

    http_status = 413
    headers = {"Connection": "close"}  # noqa: RUF012 - the rest of the body is not read


class WrongType(Refused):
    """The body has another media type than the address takes."""

    http_status = 415


class TooBusy(Refused):
    """As much as may wait is waiting already."""

    http_status = 429
    headers = {"Retry-After": "2"}  # noqa: RUF012


def told(error: AbstragError) -> dict[str, Any]:
    """Return an error as every answer and every failed job tells it."""
    return {"error": str(error), "hint": error.hint, "kind": type(error).__name__}
