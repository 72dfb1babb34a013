"""The interface to language models: a request goes in, a reply with its usage comes out.

Everything that talks to a model does it through `LanguageModel`; nothing else in the package knows
HTTP, retries, caches or prices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from abstrag.errors import ModelError
from abstrag.model.record import record


class CallRole(StrEnum):
    """What a call is for; each role may have its own model, and the ledger counts by role."""

    INDEX = "index"
    JUDGE = "judge"
    CRITIC = "critic"
    REFINE = "refine"
    ANSWER = "answer"


@record
class ModelRequest:
    """One question to a model. Equal requests have equal ids, and are paid for once."""

    role: CallRole
    stage: str  # the prompt program that asks
    system: str
    user: str
    schema: Mapping[str, Any] | None = None  # JSON schema of the reply; None asks for plain text
    temperature: float = 0.0
    sample: int = 0  # number of the sample, for n-sample votes
    max_tokens: int = 1024  # of the reply
    weighed: str = ""  # a field of the reply whose words' probabilities are wanted, where told


@record
class Reply:
    """The reply of a model, with its usage."""

    call: str  # id of the call in the log: the licence of everything taken from this reply
    value: Any  # parsed JSON when a schema was given, the text otherwise
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float = 0.0  # in dollars; 0 where the price is unknown or nothing
    cached: bool = False


class LanguageModel(Protocol):
    """Anything that answers requests: a hosted endpoint, a local server, a recording, a script."""

    @property
    def fingerprint(self) -> str:
        """Names model and parameters: what an index or a pair cache keyed by it depends on."""
        ...

    def complete(self, request: ModelRequest) -> Reply:
        """Answer one request.

        Raises:
            ModelError: It could not be answered; the subclass says why.
        """
        ...

    def complete_many(self, requests: Sequence[ModelRequest]) -> list[Reply | ModelError]:
        """Answer several requests side by side, in their order.

        A request that fails has its error in its place. `OverBudget` and an interrupt are raised:
        they end the work, and what was finished before is kept in the log.
        """
        ...
