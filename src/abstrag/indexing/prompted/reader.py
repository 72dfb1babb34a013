"""Segments put to a model in batches, and its replies read with suspicion.

A reply may name segments it was never shown and quote words that nobody wrote. Whatever cannot be
found exactly is dropped and counted; a call that failed leaves its segments without an answer and
says so. Document text is data: it reaches a model only as a value inside the program's fence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from abstrag.errors import ModelError
from abstrag.indexing.operator import IndexDraft, ReplyFault, Shortfall
from abstrag.language.spelling import Place, overlaps, places
from abstrag.llm.budget import Batching, room, tokens_of
from abstrag.llm.prompt import Answered, Prompt
from abstrag.model.document import BlockKind
from abstrag.model.segment import SegmentKind

_TABLES: Final = frozenset({SegmentKind.TABLE_CELL, SegmentKind.TABLE_ROW})
_ENTRY: Final = 12  # tokens of the JSON around a segment's text
_WHY: Final = 160  # characters of an error that a shortfall repeats

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Batch:
    """Segments asked about in one call, and those before them that are only shown."""

    segments: tuple[int, ...]
    lead: tuple[int, ...] = ()

    @property
    def shown(self) -> tuple[int, ...]:
        """Everything the call shows, in reading order."""
        return (*self.lead, *self.segments)


def prose(draft: IndexDraft) -> list[int]:
    """Return the segments that speak in sentences: no table cells or rows, no code."""
    return [
        i
        for i, segment in enumerate(draft.segments)
        if segment.kind not in _TABLES
        and draft.document.blocks[segment.block].kind is not BlockKind.CODE
    ]


def batches(
    draft: IndexDraft,
    chosen: Sequence[int],
    batching: Batching,
    *,
    most: int | None = None,
    lead: int = 0,
) -> list[Batch]:
    """Cut the chosen segments into batches; `lead` of them are shown again before the next."""
    sizes = [tokens_of(draft.segments[i].text) + _ENTRY for i in chosen]
    return [
        Batch(tuple(chosen[i] for i in run), tuple(chosen[max(0, run.start - lead) : run.start]))
        for run in batching.cut(sizes, most=most)
    ]


def quoted(text: str, words: str) -> Iterator[Place]:
    """Go through the places where a text has these words, as copied by a model.

    Models copy a word from the beginning of a sentence in lower case, or the other way round. So
    where the words are not found as they are, the case of their first letter is not held against
    them; that of the others is, or WHO would be found in who.
    """
    exact = list(places(text, words))
    other = words.strip()
    yield from exact or places(text, other[:1].swapcase() + other[1:])


class StageReader:
    """Asks one stage about a draft and reads the replies; keeps count of what it had to drop."""

    def __init__(self, draft: IndexDraft, what: str) -> None:
        self.draft = draft
        self.what = what
        self._numbers = {segment.id: i for i, segment in enumerate(draft.segments)}
        self._missed: dict[int, str] = {}
        self._faults: Counter[ReplyFault] = Counter()

    def ask(
        self,
        prompt: Prompt,
        answer: type[Answer],
        asked: Sequence[Batch],
        inputs: Callable[[Batch], Mapping[str, Any]],
        *,
        each: int,
    ) -> list[tuple[Batch, Answered[Answer]]]:
        """Ask about every batch and return the replies that came; a failed batch is missed.

        `each` is how many tokens of a reply a segment may take.
        """
        put = [inputs(batch) for batch in asked]
        replies = prompt.ask_many(answer, put, max_tokens=room(put, each))
        came: list[tuple[Batch, Answered[Answer]]] = []
        for batch, reply in zip(asked, replies, strict=True):
            if isinstance(reply, ModelError):
                self.miss(batch.segments, reply)
            else:
                came.append((batch, reply))
        return came

    def shown(self, batch: Batch) -> list[dict[str, str]]:
        """Return a batch as a program sees it: ids and texts."""
        segments = self.draft.segments
        return [{"id": segments[i].id, "text": segments[i].text} for i in batch.shown]

    def segment(self, name: str, among: Iterable[int]) -> int | None:
        """Return the segment of an id if it is one of those; else the answer is dropped."""
        found = self._numbers.get(name.strip())
        if found is None or found not in among:
            self.drop(ReplyFault.UNKNOWN_ID)
            return None
        return found

    def place(self, segment: int, quote: str, avoid: Iterable[Place] = ()) -> Place | None:
        """Return where a segment has these words, outside places to avoid; else it is dropped."""
        taken = list(avoid)
        for found in quoted(self.draft.segments[segment].text, quote):
            if not any(overlaps(found, other) for other in taken):
                return found
        self.drop(ReplyFault.NOT_QUOTED)
        return None

    def drop(self, fault: ReplyFault) -> None:
        """Count one answer that cannot be used."""
        self._faults[fault] += 1

    def miss(self, segments: Iterable[int], error: ModelError) -> None:
        """Note segments that got no answer."""
        for segment in segments:
            self._missed.setdefault(segment, str(error)[:_WHY])

    @property
    def shortfalls(self) -> tuple[Shortfall, ...]:
        """What went wrong, segments first."""
        missed = (
            Shortfall(self.what, ReplyFault.MISSED, segment=segment, why=why)
            for segment, why in sorted(self._missed.items())
        )
        dropped = (
            Shortfall(self.what, fault, count) for fault, count in sorted(self._faults.items())
        )
        return (*missed, *dropped)
