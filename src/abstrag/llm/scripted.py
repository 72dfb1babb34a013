"""A model that says what it was told to say: for tests, and for trying things without one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from abstrag.errors import BadReply, ModelError, NotRecorded, OverBudget
from abstrag.llm.budget import tokens_in
from abstrag.llm.call import call_id
from abstrag.llm.model import ModelRequest, Reply
from abstrag.llm.shape import misfit

_NAME: Final = "scripted"


class ScriptedModel:
    """Answers by stage: with a value, with what a function makes of the request, or by raising.

    Example:
        >>> model = ScriptedModel({"coref": {"links": []}, "judge": lambda request: {"p": 0.5}})

    Attributes:
        requests: Everything it was asked, in order.
    """

    def __init__(self, replies: Mapping[str, Any]) -> None:
        self.requests: list[ModelRequest] = []
        self._replies = dict(replies)
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Name the model."""
        return _NAME

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.requests)

    def complete(self, request: ModelRequest) -> Reply:
        """Answer one request.

        Raises:
            NotRecorded: Nothing is scripted for the stage.
            BadReply: What is scripted does not fit the schema of the request.
            ModelError: The script holds this error for the stage.
        """
        with self._lock:
            self.requests.append(request)
        if request.stage not in self._replies:
            known = ", ".join(sorted(self._replies)) or "none"
            raise NotRecorded(f"nothing is scripted for stage {request.stage!r}", hint=known)
        value = self._replies[request.stage]
        if callable(value):
            value = value(request)
        if isinstance(value, ModelError):
            raise value
        if request.schema is not None and (problem := misfit(value, request.schema)):
            raise BadReply(f"the script for stage {request.stage!r} does not fit: {problem}")
        return Reply(
            call=call_id(_NAME, request),
            value=value,
            model=_NAME,
            tokens_in=tokens_in(request),
            tokens_out=1,
            seconds=0.0,
        )

    def complete_many(self, requests: Sequence[ModelRequest]) -> list[Reply | ModelError]:
        """Answer several requests one after the other; a failure stands in its place."""
        return [self._attempt(request) for request in requests]

    def _attempt(self, request: ModelRequest) -> Reply | ModelError:
        try:
            return self.complete(request)
        except OverBudget:
            raise
        except ModelError as error:
            return error
