"""From settings to models that can be asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from abstrag.errors import InputError, ModelError, NeedsModel, NotRecorded
from abstrag.llm.budget import CallBudget, Estimate, tokens_in
from abstrag.llm.call import call_id
from abstrag.llm.log import CallLog, Recording, default_calls_path
from abstrag.llm.model import CallRole, LanguageModel, ModelRequest, Reply
from abstrag.llm.settings import Endpoint, LlmSettings, Price, Timeouts
from abstrag.llm.usage import ModelUsage, UsageMeter

# A model that only repeats what was recorded; what was not recorded is an error.


@dataclass(frozen=True, slots=True)
class ReplayedModel:
    """A recording in the place of a model; implements `LanguageModel`."""

    recording: Recording
    model: str
    meter: UsageMeter

    @property
    def fingerprint(self) -> str:
        """Name the model that was recorded."""
        return self.model

    def complete(self, request: ModelRequest) -> Reply:
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

    def complete_many(self, requests: Sequence[ModelRequest]) -> list[Reply | ModelError]:
        """Answer several requests; a replay that lacks one of them is no replay.

        Raises:
            NotRecorded: One is not there.
        """
        return [self.complete(request) for request in requests]


class Models:
    """A model for every role that has one, with one log, one ledger and one cap for all of them.

    Example:
        >>> with connect(settings) as models:
        ...     judge = models[Role.JUDGE]
        ...     ledger = models.ledger()
    """

    def __init__(
        self,
        models: Mapping[CallRole, LanguageModel],
        *,
        meter: UsageMeter | None = None,
        prices: Mapping[CallRole, Price | None] | None = None,
        log: CallLog | None = None,
        patience: Timeouts | None = None,
        stack: ExitStack | None = None,
    ) -> None:
        """Put models together, by role; one without a price is free.

        Estimates look calls up in the log, and what is in the stack is closed with the models.
        """
        self._models = dict(models)
        self._meter = meter or UsageMeter()
        self._prices = dict(prices or {})
        self._log = log
        self._patience = patience or Timeouts()
        self._stack = stack or ExitStack()

    @classmethod
    def of(cls, model: LanguageModel) -> Models:
        """Give one model every role: a scripted one in tests, or one of your own."""
        return cls(dict.fromkeys(CallRole, model))

    def __getitem__(self, role: CallRole) -> LanguageModel:
        """Return the model of a role.

        Raises:
            NeedsModel: It has none.
        """
        model = self.get(role)
        if model is None:
            raise NeedsModel(
                f"no model is connected for the role {role.value!r}",
                hint=f"--llm {role.value}=MODEL, or --llm MODEL for all roles",
            )
        return model

    def get(self, role: CallRole) -> LanguageModel | None:
        """Return the model of a role; None when it works without one."""
        return self._models.get(role)

    def __contains__(self, role: CallRole) -> bool:
        return role in self._models

    def __enter__(self) -> Models:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def concurrency(self) -> int:
        """How many calls are made side by side."""
        return self._patience.concurrency

    def close(self) -> None:
        """Close connections and the log."""
        self._stack.close()

    def ledger(self) -> ModelUsage:
        """Return what was asked so far and what it took."""
        return self._meter.ledger()

    def estimate(self, requests: Sequence[ModelRequest], *, most: bool = False) -> Estimate:
        """Say what these requests would take; those in the log, and repeated ones, are free."""
        total = Estimate(most=most)
        seen: set[str] = set()
        for request in requests:
            key = call_id(self[request.role].fingerprint, request)
            if key in seen:
                continue
            seen.add(key)
            if self._log is not None and self._log.known([key]):
                total += Estimate(cached=1)
            else:
                room = self._patience.reply(request.max_tokens)
                total += self.guess(request.role, 1, tokens_in(request), room)
        return total

    def guess(
        self, role: CallRole, calls: int, tokens_in: int, tokens_out: int, *, most: bool = False
    ) -> Estimate:
        """Price work whose requests are not known yet; tokens are of all calls together."""
        price = self._prices.get(role, Price())
        return Estimate(
            calls=calls,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=price.of(tokens_in, tokens_out) if price else 0.0,
            most=most,
            unpriced=() if price else (self[role].fingerprint,),
        )


def connect(
    settings: LlmSettings,
    *,
    calls: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Models:
    """Turn settings into models. Nothing is sent yet.

    By default the log of calls lies beside the default store.

    Raises:
        InputError: A key is missing, or a cap on the cost cannot be kept without a price.
        StoreError: The log cannot be used.
    """
    # an HTTP client takes a while to load, and local mode never needs one
    from abstrag.llm.client import ChatClient
    from abstrag.llm.logged_model import LoggedModel

    variables = os.environ if environment is None else environment
    unpriced = settings.unpriced()
    if unpriced and settings.limits.max_cost is not None:
        raise InputError(
            f"the cost cannot be capped without the price of {unpriced[0]!r}",
            hint=f'say it in the config file: [llm.prices."{unpriced[0]}"] input = .. output = ..',
        )
    with ExitStack() as stack:
        log = stack.enter_context(CallLog.open(calls or default_calls_path()))
        meter, budget = UsageMeter(unpriced), CallBudget(settings.limits)
        clients: dict[Endpoint, ChatClient] = {}
        models: dict[CallRole, LanguageModel] = {}
        for role, endpoint in settings.endpoints.items():
            if endpoint not in clients:
                clients[endpoint] = ChatClient(
                    endpoint,
                    key=_key(endpoint, variables),
                    price=settings.price(role),
                    patience=settings.patience,
                    budget=budget,
                )
                stack.callback(clients[endpoint].close)
            models[role] = LoggedModel(clients[endpoint], log, meter, settings.patience.concurrency)
        prices = {role: settings.price(role) for role in models}
        return Models(
            models,
            meter=meter,
            prices=prices,
            log=log,
            patience=settings.patience,
            stack=stack.pop_all(),
        )


def replay(recording: Path, settings: LlmSettings | None = None) -> Models:
    """Turn a recording into models that repeat it and send nothing.

    Raises:
        InputError: It is not clear from the recording which model serves which role.
    """
    loaded = Recording.load(recording)
    meter = UsageMeter()
    if settings is None:
        names = loaded.roles()
    else:
        names = {role: endpoint.model for role, endpoint in settings.endpoints.items()}
    return Models(
        {role: ReplayedModel(loaded, name, meter) for role, name in names.items()}, meter=meter
    )


def _key(endpoint: Endpoint, variables: Mapping[str, str]) -> str | None:
    if endpoint.key_variable is None:
        return None
    key = variables.get(endpoint.key_variable, "").strip()
    if not key:
        raise InputError(
            f"the variable {endpoint.key_variable!r} should hold the key of {endpoint.shown}",
            hint=f"export {endpoint.key_variable}=...",
        )
    return key
