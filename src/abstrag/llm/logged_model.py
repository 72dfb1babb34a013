"""A model behind the log of calls: calls are looked up first, then made, counted and logged."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

from abstrag.errors import InputError, ModelError, OverBudget
from abstrag.llm.call import Call, Transcript, call_id
from abstrag.llm.client import ChatClient
from abstrag.llm.log import CallLog
from abstrag.llm.model import ModelRequest, Reply
from abstrag.llm.transport import Cancelled
from abstrag.llm.usage import UsageMeter
from abstrag.telemetry import span

# Doing several calls at a time, and stopping all of them at once.

_GLANCE_S: Final = 0.1
_FAREWELL_S: Final = 2.0  # how long an interrupt waits for calls under way to let go

Asked = TypeVar("Asked")
Got = TypeVar("Got")


def side_by_side(
    complete: Callable[[Asked, threading.Event], Got], requests: Sequence[Asked], *, at_most: int
) -> list[Got | ModelError]:
    """Complete requests in threads; results are in the order of the requests.

    A `ModelError` stands in the place of its request. `OverBudget` lets the calls under way finish
    and is raised then. Anything else, an interrupt above all, calls them off and is raised at once:
    `complete` should end when the event it is given is set. The threads are daemons, so not even
    one that hangs keeps the program from ending.
    """
    batch = _Batch(complete, requests)
    threads = [
        threading.Thread(target=batch.work, name=f"model-{number}", daemon=True)
        for number in range(min(at_most, len(requests)))
    ]
    try:
        for thread in threads:
            thread.start()
        return batch.gathered(threads)
    except BaseException:
        batch.enough.set()
        batch.stop.set()
        for thread in threads:
            if thread.is_alive():
                thread.join(_FAREWELL_S / len(threads))
        raise


class _Batch(Generic[Asked, Got]):
    """A batch of requests that several threads work through."""

    def __init__(
        self, complete: Callable[[Asked, threading.Event], Got], requests: Sequence[Asked]
    ) -> None:
        self.stop = threading.Event()  # ends what is under way
        self.enough = threading.Event()  # begins nothing more
        self._complete = complete
        self._requests = requests
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[int, Got | BaseException]] = queue.SimpleQueue()
        for number in range(len(requests)):
            self._waiting.put(number)

    def work(self) -> None:
        """Take requests until there are no more."""
        while not self.enough.is_set():
            try:
                number = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self._done.put((number, self._complete(self._requests[number], self.stop)))
            except BaseException as error:  # it is raised in the caller's thread
                if isinstance(error, OverBudget):
                    self.enough.set()
                self._done.put((number, error))

    def gathered(self, threads: Sequence[threading.Thread]) -> list[Got | ModelError]:
        """Wait for all results, in small pieces so that an interrupt gets through."""
        results: dict[int, Got | ModelError] = {}
        over: OverBudget | None = None
        while len(results) < len(self._requests):
            working = any(thread.is_alive() for thread in threads)
            try:
                wait = _GLANCE_S if working else 0.0
                number, result = self._done.get(timeout=wait)
            except queue.Empty:
                if working:
                    continue
                break
            if isinstance(result, OverBudget):
                over = over or result
            elif isinstance(result, ModelError) or not isinstance(result, BaseException):
                results[number] = result
            else:
                raise result
        if over is not None:
            raise over
        return [results[number] for number in range(len(self._requests))]


@dataclass(frozen=True, slots=True)
class LoggedModel:
    """A hosted or local model behind its log; implements `LanguageModel`."""

    client: ChatClient
    log: CallLog
    meter: UsageMeter
    concurrency: int = 4

    @property
    def fingerprint(self) -> str:
        """Name the model."""
        return self.client.endpoint.model

    def complete(self, request: ModelRequest) -> Reply:
        """Answer one request, from the log if it is there.

        Raises:
            OverBudget: It is not, and asking may cost too much.
            ModelError: It could not be answered.
        """
        return self._complete(request, threading.Event())

    def complete_many(self, requests: Sequence[ModelRequest]) -> list[Reply | ModelError]:
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

    def _complete(self, request: ModelRequest, stop: threading.Event) -> Reply:
        key = _checked_id(self.fingerprint, request)
        if found := self.log.find(key):
            self.meter.found(request.role)
            return found.reply()
        transcript = Transcript()
        with span(f"chat {self.fingerprint}", self._asked(request), calls_out=True) as recorded:
            try:
                value = self.client.ask(request, transcript, stop)
            except (ModelError, Cancelled, KeyboardInterrupt) as error:
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

    def _asked(self, request: ModelRequest) -> dict[str, str]:
        """Return the attributes of a call by OpenTelemetry's conventions for generative AI."""
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
        request: ModelRequest,
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
    """Return the usage of a call as attributes; the conventions have none for cost."""
    return {
        "gen_ai.usage.input_tokens": transcript.tokens_in,
        "gen_ai.usage.output_tokens": transcript.tokens_out,
        "abstrag.cost_usd": transcript.cost,
    }


def _checked_id(model: str, request: ModelRequest) -> str:
    """Return the id of a call; raise an error if the call cannot be logged."""
    try:
        (request.system + request.user).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the request of stage {request.stage!r} holds text that is not valid Unicode"
        ) from error
    return call_id(model, request)
