"""Small requests and the models that are asked them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from abstrag.llm.budget import Budget
from abstrag.llm.client import ChatClient
from abstrag.llm.ledger import Meter
from abstrag.llm.log import CallLog
from abstrag.llm.metered import Metered
from abstrag.llm.model import Request, Role
from abstrag.llm.settings import Endpoint, Limits, Patience, Price

NUMBER: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def request(user: str = "how many?", **changes: Any) -> Request:
    values: dict[str, Any] = {
        "role": Role.JUDGE,
        "stage": "count",
        "system": "You count.",
        "user": user,
        "schema": NUMBER,
        "max_tokens": 50,
    }
    return Request(**{**values, **changes})


@contextmanager
def asking(
    url: str,
    path: Path,
    *,
    limits: Limits | None = None,
    price: Price | None = None,
    key: str | None = None,
    **patience: Any,
) -> Iterator[Metered]:
    """Connect to a server; a pause of the machine is no fault, so only the waits are short."""
    endpoint = Endpoint("tester", url)
    how = Patience(**{"timeout_s": 30.0, "retries": 2, "concurrency": 4, **patience})
    budget = Budget(limits)
    client = ChatClient(
        endpoint, key=key, price=price, patience=how, budget=budget, backoff_s=0.002
    )
    with CallLog.open(path / "calls.db") as log:
        try:
            yield Metered(client, log, Meter(), how.concurrency)
        finally:
            client.close()
