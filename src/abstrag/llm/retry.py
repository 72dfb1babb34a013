"""When to try again, and when to stop trying for a while."""

from __future__ import annotations

import random
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from abstrag.errors import ModelUnreachable

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


class Circuit:
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
