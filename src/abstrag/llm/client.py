"""The client: asks an OpenAI-compatible endpoint until a reply fits the schema.

It asks for the schema to be enforced and gives way where the endpoint refuses, reads what comes
with tolerance, checks it, asks once more when it does not fit, and then says so with an error.
"""

from __future__ import annotations

import json
import re
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from math import exp
from typing import Any, Final

from abstrag.errors import BadReply, ModelError
from abstrag.llm.budget import CallBudget
from abstrag.llm.call import Transcript, call_id
from abstrag.llm.model import ModelRequest
from abstrag.llm.sender import Completion, Failing, Sender, TokenChoice, WordingRefused
from abstrag.llm.settings import Endpoint, Price, Timeouts
from abstrag.llm.shape import keeps_form, misfit

# How to put a question to one model: endpoints that call themselves compatible differ in this.
#
# A dialect begins with everything we would like, and gives up one thing after another as the
# endpoint refuses it. What was given up is written into the record of the call.

# Limits for a schema that has none, so that a small model cannot loop inside a string or a list.
#
# A server that enforces schemas compiles them into a grammar, and a limit is spelled out there:
# the limits of nested lists and of the strings in them multiply, and a large product takes a
# server minutes. So what lies inside a list gets less room than what does not.

MAX_LENGTH: Final = (1000, 400, 120)  # of a string in no list, in one, in a list of lists
MAX_ITEMS: Final = (48, 12, 6)

_SCHEMAS: Final = ("items", "additionalProperties", "contains", "not", "if", "then", "else")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_TABLES: Final = ("properties", "$defs", "definitions", "patternProperties")


