"""Answers many requests to a language model at once, each as if it were alone.

One thread owns the model. It reads the prompts that wait, several together and each from where it
departs from an earlier prompt with the same system text; then it continues all replies by a step,
and so on. What a schema leaves no choice about is not asked for but read along with the next token.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import llguidance
import numpy as np
import torch
from decoder import Decoder
from llguidance.hf import from_tokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par
from torch import Tensor

SHELVES = 48  # prompts that are remembered for their beginnings, one for each system text
READ_AT_ONCE = 1 << 14  # tokens
GATHER_S = 0.03  # so long a prompt waits for others to be read with it
GATHERED = 8  # unless so many wait
SPANS = (1, 8)  # tokens of a row that one step can take
ALTERNATIVES = 20  # the most likely tokens that are told, where they are asked for
SPACING = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class Refused(Exception):
    """A request that cannot be answered as it stands."""


@dataclass
class Asked:
    """One request on its way, and what has been said so far."""

    prompt: list[int]
    shared: str  # requests with the same text here are likely to begin alike
    most: int  # tokens of the reply
    temperature: float = 0.0
    seed: int = 0
    matcher: Any = None  # of llguidance; None for free text
    alternatives: int = 0  # how many likely tokens are told at each place
    said: list[int] = field(default_factory=list)
    likely: list[tuple[float, list[tuple[int, float]]]] = field(default_factory=list)
    reused: int = 0  # tokens of the prompt that need not be read
    finish: str = ""
    error: str = ""
    done: threading.Event = field(default_factory=threading.Event)
    row: int = -1
    read: int = 0  # tokens of prompt and reply that the model has seen
    came: float = field(default_factory=time.monotonic)

    @property
    def pending(self) -> list[int]:
        """What has been said and not yet been read."""
        return self.said[self.read - len(self.prompt) :]


@dataclass
class Counts:
    """What was done since the start."""

    requests: int = 0
    read: int = 0
    reused: int = 0
    said: int = 0
    forced: int = 0  # of these, tokens that a schema left no choice about
    steps: int = 0


class Grammars:
    """Makes what holds a reply to a JSON schema, each grammar compiled once."""

    def __init__(self, tokenizer: Any, vocabulary: int, ends: Sequence[int]) -> None:
        self._tokens = from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=list(ends))
        self._made: dict[str, Any] = {}
        self._lock = threading.Lock()

    def matcher(self, schema: Mapping[str, Any]) -> Any:
        """Return a fresh one.

        Raises:
            Refused: The schema asks for what cannot be enforced.
        """
        key = json.dumps(schema)
        with self._lock:
            if key not in self._made:
                make = llguidance.LLMatcher.grammar_from_json_schema
                made = llguidance.LLMatcher(self._tokens, make(key, overrides=SPACING))
                if made.is_error():
                    raise Refused(f"the schema cannot be enforced: {made.get_error()}")
                self._made[key] = made
            return self._made[key].deep_copy()


class Batcher:
    """A model with a thread of its own."""

    def __init__(self, decoder: Decoder, ends: Sequence[int], *, graphs: bool = False) -> None:
        self.decoder, self._ends, self._graphs = decoder, frozenset(ends), graphs
        shelves = min(SHELVES, decoder.rows // 2)
        self._slots = decoder.rows - shelves  # the rows after them are shelves
        self._shelf: dict[str, tuple[int, list[int]]] = {}  # the one used last comes last
        self._active: dict[int, Asked] = {}
        self._waiting: deque[Asked] = deque()
        self._reading: list[Asked] = []
        self._woken = threading.Condition()
        self._stopped = ""
        self._masks = allocate_token_bitmask(self._slots, decoder.vocabulary)
        self._executor = llguidance.LLExecutor()
        self.counts = Counts()
        self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._thread.start()

    def answer(self, asked: Asked) -> Asked:
        """Return a request when it is answered.

        Raises:
            Refused: It is too long for the model.
            RuntimeError: The model failed, on this request or before.
        """
        if len(asked.prompt) + asked.most > self.decoder.length:
            raise Refused(
                f"{len(asked.prompt)} tokens and a reply of {asked.most} are more than the context "
                f"length of {self.decoder.length}"
            )
        with self._woken:
            if self._stopped:
                raise RuntimeError(self._stopped)
            self._waiting.append(asked)
            self._woken.notify()
        asked.done.wait()
        if asked.error:
            raise RuntimeError(asked.error)
        return asked

    def close(self) -> None:
        """End the thread; what is under way is given up."""
        with self._woken:
            self._stopped = "closed"
            self._woken.notify()
        self._thread.join()

    def told(self) -> str:
        """Say in one line what is going on."""
        c = self.counts
        return (
            f"{c.requests} answered, {len(self._active)} under way, {len(self._waiting)} waiting; "
            f"tokens: {c.read} read, {c.reused} known, {c.said} said ({c.forced} by the schema); "
            f"{c.steps} steps"
        )

    def _work(self) -> None:
        try:
            while not self._stopped:
                self._wait()
                while group := self._admitted():
                    self._reading = group
                    self._read(group)
                if self._active:
                    self._step()
        except Exception as error:
            self._stopped = f"{type(error).__name__}: {error}"
            print(f"the model stopped: {self._stopped}", file=sys.stderr, flush=True)
            raise
        finally:  # nobody can be answered any more, and everybody is told so
            with self._woken:
                left = [*self._active.values(), *self._reading, *self._waiting]
                self._waiting.clear()
            for one in left:
                if one.done.is_set():
                    continue
                one.error = self._stopped
                one.done.set()

    def _wait(self) -> None:
        with self._woken:
            while not self._active and not self._waiting and not self._stopped:
                self._woken.wait()

    def _admitted(self) -> list[Asked]:
        """Take from those who wait what is read next: all that fits, one of each unknown kind."""
        free = [row for row in range(self._slots) if row not in self._active]
        with self._woken:
            if not self._waiting or not free:
                return []
            patient = time.monotonic() - self._waiting[0].came < GATHER_S
            if self._active and patient and len(self._waiting) < GATHERED:
                return []
            chosen: list[Asked] = []
            longest, begun = 0, set()
            for one in list(self._waiting):
                if len(chosen) == len(free):
                    break
                known = self._known(one)
                longer = max(longest, len(one.prompt) - known)
                if chosen and longer * (len(chosen) + 1) > READ_AT_ONCE:
                    break
                if one.shared not in self._shelf:
                    if one.shared in begun:
                        continue  # the first of its kind is read first, then the others share that
                    begun.add(one.shared)
                longest = longer
                one.reused, one.row = known, free[len(chosen)]
                chosen.append(one)
                self._waiting.remove(one)
            return chosen

    def _known(self, asked: Asked) -> int:
        """Return how many tokens a request has in common with the prompt on its shelf."""
        if asked.shared not in self._shelf:
            return 0
        kept = self._shelf[asked.shared][1]
        size = min(len(kept), len(asked.prompt) - 1)
        same = np.array(kept[:size]) == np.array(asked.prompt[:size])
        return size if same.all() else int(same.argmin())

    def _read(self, group: Sequence[Asked]) -> None:
        """Read the prompts of a group together, and say the first token of each reply."""
        for one in group:
            if one.reused:
                row, kept = self._shelf.pop(one.shared)
                self._shelf[one.shared] = row, kept
                self.decoder.copy(row, one.row, one.reused)
        rest = [one.prompt[one.reused :] for one in group]
        tokens, positions, last = self._filled(
            rest, [one.reused for one in group], max(map(len, rest))
        )
        rows = torch.tensor([one.row for one in group])
        width = self.decoder.width(max(len(one.prompt) for one in group))
        device = self.decoder.device
        logits = self.decoder(
            tokens.to(device), positions.to(device), last.to(device), rows.to(device), width
        )
        for one in group:
            one.read = len(one.prompt)
            self._active[one.row] = one
            self._put_on_shelf(one)
            self.counts.read += len(one.prompt) - one.reused
            self.counts.reused += one.reused
        self._said(group, logits)

    def _put_on_shelf(self, asked: Asked) -> None:
        if asked.shared in self._shelf:
            return
        shelves = self.decoder.rows - self._slots
        if len(self._shelf) < shelves:
            row = self._slots + len(self._shelf)
        else:
            row, _ = self._shelf.pop(next(iter(self._shelf)))
        self.decoder.copy(asked.row, row, len(asked.prompt))
        self._shelf[asked.shared] = row, asked.prompt

    def _filled(
        self, parts: Sequence[Sequence[int]], starts: Sequence[int], width: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return tokens, positions and last columns of rows that are as long as the longest."""
        tokens = torch.zeros((len(parts), width), dtype=torch.long)
        positions = torch.full((len(parts), width), self.decoder.length)
        for number, (part, start) in enumerate(zip(parts, starts, strict=True)):
            tokens[number, : len(part)] = torch.tensor(part, dtype=torch.long)
            positions[number, : len(part)] = torch.arange(start, start + len(part))
        last = torch.tensor([max(0, len(part) - 1) for part in parts])
        return tokens, positions, last

    def _step(self) -> None:
        """Continue every reply."""
        rows = bucket(max(self._active) + 1, self._slots)
        parts: list[list[int]] = [[] for _ in range(rows)]
        starts = [0] * rows
        for row, one in self._active.items():
            parts[row], starts[row] = one.pending[: SPANS[-1]], one.read
        span = next(s for s in SPANS if s >= max(map(len, parts)))
        given = self._filled(parts, starts, span)
        logits = self.decoder.step(*given, graphs=self._graphs)
        self.counts.steps += 1
        for row, one in self._active.items():
            one.read += len(parts[row])
        ready = [one for one in self._active.values() if not one.pending]
        if ready:
            at = torch.tensor([one.row for one in ready], device=logits.device)
            self._said(ready, logits[at])

    def _said(self, group: Sequence[Asked], logits: Tensor) -> None:
        """Add a token to each reply, and what its schema says must follow."""
        held = [(one.matcher, n) for n, one in enumerate(group) if one.matcher is not None]
        allowed = logits
        if held:
            masks = self._masks[: len(group)]
            masks[:] = -1
            fill_next_token_bitmask_par(self._executor, held, masks)
            allowed = masked(logits, torch.from_numpy(masks).to(logits.device))
        chosen = drawn(allowed, group).tolist()
        if any(one.alternatives for one in group):
            told = allowed.log_softmax(1)
            best = told.topk(min(ALTERNATIVES, told.shape[1]))
            own = told.gather(1, torch.tensor(chosen, device=told.device)[:, None])[:, 0].tolist()
            pairs = list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
        for number, (one, token) in enumerate(zip(group, chosen, strict=True)):
            before = len(one.said)
            self._take(one, token)
            if one.alternatives:
                ranked = list(zip(*pairs[number], strict=True))[: one.alternatives]
                likely = [(one_of, p) for one_of, p in ranked if p > float("-inf")]
                added = len(one.said) - before
                one.likely += [(own[number], likely), *[(0.0, [])] * (added - 1)][:added]
            self.counts.said += len(one.said) - before
            if one.finish:
                del self._active[one.row]
                self.counts.requests += 1
                one.done.set()

    def _take(self, one: Asked, token: int) -> None:
        """Add a token to a reply and see whether that is its end."""
        if token in self._ends:
            one.finish = "stop"
            return
        one.said.append(token)
        if one.matcher is not None:
            if not one.matcher.consume_token(token):
                raise RuntimeError(f"a token that the schema forbids: {one.matcher.get_error()}")
            forced = [] if one.matcher.is_stopped() else one.matcher.compute_ff_tokens()
            forced = forced[: one.most - len(one.said)]
            if forced:
                one.matcher.consume_tokens(forced)
                one.said += forced
                self.counts.forced += len(forced)
            if one.matcher.is_stopped():
                one.finish = "stop"
                return
        if len(one.said) >= one.most:
            one.finish = "length"


