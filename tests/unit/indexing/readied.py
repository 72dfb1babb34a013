"""Drafts that are ready for AbsConcept: names, times and anaphora are given, not found."""

import re
from collections.abc import Iterable, Iterator

from abstrag.indexing.layers import (
    Contexts,
    Coreference,
    CoreferenceLink,
    Entities,
    TimeLayer,
    TimeMention,
)
from abstrag.indexing.operator import IndexDraft
from abstrag.language.words import key
from abstrag.model.term import Interval, Mention, Term, TermKind
from tests.unit.indexing.drafts import draft_of

Place = tuple[int, int, int]


def readied(
    *texts: str,
    names: Iterable[str] = (),
    times: Iterable[str] = (),
    links: Iterable[tuple[str, str]] = (),
) -> IndexDraft:
    """Return a draft with the layers before AbsConcept.

    Every occurrence of a name is an entity, of a time a day in 2024; a link says that the first
    occurrence of one expression stands for the first of another.
    """
    draft = draft_of(*texts)
    names, times = tuple(names), tuple(times)
    mentions = [
        Mention(f"entity:{key(name)}", *place) for name in names for place in _find(draft, name)
    ]
    terms = tuple(Term(f"entity:{key(n)}", TermKind.ENTITY, n, (n,)) for n in names)
    day = Interval("2024-05-14", "2024-05-14")
    expressions = [TimeMention(*p, day, True) for time in times for p in _find(draft, time)]
    days = [Mention("time:2024-05-14", t.segment, t.start, t.end) for t in expressions]
    return draft.with_(
        coreference=Coreference(tuple(_links(draft, links)), (), ()),
        entities=Entities(terms, tuple(mentions), (), (), ()),
        times=TimeLayer("2024-05-15", tuple(expressions), (), tuple(days), (), ()),
        contexts=Contexts((), ()),
    )


def _find(draft: IndexDraft, expression: str) -> Iterator[Place]:
    for i, segment in enumerate(draft.segments):
        for match in re.finditer(rf"(?<!\w){re.escape(expression)}(?!\w)", segment.text):
            yield i, match.start(), match.end()


def _links(draft: IndexDraft, links: Iterable[tuple[str, str]]) -> Iterator[CoreferenceLink]:
    for anaphor, antecedent in links:
        here, there = next(_find(draft, anaphor)), next(_find(draft, antecedent))
        yield CoreferenceLink(*here, *there, confidence=0.9, kind="pronoun")