def bounded(schema: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return a schema in which all strings and arrays have a limit; existing limits stay.

    `depth` is in how many lists it stands.
    """
    made = dict(schema)
    fixed = "enum" in made or "const" in made
    if _allows(made, "string") and not fixed:
        made.setdefault("maxLength", MAX_LENGTH[min(depth, 2)])
    if _allows(made, "array") and not fixed:
        made.setdefault("maxItems", max(MAX_ITEMS[min(depth, 2)], made.get("minItems", 0)))
    inside = depth + _allows(made, "array")
    for key in _SCHEMAS:
        if isinstance(made.get(key), Mapping):
            made[key] = bounded(made[key], inside if key == "items" else depth)
    for key in _LISTS:
        if key in made:
            below = inside if key == "prefixItems" else depth
            made[key] = [bounded(one, below) for one in made[key]]
    for key in _TABLES:
        if key in made:
            # what a definition is used in cannot be seen from here; lists are where they serve
            below = max(depth, 1) if key in ("$defs", "definitions") else depth
            made[key] = {name: bounded(one, below) for name, one in made[key].items()}
    return made


def _allows(schema: Mapping[str, Any], kind: str) -> bool:
    allowed = schema.get("type")
    return allowed == kind or (isinstance(allowed, list) and kind in allowed)


class ReplyFormat(StrEnum):
    """How the shape of a reply is asked for, from the most binding to the least."""

    JSON_SCHEMA = "json_schema"  # the server enforces the schema
    JSON_OBJECT = "json_object"  # the server enforces JSON, the prompt shows the schema
    TEXT = "text"  # the prompt shows the schema, and we look for JSON in what comes


_RANK: Final = {mode: rank for rank, mode in enumerate(ReplyFormat)}
_SHOW: Final = "Reply with one JSON value that fits this JSON schema, and with nothing else:\n"
_AGAIN: Final = "That reply cannot be used: {problem}. Reply again, and correct that."
_SHOWN_OF_A_BAD_REPLY: Final = 4000
_FAINT: Final = 1e-4  # a word less likely than that is not kept
_LIKELY: Final = 20  # tokens told for each place of a reply: the most that OpenAI tells


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is asked for, and what is left out because the endpoint refuses it."""

    mode: ReplyFormat = ReplyFormat.JSON_SCHEMA
    dropped: frozenset[str] = frozenset()  # of strict, seed, temperature, max_tokens, logprobs

    def payload(
        self, model: str, request: ModelRequest, repair: tuple[str, str] | None
    ) -> dict[str, Any]:
        """Write the body of a request; with a bad reply and why, it asks to do it again."""
        made: dict[str, Any] = {"model": model, "messages": list(self._messages(request, repair))}
        # OpenAI's newer models want the other name, everybody else knows only this one
        limit = "max_completion_tokens" if "max_tokens" in self.dropped else "max_tokens"
        made[limit] = request.max_tokens
        if "temperature" not in self.dropped:
            made["temperature"] = request.temperature
        if request.temperature > 0 and "seed" not in self.dropped:
            made["seed"] = request.sample  # so that a local model repeats its samples
        if request.weighed and "logprobs" not in self.dropped:
            made |= {"logprobs": True, "top_logprobs": _LIKELY}
        if request.schema is not None and self.mode is ReplyFormat.JSON_SCHEMA:
            shape: dict[str, Any] = {
                "name": _name(request.stage),
                "schema": bounded(request.schema),
            }
            if self._strict(request):
                shape["strict"] = True
            made["response_format"] = {"type": "json_schema", "json_schema": shape}
        elif request.schema is not None and self.mode is ReplyFormat.JSON_OBJECT:
            made["response_format"] = {"type": "json_object"}
        return made

    def without(self, complaint: str | None, request: ModelRequest) -> tuple[Dialect, str] | None:
        """Leave out the feature that an error names, or else the most demanding one left.

        Returns:
            The humbler dialect and what was given up; None when nothing is left to give up.
        """
        for name in ("max_tokens", "temperature", "seed", "logprobs"):
            sent = {"seed": request.temperature > 0, "logprobs": request.weighed}.get(name, True)
            if sent and complaint and name in complaint and name not in self.dropped:
                return replace(self, dropped=self.dropped | {name}), name
        if request.schema is None or self.mode is ReplyFormat.TEXT:
            return None
        if complaint and self._strict(request):
            return replace(self, dropped=self.dropped | {"strict"}), "strict"
        return self.humbler(request), self.mode.value

    def humbler(self, request: ModelRequest) -> Dialect:
        """Return the next mode; JSON objects only where the schema describes an object."""
        about_object = request.schema is not None and request.schema.get("type") == "object"
        below = self.mode is ReplyFormat.JSON_SCHEMA and about_object
        return replace(self, mode=ReplyFormat.JSON_OBJECT if below else ReplyFormat.TEXT)

    def _strict(self, request: ModelRequest) -> bool:
        return (
            self.mode is ReplyFormat.JSON_SCHEMA
            and "strict" not in self.dropped
            and request.schema is not None
            and _closed_schema(request.schema)
        )

    def _messages(self, request: ModelRequest, repair: tuple[str, str] | None) -> Iterator[Any]:
        system = request.system
        if request.schema is not None and (repair or self.mode is not ReplyFormat.JSON_SCHEMA):
            shown = json.dumps(request.schema, ensure_ascii=False)
            system = f"{system}\n\n{_SHOW}{shown}"
        if system:
            yield {"role": "system", "content": system}
        yield {"role": "user", "content": request.user}
        if repair:
            said, problem = repair
            yield {"role": "assistant", "content": said[:_SHOWN_OF_A_BAD_REPLY] or "(nothing)"}
            yield {"role": "user", "content": _AGAIN.format(problem=problem)}


class KnownDialects:
    """What is known about how to talk to one model; shared by the threads that do.

    A mode that has worked stays, and a later refusal of it concerns the stage that met it: its
    schema must be too much for the endpoint. Otherwise the refusal concerns all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all = Dialect()
        self._stages: dict[str, ReplyFormat] = {}
        self._fitting: set[ReplyFormat] = set()

    def dialect(self, stage: str) -> Dialect:
        """Return what to begin with at a stage."""
        with self._lock:
            return replace(self._all, mode=self._stages.get(stage, self._all.mode))

    def unsure(self, dialect: Dialect) -> bool:
        """True when the mode may be why an endpoint fails: it never worked, and others are left."""
        with self._lock:
            return dialect.mode is not ReplyFormat.TEXT and dialect.mode not in self._fitting

    def answered(self, dialect: Dialect, request: ModelRequest, *, only_here: bool = False) -> None:
        """Note that a request was accepted in this dialect.

        With `only_here` the endpoint failed on other wordings and did not refuse them, so this says
        nothing about other stages.
        """
        with self._lock:
            self._all = replace(self._all, dropped=self._all.dropped | dialect.dropped)
            if request.schema is None or _RANK[dialect.mode] <= _RANK[self._all.mode]:
                return
            if only_here or self._all.mode in self._fitting:
                self._stages[request.stage] = dialect.mode
            else:
                self._all = replace(self._all, mode=dialect.mode)

    def fitted(self, dialect: Dialect, request: ModelRequest) -> None:
        """Note that a reply in this dialect had the shape that was asked for."""
        if request.schema is not None:
            with self._lock:
                self._fitting.add(dialect.mode)


def _name(stage: str) -> str:
    """Return a stage as the name of a schema, which allows few characters."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in stage)
    return kept[:64] or "reply"


def _closed_schema(schema: Mapping[str, Any]) -> bool:
    """Tell whether all objects list all their properties: only then may `strict` be asked for."""
    if "properties" in schema and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(schema["properties"])
    ):
        return False
    return all(_closed_schema(one) for one in _parts(schema))


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("properties", "$defs"):
        yield from (one for one in schema.get(key, {}).values() if isinstance(one, Mapping))
    for key in ("anyOf", "allOf", "oneOf"):
        yield from schema.get(key, ())
    if isinstance(schema.get("items"), Mapping):
        yield schema["items"]


