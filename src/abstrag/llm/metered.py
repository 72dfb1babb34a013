"""A model whose calls are looked up first, then made, counted and kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from abstrag.errors import InputError, ModelError, OverBudget
from abstrag.llm.call import Call
from abstrag.llm.client import ChatClient
from abstrag.llm.key import call_id
from abstrag.llm.ledger import Meter
from abstrag.llm.log import CallLog
from abstrag.llm.model import Reply, Request
from abstrag.llm.side_by_side import side_by_side
from abstrag.llm.transcript import Transcript
from abstrag.llm.transport import CalledOff
from abstrag.telemetry import span


@dataclass(frozen=True, slots=True)
class Metered:
    """A hosted or local model behind its log; implements `LanguageModel`."""

    client: ChatClient
    log: CallLog
    meter: Meter
    concurrency: int = 4

    @property
    def fingerprint(self) -> str:
        """Name the model."""
        return self.client.endpoint.model

    def complete(self, request: Request) -> Reply:
        """Answer one request, from the log if it is there.

        Raises:
            OverBudget: It is not, and asking may cost too much.
            ModelError: It could not be answered.
        """
        return self._complete(request, threading.Event())

    def complete_many(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Answer several requests side by side; equal ones are asked once."""
        ids = [call_id(self.fingerprint, request) for request in requests]
        unique = dict(zip(ids, requests, strict=True))
        answers = side_by_side(self._complete, list(unique.values()), at_most=self.concurrency)
        by_id = dict(zip(unique, answers, strict=True))
        first: set[str] = set()
        replies: list[Reply | ModelError] = []
        for one in ids:
            answer = by_id[one]
            if one in first and isinstance(answer, Reply):
                self.meter.found(unique[one].role)
                answer = replace(answer, cached=True, cost=0.0, seconds=0.0)
            first.add(one)
            replies.append(answer)
        return replies

    def _complete(self, request: Request, stop: threading.Event) -> Reply:
        key = _checked_id(self.fingerprint, request)
        if found := self.log.find(key):
            self.meter.found(request.role)
            return found.reply()
        transcript = Transcript()
        with span(f"chat {self.fingerprint}", self._asked(request), calls_out=True) as recorded:
            try:
                value = self.client.ask(request, transcript, stop)
            except (ModelError, CalledOff, KeyboardInterrupt) as error:
                self._keep(request, key, transcript, None, error)
                raise
            finally:
                recorded.note(_used(transcript))
        self._keep(request, key, transcript, value, None)
        return Reply(
            call=key,
            value=value,
            model=self.fingerprint,
            tokens_in=transcript.tokens_in,
            tokens_out=transcript.tokens_out,
            seconds=transcript.seconds,
            cost=transcript.cost,
        )

    def _asked(self, request: Request) -> dict[str, str]:
        """Say what is asked of whom, by OpenTelemetry's conventions for generative AI."""
        address = urlsplit(self.client.endpoint.base_url).hostname or ""
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",  # the dialect that every endpoint of ours speaks
            "gen_ai.request.model": self.fingerprint,
            "server.address": address,
            "abstrag.role": request.role.value,
            "abstrag.stage": request.stage,
        }

    def _keep(
        self,
        request: Request,
        key: str,
        transcript: Transcript,
        value: Any,
        error: BaseException | None,
    ) -> None:
        if not transcript.exchanges and (error is None or isinstance(error, OverBudget)):
            return  # nothing was sent, so there is nothing to keep
        self.meter.made(request.role, transcript.exchanges, failed=error is not None)
        call = Call(
            id=key,
            model=self.fingerprint,
            request=request,
            raw=transcript.raw,
            value=value,
            mode=transcript.mode,
            notes=tuple(transcript.notes),
            tokens_in=transcript.tokens_in,
            tokens_out=transcript.tokens_out,
            seconds=transcript.seconds,
            cost=transcript.cost,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            error=None if error is None else str(error) or "interrupted",
        )
        self.log.add(call, transcript.exchanges)


def _used(transcript: Transcript) -> dict[str, int | float]:
    """Say what a call took; the conventions have no name for money."""
    return {
        "gen_ai.usage.input_tokens": transcript.tokens_in,
        "gen_ai.usage.output_tokens": transcript.tokens_out,
        "abstrag.cost_usd": transcript.cost,
    }


def _checked_id(model: str, request: Request) -> str:
    """Return the id of a call, unless the call could not be kept."""
    try:
        (request.system + request.user).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the request of stage {request.stage!r} holds text that is not valid Unicode"
        ) from error
    return call_id(model, request)
