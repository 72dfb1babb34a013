"""Aliases that the document itself suggests: initials, kinds, headings, and words that go together.

They are guesses, dearer than what a lexicon knows, and the gate decides about each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from abstrag.language.keys import key
from abstrag.model.distances import abstraction_distance, expression_distance
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.ranking import Hit
from abstrag.model.term import Licence, LicenceKind
from abstrag.refine.licensing import Licensed
from abstrag.search.document_words import forms
from abstrag.search.scoring import Scoring

_MOST: Final = 3  # of each kind, for one condition
_TOGETHER: Final = 2  # segments in which two words must meet
_LIFT: Final = 3.0  # how much oftener than by chance
_THINGS: Final = ("concept:", "entity:", "role:")
_SMALL: Final = frozenset("a an and for in of on or the to with".split())


def mined(literal: Literal, scoring: Scoring, hit: Hit) -> Iterator[Licensed]:
    """Go through terms of a segment that may stand for a condition by what the document shows."""
    if literal.kind in (LiteralKind.TIME, LiteralKind.QUANTITY):
        return
    labels = scoring.index.labels
    here = {
        term: key(labels.get(term, term.partition(":")[2]))
        for term in sorted(scoring.index.terms_of(hit.position))
        if "." not in term and term not in literal.terms
    }
    yield from _initials(literal, here)
    yield from _kinds(literal, here)
    if literal.kind is not LiteralKind.EVENT:
        things = {term: label for term, label in here.items() if term.startswith(_THINGS)}
        yield from _headed(literal, things, scoring, hit)
        yield from _together(literal, things, scoring)


def initials(name: str) -> str:
    """Return the first letters of a name's words, small words left out."""
    return "".join(word[0] for word in key(name).split() if word not in _SMALL)


def _initials(literal: Literal, here: dict[str, str]) -> Iterator[Licensed]:
    """Propose that a name and its initials are the same: MPC, Monetary Policy Committee."""
    asked = key(literal.label)
    for term, label in here.items():
        short, long = sorted((asked, label), key=len)
        plain = short.replace(".", "").replace(" ", "")
        if 2 <= len(plain) <= 6 and len(long.split()) > 1 and plain == initials(long):
            distance = expression_distance(asked, label, guessed=True)
            said = f"“{short}” are the initials of “{long}”"
            yield Licensed(term, round(distance, 4), Licence(LicenceKind.TEXT, said))


def _kinds(literal: Literal, here: dict[str, str]) -> Iterator[Licensed]:
    """Propose that the same word counts although it was read as something else."""
    asked = set(forms(key(literal.label)))
    for term, label in here.items():
        if not asked.isdisjoint(forms(label)):
            kind = term.partition(":")[0]
            said = f"“{label}” was read as {kind}, and {literal.kind.value} is asked for"
            distance = expression_distance("", "", guessed=True)
            yield Licensed(term, round(distance, 4), Licence(LicenceKind.TEXT, said))


def _headed(
    literal: Literal, here: dict[str, str], scoring: Scoring, hit: Hit
) -> Iterator[Licensed]:
    """Propose that what stands under a heading that names the condition is about it."""
    asked = set(forms(key(literal.label)))
    for heading in reversed(hit.section):
        named = {form for word in key(heading).split() for form in forms(word)}
        if asked.isdisjoint(named):
            continue
        rarest = sorted(here, key=lambda term: (len(scoring.index.places(term)), term))[:_MOST]
        for term in rarest:
            said = f"“{here[term]}” stands under the heading “{heading}”"
            distance = abstraction_distance(one_way=False)
            yield Licensed(term, distance, Licence(LicenceKind.TEXT, said))
        return


def _together(literal: Literal, here: dict[str, str], scoring: Scoring) -> Iterator[Licensed]:
    """Propose words that stand beside the condition elsewhere oftener than by chance."""
    size = max(1, len(scoring.document.records))
    places = {int(p) for term in literal.terms for p in scoring.index.places(term)}
    if len(places) < _TOGETHER:
        return
    found = []
    for term in here:
        own = {int(p) for p in scoring.index.places(term)}
        both = len(own & places)
        lift = both * size / max(1, len(own) * len(places))
        if both >= _TOGETHER and lift >= _LIFT:
            found.append((-lift, term, both))
    for lift, term, both in sorted(found)[:_MOST]:
        said = f"“{here[term]}” and “{literal.label}” meet in {both} segments, {-lift:.1f} × chance"
        cosine = float(np.clip(1.0 + 1.0 / lift, 0.0, 1.0))
        distance = round(abstraction_distance(cosine=cosine, one_way=False), 4)
        yield Licensed(term, distance, Licence(LicenceKind.TEXT, said))
