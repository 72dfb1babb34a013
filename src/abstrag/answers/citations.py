"""Citations: what a generator claims to quote, checked against what it was given.

Nothing becomes a citation that does not stand in a passage that was given; a quotation attributed
to the wrong passage is credited to the right one. A sentence keeps a doubt when none of its
quotations holds, or when it states a figure that its passages do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.model.answer import AnswerSentence, Citation, Evidence
from abstrag.model.document import Document, Span
from abstrag.model.ranking import Hit
from abstrag.model.segment import Segment

# Finding quoted words again: exact but for spaces, dashes, quotation marks and ligatures.
#
# A model copies a passage with its own spaces and dashes. Two texts are compared in a folded form
# whose every character knows where it came from, so what is found is a place and not a likeness.
# Letters, digits and case have to agree.

_DASHES: Final = frozenset("-‐‑‒–—−")
_DROPPED: Final = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")  # soft hyphens, joiners
_MARKS: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "`": "'"})
_ELLIPSIS: Final = re.compile(r"\s*(?:\[?(?:\.{3}|…)\]?)\s*")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in its folded form; `origin[i]` is where character i of it came from."""

    text: str
    origin: tuple[int, ...]

    @classmethod
    def of(cls, source: str) -> Folded:
        """Fold a text."""
        made: list[str] = []
        origin: list[int] = []
        for i, raw in enumerate(source):
            if raw in _DROPPED:
                continue
            for one in unicodedata.normalize("NFKC", raw).translate(_MARKS):
                char = "-" if one in _DASHES else " " if one.isspace() else one
                # "state-of- the-art": a space after a dash, or after a space, is the layout's
                if char == " " and (not made or made[-1] in " -"):
                    continue
                if char == "-" and made and made[-1] == " ":
                    made.pop()
                    origin.pop()
                made.append(char)
                origin.append(i)
        return cls("".join(made), tuple(origin))


def parts_of(quote: str) -> tuple[str, ...]:
    """Return the pieces of a quotation that leaves words out, without the marks around it."""
    bare = quote.strip().strip("\"'“”„‘’`").strip()
    return tuple(part for part in _ELLIPSIS.split(bare) if any(c.isalnum() for c in part))


def find_quote(quote: str, source: str) -> tuple[int, int] | None:
    """Return where whole words of a source read like the quotation, None where nothing does."""
    wanted, given = Folded.of(quote).text.strip(), Folded.of(source)
    if not any(char.isalnum() for char in wanted):
        return None
    start = given.text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if _whole(given.text, start, end):
            return given.origin[start], given.origin[end - 1] + 1
        start = given.text.find(wanted, start + 1)
    return None


def _whole(text: str, start: int, end: int) -> bool:
    """True when the stretch begins and ends between words."""
    cut_before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    cut_after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not cut_before and not cut_after


