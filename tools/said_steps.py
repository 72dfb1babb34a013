"""What readings say, drawn to be judged: the steps of a hit, and "nothing meets this condition"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from abstrag.language.words import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Hit
from abstrag.model.record import record
from abstrag.model.term import Family, Relation
from abstrag.neural.vectors import has_content
from abstrag.search.trace import ALIGN_WORDS

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*(?![^\W\d_])|\w+")
_NEAREST: Final = re.compile(r" \(nearest(?: to “[^”]*”)?: “[^”]*”\)")
_UNMET: Final = re.compile(r"[nN]othing(?: in it)? meets ((?:“[^”]*”(?:, | or )?)+)")
_QUOTED: Final = re.compile(r"“([^”]*)”")
_ENDINGS: Final = ("", "s", "es", "d", "ed", "ing", "'s", "ly")


@record
class SampledStep:
    """One step of an explanation that is not the very word: what is asked, and what is said."""

    asked: str
    said: str
    family: str
    price: float
    operator: str


def steps_of(hit: Hit) -> list[SampledStep]:
    """Return the steps by which a hit meets words and conditions, but for the very words.

    A step that is taken as a word and as an event is one step.
    """
    found = [
        SampledStep(word.asked, word.said, word.family.value, round(word.price, 2), ALIGN_WORDS)
        for word in hit.words
        if word.met and word.family is not None
    ]
    words = {(word.literal, word.said) for word in hit.words if word.met and word.family}
    for number, literal in enumerate(hit.trace.literals):
        paid = [b for b in literal.bridges if b.operator != ALIGN_WORDS]
        if literal.met and paid and literal.distance is not None:
            said, mention = literal.via or "", literal.mention
            place = mention if mention is not None and mention.header is None else None
            if (told := literal.frame or place) is not None:
                said = hit.text[told.start : told.end]
            last, label = paid[-1], literal.literal.label
            if last.family is not Family.CONTEXT and _stands(label, _words(said)):
                continue  # the very word, told with a party left open or known by other names too
            if (number, said) in words:
                continue
            found.append(
                SampledStep(label, said, last.family.value, literal.distance, last.operator)
            )
    return found


def said_unmet(reading: str) -> list[str]:
    """Return what a reading says is not met."""
    listed = _UNMET.findall(_NEAREST.sub("", reading))
    return [name for one in listed for name in _QUOTED.findall(one)]


def false_unmet(hit: Hit, index: DocumentIndex) -> list[str]:
    """Return what a hit's reading says is not met although it stands there, or a name of it does.

    It stands there when all its content words do, or inflections of them, in the quote, its
    headers or the names of its sections; another name of it when its words do in a row.
    """
    text = " ".join((hit.text, *hit.headers, *hit.section))
    said, row = _words(text), [word.casefold() for word in _WORD.findall(text)]
    names = _Names(index)
    return [
        label
        for label in said_unmet(hit.reading)
        if _stands(label, said) or any(_in_a_row(name, row) for name in names.of(label))
    ]


class _Names:
    """The other names a document states for something."""

    def __init__(self, index: DocumentIndex) -> None:
        self._labels = {term.id: term.label for term in index.map.terms}
        self._same: dict[str, set[str]] = {}
        for edge in index.map.edges:
            if edge.relation is Relation.EQUIVALENT and edge.truth_preserving:
                for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                    label = self._labels.get(one, "")
                    self._same.setdefault(key(label), set()).add(self._labels.get(other, ""))

    def of(self, label: str) -> Iterator[str]:
        yield from sorted(self._same.get(key(label), set()) - {""})


def _stands(label: str, said: Sequence[str]) -> bool:
    wanted = [word for word in _words(label) if has_content(word)]
    return bool(wanted) and all(any(_inflected(word, one) for one in said) for word in wanted)


def _in_a_row(name: str, row: Sequence[str]) -> bool:
    words = [word.casefold() for word in _WORD.findall(name)]
    return bool(words) and any(
        all(map(_inflected, words, row[at : at + len(words)]))
        for at in range(len(row) - len(words) + 1)
    )


def _inflected(one: str, other: str) -> bool:
    """Tell whether two words are forms of one word."""
    if one == other:
        return True
    if one[0] != other[0] or any(c.isdigit() for c in one + other):
        return False
    short, long = sorted((one, other), key=len)
    net = wordnet()
    own = bool(net.synsets(long, Pos.ADJECTIVE))  # "talented" is no form of "talent"
    if not own and long.startswith(short) and long[len(short) :] in _ENDINGS:
        return True
    return any(
        set(net.base_forms(one, pos)) & set(net.base_forms(other, pos))
        for pos in (Pos.NOUN, Pos.VERB)
    )


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.casefold() for word in _WORD.findall(text)))
