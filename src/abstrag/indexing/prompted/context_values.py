"""Context values that a model proposes: bound to the segment's words, quoted from the document.

A value's wording is the document's, never the model's: the quote is what is kept. It may lead to a
term, and then whoever leans on it pays the context bridge, as for every context value. The model's
call stands in the value's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from abstrag.indexing.layers import TimeMention
from abstrag.indexing.operator import IndexDraft, ReplyFault
from abstrag.indexing.prompted.reader import Batch, StageReader, quoted
from abstrag.language.spelling import Place, overlaps
from abstrag.llm.prompt import Answered
from abstrag.llm.shape import Percent
from abstrag.model.document import Span
from abstrag.model.index import Ambiguity, Field, FieldValue
from abstrag.model.record import record

_MOST: Final = 3  # values for one segment
_LIKELY: Final = 0.5
_CALL: Final = " (model call "
_WIDE: Final = frozenset({"anchor", "section", "caption", "scope", "subject", "topic"})


@record
class ModelValue:
    """A context value as the program reports it."""

    segment: str
    field: Literal["entities", "time", "scope"]
    name: str
    value: str
    source: str
    quote: str
    confidence: Percent


@record
class Lifted:
    """The reply of the program `lift_context`."""

    values: tuple[ModelValue, ...]


def open_words(draft: IndexDraft) -> dict[int, tuple[str, ...]]:
    """Return the words of every segment that the rules could not tie to a thing or a time."""
    assert draft.coreference is not None
    assert draft.times is not None
    left: list[Ambiguity | TimeMention] = [
        *draft.coreference.ambiguities,
        *draft.times.ambiguities,
        *(t for t in draft.times.expressions if t.interval is None and t.header is None),
    ]
    found: dict[int, dict[str, None]] = {}
    for one in sorted(left, key=lambda one: (one.segment, one.start, one.end)):
        words = draft.segments[one.segment].text[one.start : one.end]
        found.setdefault(one.segment, {})[words] = None
    return {segment: tuple(words) for segment, words in found.items()}


def lift_inputs(draft: IndexDraft, batch: Batch) -> dict[str, Any]:
    """Put a batch to `lift_context`, under the document's header; says which words are open."""
    document = draft.document
    left = open_words(draft)
    segments = []
    for i in batch.shown:
        segment = draft.segments[i]
        entry: dict[str, Any] = {"id": segment.id, "text": segment.text}
        if i in batch.segments and i in left:
            entry["open"] = list(left[i])
        if segment.section:
            entry["section"] = segment.section[-1]
        segments.append(entry)
    header = {"title": document.title, "date": document.metadata.date or ""}
    return {"document": header, "segments": segments}


def read_values(
    draft: IndexDraft, reader: StageReader, batch: Batch, reply: Answered[Lifted]
) -> Iterator[tuple[int, Field, FieldValue]]:
    """Go through the values of a reply that can be found where it says they come from."""
    assert draft.coreference is not None
    bound = {(x.segment, x.start, x.end) for x in draft.coreference.links}
    count: dict[int, int] = {}
    for said in sorted(reply.value.values, key=lambda v: -v.confidence):
        segment = reader.segment(said.segment, batch.segments)
        if segment is None:
            continue
        text = draft.segments[segment].text
        named = next(quoted(text, said.name), None)
        wide = said.name.strip().casefold() in _WIDE
        if said.confidence < _LIKELY or not (named or wide) or count.get(segment, 0) == _MOST:
            reader.drop(ReplyFault.NOT_ALLOWED)
            continue
        if named and any(s == segment and overlaps((a, b), named) for s, a, b in bound):
            continue  # the rules have bound it
        found = _source(draft, reader, batch, said, segment)
        if found is None:
            continue
        count[segment] = count.get(segment, 0) + 1
        quote, span, term = found
        name = f"{said.name.strip()}{_CALL}{reply.call})"
        yield segment, Field(said.field), FieldValue(name, quote, said.confidence, span, term)


def said_name(value: FieldValue) -> str:
    """Return what a context value is called, without the call behind it."""
    return value.name.partition(_CALL)[0]


def call_of(value: FieldValue) -> str | None:
    """Return the model call behind a context value; None for what the rules lifted."""
    _, mark, call = value.name.partition(_CALL)
    return call.removesuffix(")") if mark else None


def _source(
    draft: IndexDraft, reader: StageReader, batch: Batch, said: ModelValue, segment: int
) -> tuple[str, Span | None, str | None] | None:
    """Return the quoted words, where they stand and what they name; None when they do not."""
    header = {
        "title": draft.document.title,
        "date": draft.document.metadata.date or "",
        "section": " ".join(draft.segments[segment].section[-1:]),
    }
    source = said.source.strip()
    if source in header:
        if not said.quote.strip() or said.quote.strip() not in header[source]:
            reader.drop(ReplyFault.NOT_QUOTED)
            return None
        return said.quote.strip(), None, None
    origin = reader.segment(source, batch.shown)
    place = None if origin is None else reader.place(origin, said.quote)
    if origin is None or place is None:
        return None
    if origin == segment:  # the segment says it itself, so that is no context
        reader.drop(ReplyFault.NOT_ALLOWED)
        return None
    owner = draft.segments[origin]
    return owner.text[slice(*place)], owner.alignment.locate(*place), _term(draft, origin, place)


def _term(draft: IndexDraft, segment: int, place: Place) -> str | None:
    """Return the entity or the time that fills a quote; a quote about two things names neither."""
    assert draft.entities is not None
    assert draft.times is not None
    found = {
        m.term
        for m in (*draft.entities.mentions, *draft.times.mentions)
        if m.segment == segment and m.header is None and overlaps((m.start, m.end), place)
    }
    return found.pop() if len(found) == 1 else None
