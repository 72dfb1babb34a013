"""A query in the words of the document, where a Background says what those are.

A model that reads a question and a passage has not read the Background: a firm's own code for a
part, or an old name of a disease, means nothing to it. What a query calls by such a name is put to
models as the document calls it, and beside the asked name where that is only suggested.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from abstrag.backgrounds.fact import agrees, folded, written_forms
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.term import Edge, Family, LicenceKind, Relation


@dataclass(frozen=True, slots=True)
class Glossary:
    """What a Background calls the things that a document names."""

    text: str  # of the document
    stated: Mapping[str, Sequence[str]]  # by the form of a name: all names of the thing, main first
    suggested: Mapping[str, Sequence[str]]  # by the form of a name: names it may stand for
    longest: Mapping[str, int]  # by its first word: how many words a name has at most

    @classmethod
    def of(cls, index: DocumentIndex) -> Glossary:
        """Read the names off an index."""
        groups = [(main, *others) for main, others in index.background.aliases.items()]
        stated = {folded(name): group for group in groups for name in group}
        suggested: dict[str, list[str]] = {}
        edges = sorted(filter(_suggests, index.map.edges), key=lambda e: (e.units, e.source))
        labels = {term.id: term.label for term in index.map.terms} if edges else {}
        for edge in edges:
            suggested.setdefault(folded(labels[edge.target]), []).append(labels[edge.source])
        longest: dict[str, int] = {}
        for form in (*stated, *suggested):
            first, *rest = form.split() or [""]
            longest[first] = max(longest.get(first, 0), 1 + len(rest))
        return cls(index.document.text, stated, suggested, longest)

    def told(self, query: Query) -> Query:
        """Return a query whose reading has the document's names."""
        reading = self.glossed(query.reading)
        return query if reading == query.reading else replace(query, glossed=reading)

    def glossed(self, text: str) -> str:
        """Return a text with what the document calls the things that it names."""
        found = dict.fromkeys(written_forms([text], self.longest) if self.longest else ())
        for form, written in sorted(found, key=lambda each: -len(each[1])):
            place = _found(written, text)
            if place is not None and _found(written, self.text) is None:
                put = self._said(form, written)
                text = f"{text[: place.start()]}{put}{text[place.end() :]}"
        return text

    def _said(self, form: str, written: str) -> str:
        """Return what stands for a name; the name itself where nothing does."""
        names = [name for name in self.stated.get(form, ()) if folded(name) != form]
        if names and agrees(_own(self.stated[form], form), [written]):
            return next((name for name in names if _found(name, self.text)), names[0])
        for name in self.suggested.get(form, ()):
            if _found(name, self.text):
                return f"{written} ({name})"
        return written


def _suggests(edge: Edge) -> bool:
    """Tell whether a Background suggests another name by an edge."""
    known = edge.licence.kind is LicenceKind.BACKGROUND
    return known and edge.family is Family.EXPRESSION and edge.relation is not Relation.EQUIVALENT


def _own(names: Sequence[str], form: str) -> str:
    return next(name for name in names if folded(name) == form)


def _found(name: str, text: str) -> re.Match[str] | None:
    """Find a name as whole words, its plural too; one in capitals only in capitals."""
    pattern = rf"(?<!\w){re.escape(name)}(?:e?s)?(?!\w)"
    return re.search(pattern, text, 0 if name.isupper() else re.IGNORECASE)