def bucket(rows: int, most: int) -> int:
    """Return a number of rows that is not below the one given, of a few."""
    size = 8
    while size < rows:
        size *= 2
    return min(size, most)


def masked(logits: Tensor, masks: Tensor) -> Tensor:
    """Return logits without the tokens whose bit is not set."""
    bits = torch.arange(32, device=masks.device, dtype=torch.int32)
    allowed = ((masks[:, :, None] >> bits) & 1).bool().flatten(1)[:, : logits.shape[1]]
    return logits.masked_fill(~allowed, float("-inf"))


def drawn(logits: Tensor, group: Sequence[Asked]) -> Tensor:
    """Return a token for each row: the likeliest, or one drawn by the seed and the place alone."""
    best = logits.argmax(1)
    if not any(one.temperature > 0 for one in group):
        return best
    heat = torch.tensor([one.temperature or 1.0 for one in group], device=logits.device)
    sums = (logits / heat[:, None]).softmax(1).double().cumsum(1)
    lots = [np.random.default_rng((one.seed, len(one.said))).random() for one in group]
    at = torch.tensor(lots, device=logits.device, dtype=torch.double)[:, None] * sums[:, -1:]
    found = torch.searchsorted(sums, at, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
    hot = torch.tensor([one.temperature > 0 for one in group], device=logits.device)
    return torch.where(hot, found, best)


def measured(batcher: Batcher, at_once: int, make: Callable[[int], Asked]) -> tuple[float, float]:
    """Answer so many requests side by side; return tokens read and said a second."""
    before = (batcher.counts.read, batcher.counts.said)
    began = time.perf_counter()
    asked = [make(number) for number in range(at_once)]
    threads = [threading.Thread(target=batcher.answer, args=(one,)) for one in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    return (batcher.counts.read - before[0]) / took, (batcher.counts.said - before[1]) / took
