"""Cross-references of contracts: "Section 4.2" in a sentence, and the clause it points to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from abstrag.documents.clauses import ContractClause, clauses_of
from abstrag.model.document import Document
from abstrag.model.segment import Segment
from abstrag.model.span import Span

_SHOWN: Final = 80  # characters of a clause without a heading
_NUMBER: Final = r"\d{1,2}(?:\.\d{1,2})*(?:\s?\([a-z]{1,4}\))*"
_REFERENCE: Final = re.compile(
    rf"(?<!\bthis\s)\b(?:sections?|clauses?|articles?|paragraphs?)\s*(?P<numbers>{_NUMBER}"
    rf"(?:(?:,\s*|\s+(?:and|or|to|through)\s+){_NUMBER})*)(?![\w.]*\w)"
    r"|\b(?P<part>schedule|exhibit|annex|appendix)\s+(?P<name>\d{1,2}|[A-Z])\b",
    re.IGNORECASE,
)
_ONE: Final = re.compile(_NUMBER)
_ELSEWHERE: Final = re.compile(  # "Section 409A of the Code", "Article 6 of Regulation (EU)"
    r"\s*(?:of|under|in)\s+(?:the\s+)?(?:[\w.]+\s+){0,5}?"
    r"(?:act|code|law|regulation|directive|rules?|statute|constitution|u\.?s\.?c)\b",
    re.IGNORECASE,
)


class Reference(NamedTuple):
    """A clause that a segment points to: what it is called, its heading, where it stands."""

    name: str
    heading: str
    span: Span


@dataclass(frozen=True, slots=True)
class CrossReferences:
    """Finds the clauses that segments of a document point to."""

    document: Document
    _clauses: Mapping[tuple[str, str], ContractClause] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document) -> CrossReferences:
        """Read the clauses of a document; of two with one number the first is meant."""
        clauses: dict[tuple[str, str], ContractClause] = {}
        for clause in clauses_of(document):
            clauses.setdefault((clause.part, clause.number), clause)
        return cls(document, clauses)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of all clauses."""
        return tuple(dict.fromkeys(c.heading for c in self._clauses.values() if c.heading))

    def of_segment(self, segment: Segment) -> Iterator[Reference]:
        """Yield the clauses that a segment points to, each once, the one it stands in left out."""
        if not self._clauses:
            return
        seen = {segment.block}
        for clause in self._named(segment.text):
            if clause.block not in seen:
                seen.add(clause.block)
                yield self._reference(clause)

    def _named(self, text: str) -> Iterator[ContractClause]:
        for match in _REFERENCE.finditer(text):
            if _ELSEWHERE.match(text, match.end()):
                continue
            if match["part"]:
                part = f"{match['part'].casefold()} {match['name'].upper()}"
                found = [self._clauses.get((part, ""))]
            else:
                found = [self._numbered(one) for one in _ONE.findall(match["numbers"])]
            yield from (clause for clause in found if clause is not None)

    def _numbered(self, printed: str) -> ContractClause | None:
        """Return the clause of a number; that of 2.2(b) is 2.2 where letters begin no blocks."""
        digits, *letters = printed.replace(" ", "").replace(")", "").split("(")
        number = ".".join(str(int(each)) for each in digits.split("."))
        if letters and (found := self._clauses.get(("", f"{number}({letters[0]})"))):
            return found
        return self._clauses.get(("", number))

    def _reference(self, clause: ContractClause) -> Reference:
        block = self.document.blocks[clause.block]
        if clause.heading:
            return Reference(clause.name, clause.heading, block.span)
        said = block.text.removeprefix(clause.printed).lstrip(". )")
        begin = said[:_SHOWN] + ("…" if len(said) > _SHOWN else "")
        return Reference(f"{clause.printed} {begin}".strip(), "", block.span)
