"""A claim or a sentence of evidence, read so that two of them can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from abstrag.files import read_data_file
from abstrag.language.quantities import QuantityExpression, find_quantities
from abstrag.language.times import TimeExpression, find_times
from abstrag.language.words import Words
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.answer import DifferenceKind

if TYPE_CHECKING:
    from spacy.tokens import Doc


@dataclass(frozen=True, slots=True)
class ContradictionWords:
    """Negations, directions on scales, and parties that stand opposite each other."""

    negations: frozenset[str]  # words that deny what they belong to
    denying: frozenset[str]  # verbs and adjectives that deny what depends on them
    reservations: frozenset[str]  # words after which a negation does not hold as it stands
    directions: Mapping[str, tuple[tuple[str, int], ...]]  # word → its scales, +1 up or −1 down
    counterparts: Mapping[str, frozenset[str]]  # party → those opposite it


@cache
def vocabulary() -> ContradictionWords:
    """Read the words that ship with the package."""
    data = read_data_file("abstrag.answers.contradictions", "words.toml")
    directions: dict[str, list[tuple[str, int]]] = {}
    for name, scale in data["scales"].items():
        for side, sign in (("up", 1), ("down", -1)):
            for word in scale[side].split():
                directions.setdefault(word, []).append((name, sign))
    opposite: dict[str, set[str]] = {}
    for pair in data["parties"]["opposite"]:
        for one in pair:
            opposite.setdefault(one, set()).update(other for other in pair if other != one)
    words = data["negation"]
    return ContradictionWords(
        negations=frozenset(words["words"].split()),
        denying=frozenset(words["denying"].split()),
        reservations=frozenset(words["reservations"].split()),
        directions={word: tuple(scales) for word, scales in directions.items()},
        counterparts={name: frozenset(others) for name, others in opposite.items()},
    )


_CONTENT: Final = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
_POS: Final = {"NOUN": Pos.NOUN, "VERB": Pos.VERB, "ADJ": Pos.ADJECTIVE}
_SUFFIXES: Final = frozenset(
    " e s es d ed ing ion ions ation ations ment ments al ally ly ive or er ors ers ity able y ies "
    "ied ic ance ence ant ent ure ures ies ication ition".split(" ")
)
# "300,000 steps (3.5 days)" has two figures, and no step of the number 3.5
_IN_BRACKETS: Final = re.compile(r"(?<=\w{3}s )\((?=\d)")
COMPARED: Final = re.compile(
    r"\b(?:compared (?:to|with)|in comparison (?:to|with)|relative to|versus|vs\.?|up from|"
    r"down from|as against|over the (?:prior|previous|same))",
    re.I,
)
_SHORTEST_STEM: Final = 4
PERIODS: Final = tuple("second minute hour day week month quarter year decade century".split())
_SENSES: Final = 3  # of a word, the usual ones first, that may have a synonym
_LONGEST: Final = 90  # characters of a stretch that is shown


@dataclass(frozen=True, slots=True)
class FoundDifference:
    """A difference between a claim and one sentence: the words on both sides.

    It is certain when the two statements cannot both be true, and do not merely differ.
    """

    kind: DifferenceKind
    claim: str
    evidence: str
    certain: bool


class ComparedSentence:
    """One sentence with its words, figures and times."""

    def __init__(self, doc: Doc) -> None:
        self.text: str = doc.text
        self.words = Words(doc)

    @cached_property
    def times(self) -> tuple[TimeExpression, ...]:
        """The times it names."""
        return find_times(self.text)

    @cached_property
    def quantities(self) -> tuple[QuantityExpression, ...]:
        """The quantities it states that are no times."""
        text = _IN_BRACKETS.sub(",", self.text)
        return find_quantities(text, exclude=[(one.start, one.end) for one in self.times])

    @cached_property
    def content(self) -> tuple[int, ...]:
        """The tokens that say what it is about: no figures, no times, no negations."""
        words = self.words
        taken = [(one.start, one.end) for one in self.times]
        taken += [(one.start, one.end) for one in self.quantities]
        skipped = vocabulary().negations | vocabulary().directions.keys()
        return tuple(
            i
            for i in range(words.size)
            if words.pos[i] in _CONTENT
            and not words.stop[i]
            and words.key[i] not in skipped
            and words.lower[i] not in skipped
            and not any(start <= words.start[i] < end for start, end in taken)
            and not (words.key[i] in PERIODS and words.lower[i - 1] in ("a", "an"))  # a figure too
        )

    @cached_property
    def keys(self) -> frozenset[tuple[str, str]]:
        """The content words with their parts of speech."""
        return frozenset((self.words.key[i], self.words.pos[i]) for i in self.content)

    def has(self, key: str, pos: str) -> bool:
        """True when a content word of it is this word, a form or a synonym of it."""
        return any(alike(key, pos, *own) for own in self.keys)

    @cached_property
    def compared_from(self) -> int:
        """Where it goes over to what it compares with: "compared to $3 billion in fiscal 2021"."""
        found = COMPARED.search(self.text)
        return found.start() if found else len(self.text)

    def token_at(self, start: int, end: int) -> int:
        """Return the token of a stretch on which the others of it depend."""
        words = self.words
        inside = [i for i in range(words.size) if start <= words.start[i] < end] or [0]
        return next((i for i in inside if words.head[i] not in inside), inside[-1])

    def shown(self, tokens: Iterable[int]) -> str:
        """Return the text from the first to the last of some tokens, cut where it is long."""
        some = list(tokens)
        text = self.text[self.words.start[min(some)] : self.words.end[max(some)]]
        text = " ".join(text.split())
        if len(text) <= _LONGEST:
            return text
        first, last = text[: _LONGEST // 2].rsplit(" ", 1)[0], text[-_LONGEST // 2 :]
        return f"{first} … {last.split(' ', 1)[-1]}"


def of_doc(doc: Doc) -> Iterator[ComparedSentence]:
    """Go through the sentences of a parsed text."""
    for sentence in doc.sents:
        if sentence.text.strip():
            yield ComparedSentence(sentence.as_doc())


def coverage(
    claim: ComparedSentence, evidence: ComparedSentence, without: Sequence[int] = ()
) -> float:
    """Return the share of the claim's content words that the evidence has."""
    words = claim.words
    asked = [i for i in claim.content if i not in without]
    if not asked:
        return 0.0
    met = sum(evidence.has(words.key[i], words.pos[i]) for i in asked)
    return met / len(asked)


def about_the_same(
    claim: ComparedSentence, sentences: Sequence[ComparedSentence], floor: float
) -> list[tuple[float, ComparedSentence]]:
    """Return the sentences with at least so much of the claim, the most first, and how much."""
    ranked = sorted(((coverage(claim, one), one) for one in sentences), key=lambda one: -one[0])
    return [(shared, one) for shared, one in ranked if shared >= floor]


@lru_cache(maxsize=1 << 16)
def alike(a: str, a_pos: str, b: str, b_pos: str) -> bool:
    """True when two keys are one word, forms of one stem, or synonyms."""
    if a == b or same_stem(a, b):
        return True
    if a_pos != b_pos or a_pos not in _POS:
        return False
    pos, net = _POS[a_pos], wordnet()
    senses = net.synsets(a, pos)[:_SENSES]
    return bool(set(senses) & set(net.synsets(b, pos)[:_SENSES]))


def same_stem(a: str, b: str) -> bool:
    """True when two keys differ in an ending only: "terminate", "termination"."""
    common = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        common += 1
    return common >= _SHORTEST_STEM and a[common:] in _SUFFIXES and b[common:] in _SUFFIXES
