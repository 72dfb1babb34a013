"""Which pronouns refer back, and to what: the prominent antecedent, if one is prominent enough.

Prominence adds up over the mentions of a thing: more for a subject, less with every sentence in
between (after Lappin and Leass, An algorithm for pronominal anaphora resolution, 1994). The
numbers are ours, set by reading links in encyclopedia articles, papers and filings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from abstrag.indexing.reference.phrases import Fits, Phrase, SentenceSpan
from abstrag.lexicon.inventory import listed_words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_FITS: Final = MappingProxyType(
    {
        **dict.fromkeys(("he", "him", "his"), Fits.HE),
        **dict.fromkeys(("she", "her", "hers"), Fits.SHE),
        **dict.fromkeys(("it", "its"), Fits.IT),
        **dict.fromkeys(("they", "them", "their", "theirs"), Fits.THEY),
    }
)
_WORDS = re.compile(  # no IGNORECASE: "IT" is a trade
    r"\b(?:[Hh](?:e|im|is|ers?)|[Ss]he|[Ii]ts?|[Tt](?:he(?:y|m|irs?)|his|hat|hese|hose))\b"
)
_BARE: Final = frozenset({"this", "that", "these", "those"})
_AGENTIVE: Final = listed_words("agentive")
_OPENERS: Final = frozenset({"and", "but", "or"})
_VERBS: Final = frozenset({"VERB", "AUX"})
WITH: Final = frozenset({"including", "with", "without"})  # "a paper, including its title"
_SUBJECT_ROLES: Final = frozenset({"nsubj", "nsubjpass"})
_SHARED: Final = frozenset({"conj", "xcomp", "pcomp", "advcl", "prep"})
_STEPS: Final = 4  # from a verb to the one it shares its subject with
# "It" that refers to nothing: "it is clear that", "it took hours to", "it was in May that", "it
# rains", "it turns out that".
_EMPTY_VERBS: Final = listed_words("empty_verbs")
_FINDING: Final = listed_words("finding_verbs")
_OF_CLAUSES: Final = listed_words("of_clauses")
_WEATHER: Final = frozenset({"rain", "snow", "hail", "thunder", "drizzle"})
_CLAUSES: Final = frozenset({"ccomp", "csubj", "csubjpass", "xcomp", "advcl", "acl", "relcl"})
_COMPLEMENTIZERS: Final = frozenset("that whether if to how why for when because what".split())
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
class Pronoun:
    """An anaphor to resolve."""

    token: Token
    fits: Fits
    possessive: bool  # it determines a noun

    @property
    def owns(self) -> bool:
        """True when it reads as a possessive: "her book", "a book of hers"."""
        return self.possessive or self.token.lower_ in ("hers", "theirs")

    @property
    def subject(self) -> bool:
        """True when it is the subject of its clause."""
        return self.token.dep_ in _SUBJECT_ROLES


def pronouns(doc: Doc, sentence: SentenceSpan) -> Iterator[Pronoun | Token]:
    """Go through a sentence's pronouns; a bare demonstrative subject comes as its token."""
    for found in _WORDS.finditer(sentence.text):
        offset = sentence.start + found.start()
        token = _token_at(doc, sentence, offset)
        if token is None or token.idx != offset:
            continue
        if token.lower_ in _BARE:
            if token.dep_ in _SUBJECT_ROLES and token.tag_ == "DT":
                yield token
        elif (
            token.lower_ in _FITS
            and token.pos_ == "PRON"
            and not (_in_title(token, sentence) or _empty(token) or _generic(token))
        ):
            yield Pronoun(token, _FITS[token.lower_], token.tag_ == "PRP$")


def _in_title(token: Token, sentence: SentenceSpan) -> bool:
    """True for a capital in mid-sentence: "On Confession, and the Power to Require It"."""
    return (
        token.is_title
        and token.i > sentence.first
        and token.nbor(-1).lower_ not in _OPENERS
        and not token.nbor(-1).is_punct
    )


def _generic(token: Token) -> bool:
    """True for one of "he or she", and for the last word of "each of its"."""
    if token.i > 1 and token.nbor(-1).lower_ == "of" and token.nbor(-2).lower_ == "each":
        return True
    around = token.doc[max(0, token.i - 2) : token.i + 3]
    return sum(t.lower_ in _FITS for t in around) > 1 and any(
        t.lower_ in ("or", "/") for t in around
    )


def _token_at(doc: Doc, sentence: SentenceSpan, offset: int) -> Token | None:
    low, high = sentence.first, sentence.last
    while low < high:
        middle = (low + high) // 2
        if doc[middle].idx < offset:
            low = middle + 1
        else:
            high = middle
    return doc[low] if low < sentence.last else None


