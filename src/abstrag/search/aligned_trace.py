"""What alignment says of one segment: which word meets which, and what that adds to its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abstrag.config import COST_UNIT
from abstrag.model.query import Bridge
from abstrag.model.ranking import LiteralTrace, WordTrace
from abstrag.model.term import Family, Licence, LicenceKind, Mention, Relation
from abstrag.search.alignment import Alignment
from abstrag.search.document_words import forms
from abstrag.search.literal_words import NOWHERE

ALIGN_WORDS: Final = "align_words"  # the operator that meets literals by learned links


def word_traces(alignment: Alignment, segment: int) -> tuple[WordTrace, ...]:
    """Say of each content word of the query which word of a segment meets it, and at what price."""
    return tuple(_word(alignment, i, segment) for i in range(len(alignment.asked)))


def _word(alignment: Alignment, i: int, segment: int) -> WordTrace:
    asked = alignment.asked_words[i]
    start, end = alignment.asked.spans[i].tolist()
    price = float(alignment.prices[i, segment])
    word = int(alignment.places[i, segment])
    of = alignment.literal_of[i]
    found = WordTrace(
        asked,
        start,
        end,
        price,
        weight=float(alignment.asked.weights[i]),
        literal=None if of == NOWHERE else of,
    )
    if word == NOWHERE:
        return found
    place = alignment.words.place(segment, word)
    same = bool(alignment.same[i, segment])
    met = bool(alignment.met[i, segment])
    direct = bool(alignment.direct[i, segment])
    family = None if direct else Family(alignment.family(i, segment))
    return replace(
        found,
        met=met,
        said=place.text,
        family=family,
        other_sense=same and not direct,
        said_start=place.start,
        said_end=place.end,
        header=place.header,
        in_section=place.in_section,
    )


def by_words(alignment: Alignment, j: int, segment: int, units: int, *, met: bool) -> LiteralTrace:
    """Return how the words of a segment meet a literal, word by word."""
    literal = alignment.query.literals[j]
    rows = [i for i, of in enumerate(alignment.literal_of) if of == j]
    words = [_word(alignment, i, segment) for i in rows]
    steps = [word for word in words if word.family is not None]
    dearest = max(words, key=lambda word: word.price)
    mention = None
    if dearest.said_start is not None and dearest.said_end is not None and not dearest.in_section:
        mention = Mention(
            dearest.said, segment, dearest.said_start, dearest.said_end, header=dearest.header
        )
    bridges: tuple[Bridge, ...] = ()
    if units:
        fee = max((alignment.fees[i, segment] for i in rows), default=0.0) if steps else 0.0
        fee = min(float(fee), units / COST_UNIT)
        family = dearest.family or Family.EVENT
        bridges = (
            Bridge(
                family=family,
                relation=Relation.IMPLIES,
                operator=ALIGN_WORDS,
                source=" ".join(word.said for word in words),
                target=literal.label,
                weight=fee,
                distance=units / COST_UNIT - fee,
                cost=units / COST_UNIT,
                truth_preserving=False,
                licence=_licence(alignment, words),
                literal=j,
                segment=segment,
                details=tuple(f"{w.asked} ← {w.said} {w.price:.2f}" for w in steps),
            ),
        )
    return LiteralTrace(
        literal,
        met=met,
        distance=units / COST_UNIT,
        via=" ".join(word.said for word in words),
        bridges=bridges,
        mention=mention,
    )


def _licence(alignment: Alignment, words: Sequence[WordTrace]) -> Licence:
    """Return who says what the words cost: the aligner, or somebody who confirmed a step."""
    for step in alignment.steps:
        for word in words if not step.refuses else ():
            asked, said = set(forms(word.asked)), set(forms(word.said))
            if asked.intersection(forms(step.asked)) and said.intersection(forms(step.said)):
                return Licence(LicenceKind.PATCH, f"{step.said} → {step.asked}")
    return Licence(LicenceKind.MODEL, "the aligner")