# Reading JSON the way models write it: fenced, wrapped in prose, a comma too many, an end too
# few.
#
# Whatever had to be done to read it is said in `Parsed.repairs`; nothing is guessed. In
# particular a text that breaks off inside a value is not completed: nobody knows what would have
# come.

_THOUGHT: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE: Final = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPEN: Final = {"{": "}", "[": "]"}
_MOST_STARTS: Final = 64  # brackets in prose that are tried as the beginning of the JSON


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value, and what was done to the text to get it."""

    value: Any
    repairs: tuple[str, ...] = ()


def parse(text: str, *, complete: bool = True) -> Parsed | None:
    """Read the JSON value in a reply; None when there is none that can be read for certain.

    Args:
        text: What the model wrote.
        complete: Whether the model came to its own end; closing brackets are added only then,
            because a list that was cut off may lack more than its bracket.
    """
    shorter = _THOUGHT.sub("", text, count=1)
    repairs: tuple[str, ...] = () if shorter == text else ("left out the model's thoughts",)
    text = shorter
    strict = _loads(text)
    if strict is not None:
        return Parsed(strict[0], repairs)
    for candidate, how in _candidates(text):
        for fixed, also in _mended(candidate, complete=complete):
            found = _loads(fixed)
            if found is not None:
                return Parsed(found[0], (*repairs, *how, *also))
    return None


def _loads(text: str) -> tuple[Any] | None:
    """Return the value in a tuple, since null is one too.

    NaN and infinities are not JSON, and half of a surrogate pair is not a text.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return (value,)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _candidates(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Go through the parts of a text that may be the JSON, the likeliest first."""
    for match in _FENCE.finditer(text):
        yield match[1].strip(), ("took the JSON out of a code fence",)
    starts = [match.start() for match in re.finditer(r"[{\[]", text)][:_MOST_STARTS]
    for start in starts:
        end = _end(text, start)
        how = () if text[:start].strip() == "" and text[end:].strip() == "" else (_PROSE,)
        yield text[start:end], how
        if end == len(text):  # never closed: whatever begins inside it is a part of it
            return


_PROSE: Final = "took the JSON out of other text"


def _end(text: str, start: int) -> int:
    """Return where the brackets opened at `start` are all closed; the end of the text if never."""
    ends = (start + at + 1 for at, depth in _depths(text[start:]) if depth == 0)
    return next(ends, len(text))


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Go through the brackets outside strings, with the depth after each."""
    depth, inside, escaped = 0, False, False
    for position, character in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth += 1
            yield position, depth
        elif character in "}]":
            depth -= 1
            yield position, depth


def _mended(text: str, *, complete: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield text, ()
    lighter = _without_trailing_commas(text)
    if lighter != text:
        yield lighter, ("removed trailing commas",)
    if complete and (closed := _closed(lighter)) is not None:
        also = ("removed trailing commas",) if lighter != text else ()
        yield closed, (*also, "added closing brackets")


def _without_trailing_commas(text: str) -> str:
    """Drop commas before a closing bracket, or at the end, unless they stand in a string."""
    pieces = re.split(r'("(?:[^"\\]|\\.)*"?)', text, flags=re.DOTALL)
    for number in range(0, len(pieces), 2):  # the odd ones are strings
        pieces[number] = re.sub(r",(\s*[}\]])", r"\1", pieces[number])
    pieces[-1] = re.sub(r",\s*\Z", "", pieces[-1])
    return "".join(pieces)


def _closed(text: str) -> str | None:
    """Add the closing brackets a text lacks; None when it does not end with a whole value."""
    if not re.search(r'(?:["}\]]|true|false|null)\s*\Z', text):
        return None  # it ends in a number, a colon or a letter: more may have been to come
    missing: list[str] = []
    inside = False
    for character in re.sub(r"\\.", "", text, flags=re.DOTALL):
        if character == '"':
            inside = not inside
        elif not inside and character in _OPEN:
            missing.append(_OPEN[character])
        elif not inside and character in "}]" and (not missing or missing.pop() != character):
            return None
    if inside or not missing:
        return None
    return text + "".join(reversed(missing))


_TOO_LARGE: Final = ("context length", "context size", "context_length", "too long", "too large")


class ChatClient:
    """One model at one endpoint; may be shared by threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        key: str | None = None,
        price: Price | None = None,
        patience: Timeouts | None = None,
        budget: CallBudget | None = None,
        backoff_s: float = 0.5,
    ) -> None:
        """Make a client; nothing is sent.

        Nobody knows the price of tokens where there is none; `budget` has the caps, shared with
        others who spend from the same purse; `backoff_s` is the first wait before trying again.
        """
        self.endpoint = endpoint
        self._patience = patience or Timeouts()
        self._dialects = KnownDialects()
        self._sender = Sender(
            endpoint,
            key=key,
            price=price,
            patience=self._patience,
            budget=budget or CallBudget(),
            backoff_s=backoff_s,
        )

    def close(self) -> None:
        """Close every connection."""
        self._sender.close()

    def ask(self, request: ModelRequest, transcript: Transcript, stop: threading.Event) -> Any:
        """Put a request and return a value that fits its schema, or the text when it has none.

        The transcript is filled with what happened, also when this fails.

        Raises:
            BadReply: No reply fits, not even after asking again.
            ModelUnreachable: The endpoint does not answer, or refuses us.
            OverBudget: What would have to be sent next may cost too much.
            Cancelled: `stop` was set.
        """
        key = call_id(self.endpoint.model, request)
        room = self._patience.reply(request.max_tokens)
        if room < request.max_tokens:
            transcript.note(f"limited to {room} tokens, the prompt allows {request.max_tokens}")
            request = replace(request, max_tokens=room)
        dialect = self._dialects.dialect(request.stage)
        said, dialect = self._say(dialect, request, None, transcript, stop)
        value, problem = _read(said, request, transcript)
        if problem is not None:
            transcript.note(f"asked again: {problem}")
            ignored = request.schema and not (said.cut_off or keeps_form(value, request.schema))
            if ignored and dialect.mode is ReplyFormat.JSON_SCHEMA:
                # accepted and not kept to: the model never saw the schema, so show it
                dialect = dialect.humbler(request)
                transcript.note(f"json_schema was not kept to; {dialect.mode} from now on")
            told = f"{problem}, so be shorter" if said.cut_off else problem
            said, dialect = self._say(dialect, request, (said.text, told), transcript, stop)
            value, problem = _read(said, request, transcript)
        if problem is not None:
            raise BadReply(
                f"{self.endpoint.model!r} replied twice at stage {request.stage!r} "
                f"what cannot be used: {problem}",
                hint=f"abstrag calls show {key}; a larger model may do better",
            )
        self._dialects.fitted(dialect, request)
        return value

    def _say(
        self,
        dialect: Dialect,
        request: ModelRequest,
        repair: tuple[str, str] | None,
        transcript: Transcript,
        stop: threading.Event,
    ) -> tuple[Completion, Dialect]:
        """Send a request, with fewer and fewer features as long as the endpoint refuses."""
        guessed = False
        while True:
            transcript.mode = dialect.mode.value if request.schema else ReplyFormat.TEXT.value
            try:
                said = self._sender.send(
                    dialect.payload(self.endpoint.model, request, repair),
                    transcript,
                    stop,
                    most_out=request.max_tokens,
                    suspect=request.schema is not None and self._dialects.unsure(dialect),
                )
            except WordingRefused as error:
                guessed = guessed or isinstance(error, Failing)
                dialect = self._less(dialect, request, error, transcript)
            else:
                self._dialects.answered(dialect, request, only_here=guessed)
                transcript.raw = said.text
                return said, dialect

    def _less(
        self, dialect: Dialect, request: ModelRequest, error: WordingRefused, transcript: Transcript
    ) -> Dialect:
        """Return the dialect to try after a refusal."""
        why = str(error)
        if any(sign in why.lower() for sign in _TOO_LARGE):
            raise ModelError(
                f"{self._sender.name} finds the request of stage {request.stage!r} too long: {why}",
                hint="use a model or a server setting with a longer context",
            ) from error
        wording = None if isinstance(error, Failing) else why
        less = dialect.without(wording, request)
        if less is None:
            raise ModelError(
                f"{self._sender.name} refuses the request of stage {request.stage!r}: {why}"
            ) from error
        humbler, given_up = less
        transcript.note(f"did without {given_up}: {why}")
        return humbler


def _read(
    said: Completion, request: ModelRequest, transcript: Transcript
) -> tuple[Any, str | None]:
    """Return the value of a reply, or why there is none."""
    if said.refusal:
        return None, f"the model declined: {said.refusal[:200]}"
    if not said.text.strip():
        spent = f" after {request.max_tokens} tokens" if said.cut_off else ""
        return None, f"the reply was empty{spent}"
    if request.schema is None:
        if said.cut_off:
            transcript.note(f"cut off after {request.max_tokens} tokens")
        return said.text.strip(), None
    parsed = parse(said.text, complete=not said.cut_off)
    if parsed is None and said.cut_off:
        return None, f"the reply was cut off after {request.max_tokens} tokens"
    if parsed is None:
        return None, "the reply is not JSON"
    for repair in parsed.repairs:
        transcript.note(repair)
    problem = misfit(parsed.value, request.schema)
    if problem is None and request.weighed and said.tokens and not parsed.repairs:
        return weighed(parsed.value, request.weighed, said.tokens), None
    return parsed.value, problem


# What else might have been said: the probabilities of words that a schema lets a model choose from.


def weighed(value: Any, name: str, tokens: Sequence[TokenChoice]) -> Any:
    """Return a reply with the likely words of a field beside each of its occurrences.

    What is known of the field `met` stands in `met_weights`: the beginnings of words that the
    model might have written, as it cut them, with their probabilities. Where the occurrences in
    the text and in the value are not the same, nothing is added.
    """
    text = "".join(token.text for token in tokens)
    starts = list(accumulate((len(token.text) for token in tokens), initial=0))
    found = []
    for match in re.finditer(rf'"{re.escape(name)}"\s*:\s*"', text):
        place = bisect_right(starts, match.end()) - 1
        found.append(
            _begun(tokens[place], match.end() - starts[place]) if place < len(tokens) else {}
        )
    fields = list(_holding(value, name))
    if len(found) == len(fields):
        for one, weights in zip(fields, found, strict=True):
            one[f"{name}_weights"] = weights
    return value


def _begun(token: TokenChoice, offset: int) -> dict[str, float]:
    """Return what might follow in place of a token's rest, where its beginning is the same."""
    made: dict[str, float] = {}
    for text, log in token.likely:
        if text[:offset] == token.text[:offset] and (rest := text[offset:].split('"')[0]):
            made[rest] = made.get(rest, 0.0) + exp(min(0.0, log))
    return {rest: round(p, 6) for rest, p in made.items() if p >= _FAINT}


def _holding(value: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a reply that have a field, in the order of the text."""
    if isinstance(value, dict):
        if name in value:
            yield value
        for one in value.values():
            yield from _holding(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _holding(one, name)
