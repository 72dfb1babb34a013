"""A model that only repeats what was recorded; what was not recorded is an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstrag.errors import ModelError, NotRecorded
from abstrag.llm.key import call_id
from abstrag.llm.ledger import Meter
from abstrag.llm.model import Reply, Request
from abstrag.llm.recording import Recording


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recording in the place of a model; implements `LanguageModel`."""

    recording: Recording
    model: str
    meter: Meter

    @property
    def fingerprint(self) -> str:
        """Name the model that was recorded."""
        return self.model

    def complete(self, request: Request) -> Reply:
        """Answer one request from the recording.

        Raises:
            NotRecorded: It is not there.
        """
        key = call_id(self.model, request)
        call = self.recording.calls.get(key)
        if call is None or call.error is not None:
            raise NotRecorded(
                f"the recording has no call {key} of {self.model!r} at stage {request.stage!r}",
                hint="record it again: run with the model, then abstrag calls export FILE",
            )
        self.meter.found(request.role)
        return call.reply()

    def complete_many(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Answer several requests; a replay that lacks one of them is no replay.

        Raises:
            NotRecorded: One is not there.
        """
        return [self.complete(request) for request in requests]