_FIGURE: Final = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """One piece of evidence as a generator is given it, with the way back to its document."""

    number: int
    hit: Hit
    segment: Segment
    document: Document

    @property
    def headers(self) -> tuple[str, ...]:
        """The row and column headers a table's cells are read with."""
        return tuple(header.text for header in self.segment.headers)

    @property
    def text(self) -> str:
        """Everything of the passage that may be quoted, as one text."""
        return " ".join((*self.headers, self.segment.text))

    @property
    def evidence(self) -> Evidence:
        """The passage for the record of the answer."""
        hit = self.hit
        return Evidence(
            number=self.number,
            segment=hit.segment,
            quote=hit.quote,
            text=self.segment.text,
            span=hit.span,
            page=hit.page,
            section=hit.section,
            relevance=hit.relevance,
            reading=hit.reading,
            headers=self.headers,
            cell=hit.cell,
            document=self.document.id,
        )

    def locate(self, quote: str) -> tuple[str, Span] | None:
        """Return the words of the passage a quotation means, and where they stand."""
        at = find_quote(quote, self.segment.text)
        if at is not None:
            return self.segment.text[at[0] : at[1]], self.segment.alignment.locate(*at)
        for header in self.segment.headers:
            if find_quote(quote, header.text) is not None:
                return header.text, header.span
        return None


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation as a generator gives it: words, and the passage it says they are from."""

    words: str
    passage: int | None = None


class Citations:
    """Collects the verified quotations of one answer and numbers them as they come."""

    def __init__(self, passages: Sequence[CitedPassage]) -> None:
        self._passages = passages
        self._made: dict[tuple[Span, int], Citation] = {}

    @property
    def all(self) -> tuple[Citation, ...]:
        """Every citation so far, by number."""
        return tuple(self._made.values())

    def sentence(
        self, text: str, quoted: Iterable[Quoted], *, question: str = ""
    ) -> AnswerSentence:
        """Check one sentence: its quotations become citations, what does not hold a doubt."""
        claimed = tuple(quoted)
        found = [one for quote in claimed for one in self._verified(quote)]
        numbers = tuple(dict.fromkeys(one.number for one in found))
        doubt = self._doubt(text, claimed, found, question)
        return AnswerSentence(" ".join(text.split()), numbers, doubt)

    def verbatim(self, passage: CitedPassage, start: int, end: int) -> AnswerSentence:
        """Make a sentence of a passage's own words, which is its own citation."""
        text = passage.segment.text[start:end]
        cited = self._cite(passage, text, passage.segment.alignment.locate(start, end))
        return AnswerSentence(text, (cited.number,))

    def cell(
        self, passage: CitedPassage, text: str, span: Span, headers: tuple[str, ...]
    ) -> Citation:
        """Cite one cell of a row that is a passage, with its own headers."""
        return self._cite(passage, text, span, headers)

    def _verified(self, quoted: Quoted) -> list[Citation]:
        """Return the citations of a quotation: one for each of its parts, or none at all."""
        parts = parts_of(quoted.words)
        places = [self._place(part, quoted.passage) for part in parts]
        found = [place for place in places if place is not None]
        if len(found) < len(parts):
            return []
        return [self._cite(*place) for place in found]

    def _place(self, part: str, named: int | None) -> tuple[CitedPassage, str, Span] | None:
        for passage in sorted(self._passages, key=lambda one: one.number != named):
            if (at := passage.locate(part)) is not None:
                return passage, *at
        return None

    def _cite(
        self, passage: CitedPassage, text: str, span: Span, headers: tuple[str, ...] | None = None
    ) -> Citation:
        key = span, passage.number
        if key not in self._made:
            self._made[key] = Citation(
                number=len(self._made) + 1,
                evidence=passage.number,
                segment=passage.segment.id,
                quote=passage.document.quote(span),
                text=text,
                span=span,
                page=passage.segment.page,
                section=passage.segment.section,
                headers=passage.headers if headers is None else headers,
                cell=passage.hit.cell,
                document=passage.document.id,
            )
        return self._made[key]

    def _doubt(
        self, text: str, claimed: Sequence[Quoted], found: Sequence[Citation], question: str
    ) -> str | None:
        if not found:
            return self._unfounded(claimed)
        cited = {one.evidence for one in found}
        known = figures(question)
        for passage in self._passages:
            if passage.number in cited:
                known |= figures(passage.text)
        if strange := sorted(figures(text) - known):
            return f"it says {', '.join(strange)}, and the passages it cites do not"
        return None

    def _unfounded(self, claimed: Sequence[Quoted]) -> str:
        parts = [part for one in claimed for part in parts_of(one.words)]
        if not parts:
            return "it cites nothing"
        wrong = next(part for part in parts if self._place(part, None) is None)
        documents = {passage.document.id: passage.document for passage in self._passages}
        where = "the document" if len(documents) == 1 else "the documents"
        blocks = (block for document in documents.values() for block in document.blocks)
        if any(find_quote(wrong, block.text) for block in blocks):
            return f"its quotation {wrong!r} is in {where} but not in the evidence given"
        return f"its quotation {wrong!r} is not in {where}"


def figures(text: str) -> set[str]:
    """Return the numbers a text states in digits, in one spelling: 1,200 and 1200 are the same."""
    return {found.replace(",", "") for found in _FIGURE.findall(text)}
