"""Which antecedent a pronoun has: the prominent one, if one is prominent enough.

Prominence adds up over the mentions of a thing: more for a subject, less with every sentence in
between (after Lappin and Leass, An algorithm for pronominal anaphora resolution, 1994). The
numbers are ours, set by reading links in encyclopedia articles, papers and filings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.indexing.reference.agreement import Fits
from abstrag.indexing.reference.discourse import SentenceSpan
from abstrag.indexing.reference.phrases import Phrase
from abstrag.indexing.reference.pronouns import WITH, Pronoun, above, barred, binders
from abstrag.language.nouns import AGENTIVE

WINDOW: Final = 3  # sentences back
_DECAY: Final = 0.6  # of prominence with each sentence
_BREAK: Final = 0.7  # of prominence at a paragraph's end
_DOUBT: Final = 0.5  # a name that would fit only if spaCy had mistaken it
_PARALLEL: Final = 1.25  # a subject refers to a subject
_BINDING: Final = 1.6  # the subject above a pronoun, or a possessor beside it
_CLAUSE: Final = 0.7  # of that with every clause further up
_QUANTIFIED: Final = 1.0  # at least, of "each paper" in the same sentence
_REPEATED: Final = 2.0  # what the same pronoun stood for before it in the sentence
_COORDINATED: Final = 4.0  # "Acme and its subsidiaries"

_LEAST: Final = 0.35  # prominence below which nothing is referred to
_MARGIN: Final = 2.2  # how much more prominent than the next the antecedent must be
_UNNAMED_MARGIN: Final = 4.0  # the same for a phrase that is no name
_CROWD: Final = 4  # so many candidates since, and nobody can tell
_OPENING: Final = 3  # tokens that still open a sentence
_SUREST: Final = 0.95

_AGENTS: Final = frozenset({"PERSON", "ORG", "GPE", "NORP"})


@dataclass(frozen=True, slots=True)
class Antecedent:
    """Something a pronoun may stand for, and the sentence that mentions it last."""

    phrase: Phrase
    score: float
    latest: int
    subject: bool  # it was a subject lately


def candidates(pronoun: Pronoun, here: SentenceSpan, history: Sequence[Phrase]) -> list[Antecedent]:
    """Return what the pronoun may stand for, the most prominent first."""
    eligible = [p for p in history if _eligible(pronoun, here, p)]
    up = above(pronoun)
    excluded = {p.referent for p in eligible if p.sentence == here and barred(pronoun, p, up)}
    eligible = [p for p in eligible if p.referent not in excluded]
    levels = {head: level for level, head in enumerate(binders(pronoun))}
    scores: dict[str, float] = defaultdict(float)
    phrases: dict[str, Phrase] = {}
    for phrase in eligible:
        scores[phrase.referent] += _score(pronoun, here, phrase, levels)
        if phrase.referent not in phrases or phrase.fits & pronoun.fits:
            phrases[phrase.referent] = phrase
    again = _same_pronoun(pronoun, here, eligible)
    if again is not None:
        scores[again.referent] *= _REPEATED
    latest = {p.referent: p.sentence.number for p in eligible}
    subjects = {p.referent for p in eligible if p.subject and (p.name or p is phrases[p.referent])}
    found = _able(
        pronoun, [Antecedent(phrases[r], s, latest[r], r in subjects) for r, s in scores.items()]
    )
    return sorted(found, key=lambda c: (-c.score, -c.latest, -c.phrase.head))


def _eligible(pronoun: Pronoun, here: SentenceSpan, phrase: Phrase) -> bool:
    back = here.number - phrase.sentence.number
    return (
        back <= WINDOW
        and (back > 0 or phrase.head < pronoun.token.i)
        and bool((phrase.fits | phrase.rivals) & pronoun.fits)
    )


def _score(
    pronoun: Pronoun, here: SentenceSpan, phrase: Phrase, levels: Mapping[int, int]
) -> float:
    score = phrase.weight * _DECAY ** (here.number - phrase.sentence.number)
    if phrase.name is not None and not phrase.fits & pronoun.fits:
        score *= _DOUBT
    if phrase.sentence.paragraph != here.paragraph:
        score *= _BREAK
    if phrase.subject and pronoun.subject:
        score *= _PARALLEL
    if phrase.sentence == here:
        level = levels.get(phrase.head)
        if level is not None:
            score *= _BINDING * _CLAUSE**level
        elif _owner_beside(pronoun, phrase):
            score *= _BINDING
        if _coordinated(pronoun, phrase):
            score *= _COORDINATED
        if phrase.binds:
            score = max(score, _QUANTIFIED)
    return score


def _owner_beside(pronoun: Pronoun, phrase: Phrase) -> bool:
    """True for the plant in "the plant's leaves and its fruit"."""
    doc = pronoun.token.doc
    return pronoun.possessive and phrase.last < len(doc) and doc[phrase.last].tag_ == "POS"


def _coordinated(pronoun: Pronoun, phrase: Phrase) -> bool:
    owned = pronoun.token.head
    if owned.head.lower_ in WITH:
        owned = owned.head
    joined = owned.dep_ == "conj" or owned.lower_ in WITH
    return pronoun.possessive and joined and owned.head.i == phrase.head


def _same_pronoun(
    pronoun: Pronoun, here: SentenceSpan, eligible: Sequence[Phrase]
) -> Phrase | None:
    """Return the last pronoun of the same kind in the sentence: the two are mostly one."""
    for phrase in reversed(eligible):
        same = phrase.fits | phrase.rivals == pronoun.fits
        if phrase.pronoun and phrase.sentence == here and same:
            return phrase
    return None


def _able(pronoun: Pronoun, found: list[Antecedent]) -> list[Antecedent]:
    """Keep those who can buy or hire, where the pronoun is the subject of such a verb."""
    if not pronoun.subject or pronoun.token.head.lemma_ not in AGENTIVE:
        return found
    able = [
        c
        for c in found
        if c.phrase.rivals
        or c.phrase.fits & Fits.PERSON
        or (c.phrase.name is not None and c.phrase.name.label in _AGENTS)
    ]
    return able or found


def choose(
    pronoun: Pronoun, here: SentenceSpan, found: Sequence[Antecedent]
) -> tuple[Phrase, float] | None:
    """Return the antecedent with how sure it is, or None when no candidate stands out.

    A phrase that is no name must be the only candidate since it was mentioned.
    """
    if not found or found[0].score < _LEAST:
        return None
    best = found[0]
    rest = found[1].score if len(found) > 1 else 0.0
    since = [c for c in found[1:] if c.latest >= best.latest]
    person = bool(pronoun.fits & Fits.PERSON)
    named = best.phrase.name is not None
    if (
        not best.phrase.fits & pronoun.fits
        or best.score < (_MARGIN if named else _UNNAMED_MARGIN) * rest
        or len(since) >= (_CROWD if named else 1)
        or not (person or _continues(pronoun, here, best))
    ):
        return None
    return best.phrase, round(min(_SUREST, best.score / (best.score + rest)), 2)


def _continues(pronoun: Pronoun, here: SentenceSpan, best: Antecedent) -> bool:
    """True when a thing or group is referred to as things are.

    Within a sentence it is the subject. From one sentence to the next a subject continues the
    subject before it, or a name that lately was one.
    """
    back = here.number - best.latest
    if back == 0:
        return best.phrase.subject
    opening = pronoun.possessive and pronoun.token.i - here.first <= _OPENING
    return (
        back == 1
        and best.subject
        and (pronoun.subject or opening)
        and best.phrase.sentence.paragraph == here.paragraph
    )
