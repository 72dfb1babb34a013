"""Make queries in which one word is swapped for another that the document does not have.

The words to swap in come from the other queries, so that each is one that people do ask for. A
verb is swapped for one that WordNet does not put near any word of the document.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.language.parser import parse
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag_bench.case import Case

KINDS: Final = ("name", "number", "verb")
_LIGHT: Final = frozenset("be have do make take get give use may can include show".split())
_NUMBER: Final = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True, slots=True)
class Swapped:
    """A case whose query has one word that was swapped."""

    case: Case
    kind: str
    was: str
    now: str
    query: str


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    lemma: str
    tag: str
    start: int


def swapped_cases(cases: Sequence[Case], count: int, *, seed: int) -> list[Swapped]:
    """Return that many swapped queries, kinds in turn, or as many as there can be."""
    queries = list(dict.fromkeys(case.query for case in cases))
    words = {query: _words(doc) for query, doc in zip(queries, parse(queries), strict=True)}
    pools = {
        kind: sorted(
            {(w.text, w.lemma, w.tag) for some in words.values() for w in some if _is(w, kind)}
        )
        for kind in ("name", "verb")
    }
    drawn = random.Random(seed)
    order = drawn.sample(list(cases), len(cases))
    found: list[Swapped] = []
    taken: set[str] = set()
    while len(found) < count:
        kind, before = KINDS[len(found) % len(KINDS)], len(found)
        for wanted in (kind, *(k for k in KINDS if k != kind)):
            made = next(
                (
                    one
                    for case in order
                    if case.case_id not in taken
                    and (one := _swap(case, wanted, words[case.query], pools, drawn)) is not None
                ),
                None,
            )
            if made is not None:
                found.append(made)
                taken.add(made.case.case_id)
                break
        if len(found) == before:
            break
    return found


def _swap(
    case: Case,
    kind: str,
    words: Sequence[_Word],
    pools: dict[str, list[tuple[str, str, str]]],
    drawn: random.Random,
) -> Swapped | None:
    own = [w for w in words if _is(w, kind) and case.query.count(w.text) == 1]
    if not own:
        return None
    word = drawn.choice(own)
    document = _document_words(case)
    if kind == "number":
        now = _NUMBER.sub(lambda match: _other_number(match.group(), drawn), word.text)
        if now == word.text or now.casefold() in document:
            return None
    else:
        asked = {w.lemma for w in words}
        fits = [
            text
            for text, lemma, tag in pools[kind]
            if tag == word.tag
            and lemma not in asked
            and lemma not in document
            and text.casefold() not in document
            and (kind == "name" or not _near(lemma, word.lemma, document))
        ]
        if not fits:
            return None
        now = drawn.choice(fits)
    end = word.start + len(word.text)
    query = case.query[: word.start] + now + case.query[end:]
    return Swapped(case, kind, word.text, now, query)


def _words(doc: object) -> list[_Word]:
    return [
        _Word(t.text, t.lemma_.casefold(), t.tag_, t.idx)
        for t in doc  # type: ignore[attr-defined]
        if not t.is_punct and not t.is_space
    ]


def _is(word: _Word, kind: str) -> bool:
    if kind == "number":
        return word.tag == "CD" and any(c.isdigit() for c in word.text)
    if kind == "name":
        return word.tag.startswith("NNP") and word.text.isalpha() and len(word.text) > 2
    return word.tag.startswith("VB") and word.lemma not in _LIGHT and word.text.isalpha()


def _other_number(text: str, drawn: random.Random) -> str:
    """Return a number of the same shape with another last digit but one, or last."""
    places = [i for i, c in enumerate(text) if c.isdigit()]
    at = places[-2] if len(places) > 1 else places[-1]
    other = drawn.choice([d for d in "123456789" if d != text[at]])
    return text[:at] + other + text[at + 1 :]


def _document_words(case: Case) -> frozenset[str]:
    """Return the words of a document, and the base forms they may have."""
    net = wordnet()
    text = " ".join((case.document.title, *(e.full_text for e in case.document.elements)))
    section = " ".join(name for e in case.document.elements for name in e.section)
    said = set(re.findall(r"\d[\d,.]*\d|\w+", f"{text} {section}".casefold()))
    bases = {base for word in said for pos in Pos for base in net.base_forms(word, pos)}
    return frozenset(said | bases)


def _near(verb: str, was: str, document: frozenset[str]) -> bool:
    """Tell whether WordNet puts a verb near the one it replaces or near a word of the document."""
    net = wordnet()
    senses = set(net.synsets(verb, Pos.VERB))
    around = senses | {up for s in senses for up in (*net.hypernyms(s), *net.hyponyms(s))}
    names = {name.casefold() for s in around for name in net.lemmas(s)}
    names |= {lemma.casefold() for lemma, _ in net.derived(verb, Pos.VERB)}
    return was in names or bool(names & document)
