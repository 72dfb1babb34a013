"""The client: puts a request to an OpenAI-compatible endpoint until it has a reply that fits.

It asks for the schema to be enforced and gives way where the endpoint refuses, reads what comes
with tolerance, checks it, asks once more when it does not fit, and then says so with an error.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from abstrag.errors import BadReply, ModelError
from abstrag.llm.budget import CallBudget
from abstrag.llm.completion import Completion
from abstrag.llm.dialect import Dialect, Fluency, ReplyFormat
from abstrag.llm.key import call_id
from abstrag.llm.model import ModelRequest
from abstrag.llm.settings import Endpoint, Patience, Price
from abstrag.llm.shape import keeps_form, misfit
from abstrag.llm.transcript import Transcript
from abstrag.llm.wire import Failing, Wire, WordingRefused

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
    text, repairs = _without_thoughts(text)
    strict = _loads(text)
    if strict is not None:
        return Parsed(strict[0], repairs)
    for candidate, how in _candidates(text):
        for fixed, also in _mended(candidate, complete=complete):
            found = _loads(fixed)
            if found is not None:
                return Parsed(found[0], (*repairs, *how, *also))
    return None


def _without_thoughts(text: str) -> tuple[str, tuple[str, ...]]:
    shorter = _THOUGHT.sub("", text, count=1)
    return (shorter, ()) if shorter == text else (shorter, ("left out the model's thoughts",))


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
    for position, depth in _depths(text[start:]):
        if depth == 0:
            return start + position + 1
    return len(text)


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
        patience: Patience | None = None,
        budget: CallBudget | None = None,
        backoff_s: float = 0.5,
    ) -> None:
        """Make a client; nothing is sent.

        Args:
            endpoint: Which model, and where.
            key: The API key.
            price: Of the model's tokens; None when nobody knows.
            patience: How long and how often to try.
            budget: The caps, shared with others who spend from the same purse.
            backoff_s: The first wait before trying again.
        """
        self.endpoint = endpoint
        self._patience = patience or Patience()
        self._fluency = Fluency()
        self._wire = Wire(
            endpoint,
            key=key,
            price=price,
            patience=self._patience,
            budget=budget or CallBudget(),
            backoff_s=backoff_s,
        )

    def close(self) -> None:
        """Close every connection."""
        self._wire.close()

    def ask(self, request: ModelRequest, transcript: Transcript, stop: threading.Event) -> Any:
        """Put a request and return a value that fits its schema, or the text when it has none.

        Args:
            request: The question.
            transcript: Is filled with what happened, also when this fails.
            stop: When it is set, the call ends at once.

        Raises:
            BadReply: No reply fits, not even after asking again.
            ModelUnreachable: The endpoint does not answer, or refuses us.
            OverBudget: What would have to be sent next may cost too much.
            CalledOff: `stop` was set.
        """
        key = call_id(self.endpoint.model, request)
        room = self._patience.reply(request.max_tokens)
        if room < request.max_tokens:
            transcript.note(f"limited to {room} tokens, the prompt allows {request.max_tokens}")
            request = replace(request, max_tokens=room)
        dialect = self._fluency.dialect(request.stage)
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
        self._fluency.fitted(dialect, request)
        return value

    def _say(
        self,
        dialect: Dialect,
        request: ModelRequest,
        repair: tuple[str, str] | None,
        transcript: Transcript,
        stop: threading.Event,
    ) -> tuple[Completion, Dialect]:
        """Send a request, asking for less and less as long as the endpoint refuses."""
        guessed = False
        while True:
            transcript.mode = dialect.mode.value if request.schema else ReplyFormat.TEXT.value
            try:
                said = self._wire.send(
                    dialect.payload(self.endpoint.model, request, repair),
                    transcript,
                    stop,
                    most_out=request.max_tokens,
                    suspect=request.schema is not None and self._fluency.unsure(dialect),
                )
            except WordingRefused as error:
                guessed = guessed or isinstance(error, Failing)
                dialect = self._less(dialect, request, error, transcript)
            else:
                self._fluency.answered(dialect, request, only_here=guessed)
                transcript.raw = said.text
                return said, dialect

    def _less(
        self, dialect: Dialect, request: ModelRequest, error: WordingRefused, transcript: Transcript
    ) -> Dialect:
        """Return what to try after a refusal."""
        why = str(error)
        if any(sign in why.lower() for sign in _TOO_LARGE):
            raise ModelError(
                f"{self._wire.name} finds the request of stage {request.stage!r} too long: {why}",
                hint="use a model or a server setting with a longer context",
            ) from error
        wording = None if isinstance(error, Failing) else why
        less = dialect.without(wording, request)
        if less is None:
            raise ModelError(
                f"{self._wire.name} refuses the request of stage {request.stage!r}: {why}"
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
    return parsed.value, misfit(parsed.value, request.schema)
