"""Small requests and the models that are asked them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from abstrag.llm.budget import CallBudget
from abstrag.llm.client import ChatClient
from abstrag.llm.log import CallLog
from abstrag.llm.logged_model import LoggedModel
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.settings import Endpoint, Limits, Price, Timeouts
from abstrag.llm.usage import UsageMeter

NUMBER: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def request(user: str = "how many?", **changes: Any) -> ModelRequest:
    values: dict[str, Any] = {
        "role": CallRole.JUDGE,
        "stage": "count",
        "system": "You count.",
        "user": user,
        "schema": NUMBER,
        "max_tokens": 50,
    }
    return ModelRequest(**{**values, **changes})


@contextmanager
def asking(
    url: str,
    path: Path,
    *,
    limits: Limits | None = None,
    price: Price | None = None,
    key: str | None = None,
    **patience: Any,
) -> Iterator[LoggedModel]:
    """Connect to a server; a pause of the machine is no fault, so only the waits are short."""
    endpoint = Endpoint("tester", url)
    how = Timeouts(**{"timeout_s": 30.0, "retries": 2, "concurrency": 4, **patience})
    budget = CallBudget(limits)
    client = ChatClient(
        endpoint, key=key, price=price, patience=how, budget=budget, backoff_s=0.002
    )
    with CallLog.open(path / "calls.db") as log:
        try:
            yield LoggedModel(client, log, UsageMeter(), how.concurrency)
        finally:
            client.close()