def _empty(token: Token) -> bool:
    """True for an "it" that stands for nothing, or only for a clause that follows."""
    if token.lower_ != "it":
        return False
    verb = token.head
    after = token.nbor(1) if token.i + 1 < len(token.doc) else token
    before = token.nbor(-1) if token.i else token
    idle = verb.lemma_ in _WEATHER or (verb.lemma_, before.lower_) == ("come", "when")
    if idle or token.dep_ == "expl" or after.tag_ == "POS":
        return True
    if any(c.lower_ in _OF_CLAUSES for c in verb.rights):
        return True
    if before.lemma_ == "make" and after.lower_ in ("to", "into", "through", "."):
        return True  # "makes it to the final"
    if before.lemma_ in _FINDING and after.pos_ in ("ADJ", "ADV"):
        return True  # "makes it possible to"
    if token.dep_ not in _SUBJECT_ROLES:
        return False
    carriers = [verb, *(c for c in verb.rights if c.dep_ in ("acomp", "attr", "oprd", "prep"))]
    light = verb.lemma_ in _EMPTY_VERBS or token.dep_ == "nsubjpass"
    return light and any(_clause(c, verb) for carrier in carriers for c in carrier.rights)


def _clause(child: Token, verb: Token) -> bool:
    if child.dep_ not in _CLAUSES or child.i < verb.i:
        return False
    words = {t.lower_ for t in child.lefts if t.dep_ in ("mark", "aux", "advmod")}
    return bool(words & _COMPLEMENTIZERS) or child.dep_ == "csubj"


def governor(token: Token) -> Token | None:
    """Return the verb a token is an argument of, through a preposition too."""
    head = token.head
    while token.dep_ == "conj":
        if head.i == token.i:
            return None
        token, head = head, head.head
    if token.dep_ == "pobj" and head.pos_ == "ADP":
        head = head.head
    return head if head.pos_ in _VERBS else None


def subject_of(verb: Token) -> Token | None:
    """Return a verb's subject, its own or the one it shares with the verb above."""
    for _ in range(_STEPS):
        own = next((c for c in verb.lefts if c.dep_ in _SUBJECT_ROLES), None)
        if own is not None or verb.dep_ not in _SHARED:
            return own
        verb = verb.head
    return None


class Above(NamedTuple):
    """What stands above a pronoun in its sentence, as token numbers.

    A pronoun does not refer to what contains it ("the owner of its house"), nor to what a clause
    it stands in is said to be ("the drawback is that it needs labels").
    """

    containing: frozenset[int]
    predicating: frozenset[int]


def above(pronoun: Pronoun) -> Above:
    """Go up from a pronoun once; every phrase is then compared with what was found."""
    ancestors = list(pronoun.token.ancestors)
    containing: set[int] = set()
    below = pronoun.token
    for ancestor in ancestors:
        if below.dep_ == "conj" or below.pos_ in _VERBS or below.lower_ in WITH:
            break
        containing.add(ancestor.i)
        below = ancestor
    predicating = (a.head.i for a in ancestors if a.dep_ == "ccomp")
    return Above(frozenset(containing), frozenset(predicating))


def barred(pronoun: Pronoun, phrase: Phrase, up: Above) -> bool:
    """True when grammar keeps a phrase of the same sentence from being the antecedent."""
    token = pronoun.token
    if phrase.first <= token.i < phrase.last:
        return True
    head = token.doc[phrase.head]
    if head.i in up.containing or _predicated(head, up):
        return True
    if pronoun.possessive:  # "Caspases are their pathway"
        return token.head.dep_ == "attr" and governor(head) == governor(token.head) is not None
    verb = governor(token)
    if verb is not None and verb.dep_ == "relcl" and verb.head.i == head.i:
        return True  # "the vacuole it was contained in"
    if pronoun.subject and verb is not None and any(c.tag_ == "TO" for c in verb.lefts):
        return subject_of(verb.head) == head  # "which allowed it to live": it is what is allowed
    return coarguments(token, head)


def _predicated(head: Token, up: Above) -> bool:
    """True for the drawback in "the drawback is that it needs labels"."""
    return (
        head.dep_ in _SUBJECT_ROLES and head.head.lemma_ == "be" and head.head.i in up.predicating
    )


def coarguments(token: Token, head: Token) -> bool:
    """True when two nouns depend on one verb: in "Smith saw him" there are two people."""
    verb = governor(token)
    if verb is None:
        return False
    shared = token.dep_ not in _SUBJECT_ROLES and subject_of(verb) == head
    return shared or governor(head) == verb


def binders(pronoun: Pronoun) -> list[int]:
    """Return the subjects above a pronoun, from its own clause outward, as token numbers."""
    token, found = pronoun.token, []
    verb = next((a for a in token.ancestors if a.pos_ in _VERBS), None)
    own = not pronoun.possessive and governor(token) == verb
    while verb is not None:
        subject = next((c for c in verb.lefts if c.dep_ in _SUBJECT_ROLES), None)
        apart = subject is not None and not subject.left_edge.i <= token.i <= subject.right_edge.i
        if subject is not None and apart and not own:
            found.append(subject.i)
        own = own and subject is None  # a verb without subject shares the one above it
        verb = next((a for a in verb.ancestors if a.pos_ in _VERBS), None)
    return found


def looks_ahead(pronoun: Pronoun) -> bool:
    """True when the antecedent may follow: "In its report, Acme said ..."."""
    token = pronoun.token
    subjects = (
        child
        for ancestor in token.ancestors
        if ancestor.pos_ in _VERBS
        for child in ancestor.children
        if child.dep_ in _SUBJECT_ROLES
    )
    return any(s.left_edge.i > token.i and s.pos_ in ("PROPN", "NOUN") for s in subjects)


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
    if not pronoun.subject or pronoun.token.head.lemma_ not in _AGENTIVE:
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
