"""The terms an operator collects, those of nouns and noun phrases, and the senses of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from abstrag.config import DELTA_ABS_BASELINE, DELTA_ABS_ONE_WAY, MIN_ANCESTOR_DEPTH, OMEGA
from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.language.parser import parse
from abstrag.language.quantities import find_quantities
from abstrag.language.words import phrase_key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import sense_uses, wordnet
from abstrag.model.term import (
    Edge,
    Family,
    Licence,
    LicenceKind,
    Mention,
    Quantity,
    Relation,
    Term,
    TermKind,
)

_CONCEPT: Final = f"{TermKind.CONCEPT.value}:"
_MOST_SPACES: Final = 2  # WordNet has hardly any longer phrases, and looking them up takes time
_SWAY: Final = 2  # how many times its own weight a sense can have where the document speaks for it
_CLEAR: Final = 0.5  # a sense less sure than that says nothing about what the word is a kind of
_LEAST_DEPTH: Final[Mapping[Pos, int]] = {Pos.NOUN: MIN_ANCESTOR_DEPTH, Pos.VERB: 2}


class TermCollector:
    """Collects terms with their surfaces, mentions and edges; what comes out is sorted.

    Several edges for one step may come in; the first one of each licence is kept, and BuildMap
    decides between licences.
    """

    def __init__(self) -> None:
        self._terms: dict[str, tuple[TermKind, str, Quantity | None]] = {}
        self._surfaces: dict[str, set[str]] = {}
        self._mentions: dict[Mention, None] = {}
        self._edges: dict[tuple[str, str, str, str], Edge] = {}

    def __contains__(self, term: str) -> bool:
        return term in self._terms

    def term(self, term: str, kind: TermKind, label: str, quantity: Quantity | None = None) -> None:
        """Make sure a term exists; the first label stands."""
        if term not in self._terms:
            self._terms[term] = (kind, label, quantity)
            self._surfaces[term] = set()

    def mention(self, mention: Mention, surface: str) -> None:
        """Note where a term that exists is mentioned."""
        self._mentions[mention] = None
        self._surfaces[mention.term].add(surface)

    def edge(self, edge: Edge) -> None:
        """Note an edge between terms that exist here or in an earlier layer."""
        step = (edge.source, edge.target, edge.licence.kind, edge.licence.reference)
        if edge.source != edge.target:
            self._edges.setdefault(step, edge)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Every term, by id."""
        return tuple(
            Term(term, kind, label, tuple(sorted(self._surfaces[term])), quantity=quantity)
            for term, (kind, label, quantity) in sorted(self._terms.items())
        )

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Every mention, in reading order."""
        return tuple(sorted(self._mentions, key=_place))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge, by source and target."""
        return tuple(edge for _, edge in sorted(self._edges.items(), key=lambda item: item[0]))


def _place(mention: Mention) -> tuple[int, int, int, int, str]:
    header = -1 if mention.header is None else mention.header
    return mention.segment, header, mention.start, mention.end, mention.term


@dataclass(frozen=True, slots=True)
class NounKeys:
    """The keys a document uses as common nouns and as adjectives, in the order of the text."""

    nouns: dict[str, None] = field(default_factory=dict)
    adjectives: dict[str, None] = field(default_factory=dict)


def read_nominals(passage: ParsedPassage, ledger: TermCollector, vocabulary: NounKeys) -> None:
    """Note every content noun and adjective, and every noun phrase down to its head.

    A proper noun inside an entity mention is the entity's business, and a time is NormTime's.
    """
    words = passage.words
    for token in range(passage.first, passage.last):
        pos = words.pos[token]
        if token in passage.times:
            continue
        if pos == "ADJ":
            if _counts(passage, token) and not words.glued(token + 2):  # no "fine" in "fine-tuned"
                vocabulary.adjectives[words.key[token]] = None
                _note(passage, ledger, token, token)
        elif pos == "NOUN" or (pos == "PROPN" and token not in passage.names):
            for first in words.phrase(token):
                if first < token or _counts(passage, token):
                    _note(passage, ledger, first, token)
                    if pos == "NOUN":
                        vocabulary.nouns[words.phrase_key(first, token)] = None


def _counts(passage: ParsedPassage, token: int) -> bool:
    """True for a word that says something by itself."""
    words = passage.words
    return not words.stop[token] and len(words.key[token]) > 1 and _has_letters(words.key[token])


@lru_cache(maxsize=1 << 16)
def _has_letters(text: str) -> bool:
    """Tell words from numbers and marks; a letter before digits is a name: p53, B12."""
    if text[:1].isalpha() and text[1:].isdigit() and len(text) > 2:
        return True
    return sum(c.isalpha() for c in text) > 1 and "://" not in text


def _note(passage: ParsedPassage, ledger: TermCollector, first: int, head: int) -> None:
    words = passage.words
    term = _CONCEPT + words.phrase_key(first, head)
    if term not in ledger:
        ledger.term(term, TermKind.CONCEPT, words.label(first, head))
    start, end = passage.offsets(first, head + 1)
    mention = Mention(term, passage.segment, start, end, passage.header)
    ledger.mention(mention, passage.source.text[start:end])


def read_quantities(passage: ParsedPassage, ledger: TermCollector) -> None:
    """Note every number with its unit that is no part of a time."""
    text = passage.source.text
    exclude = sorted({(t.start, t.end) for t in passage.times.values()})
    for found in find_quantities(text, exclude=exclude):
        value, unit = found.quantity.value, found.quantity.unit
        key = f"{value:g} {unit}".strip()  # as the query side writes it
        term = term_id(TermKind.QUANTITY, key)
        ledger.term(term, TermKind.QUANTITY, key, found.quantity)
        mention = Mention(term, passage.segment, found.start, found.end, passage.header)
        ledger.mention(mention, text[found.start : found.end])


@lru_cache(maxsize=4096)
def class_key(name: str) -> str:
    """Return the key that a class named outside the text has in it: "Chip Suppliers" too."""
    lower = " ".join(w if w.isupper() else w.lower() for w in name.split())
    return phrase_key(parse([lower])[0][:])


@dataclass(frozen=True, slots=True)
class _SynsetTerm:
    """A WordNet synset as a term: its name, its first word, how far it is from the sense."""

    name: str
    label: str
    distance: float


Chosen = tuple[int, float]  # a synset and how sure it is


@dataclass(frozen=True, slots=True)
class _Choice:
    """The senses a document can speak for, how often each is used, and how often all others."""

    synsets: tuple[int, ...]
    uses: tuple[int, ...]
    others: int


@lru_cache(maxsize=1 << 15)
def _choice(lemma: str, pos: Pos) -> _Choice | None:
    net = wordnet()
    if lemma.count(" ") > _MOST_SPACES:
        return None
    # Most frequent first; what a common noun means is a class, never the poet of that name.
    synsets = tuple(s for s in net.synsets(lemma, pos) if not net.is_instance(s))
    if not synsets:
        return None
    uses = sense_uses(lemma, synsets)
    kept = sum(_SWAY * n > uses[0] for n in uses)
    return _Choice(synsets[:kept], tuple(uses[:kept]), sum(uses[kept:]))


@lru_cache(maxsize=1 << 15)
def _broader(synset: int, least: int) -> tuple[int, ...]:
    """Return what is broader and still says something."""
    taxonomy = wordnet().taxonomy
    return tuple(s for s in taxonomy.up[synset] if s != synset and taxonomy.min_depth[s] >= least)


@lru_cache(maxsize=1 << 15)
def nodes(synset: int, pos: Pos) -> tuple[_SynsetTerm, ...]:
    """Return every synset that a sense leads to: itself, what is broader, what a verb entails."""
    net = wordnet()
    found = [_node(synset, 0.0)]
    if pos in _LEAST_DEPTH:
        for above in _broader(synset, _LEAST_DEPTH[pos]):
            distance = 1 - net.wup(synset, above) + DELTA_ABS_ONE_WAY
            found.append(_node(above, round(distance, 4)))
    if pos is Pos.VERB:
        found += [_node(entailed, DELTA_ABS_BASELINE) for entailed in net.entailments(synset)]
    return tuple(found)


def _node(synset: int, distance: float) -> _SynsetTerm:
    name = _name(synset)
    return _SynsetTerm(name, name.rsplit(".", 2)[0].replace("_", " "), distance)


@lru_cache(maxsize=1 << 15)
def _name(synset: int) -> str:
    return wordnet().name(synset)


def choose_senses(lemmas: Iterable[str], pos: Pos) -> dict[str, Chosen]:
    """Choose a sense for each word of a document that WordNet knows, with a confidence."""
    known = {lemma: found for lemma in lemmas if (found := _choice(lemma, pos))}
    votes: Counter[int] = Counter()
    for found in known.values():
        votes.update({s for synset in found.synsets for s in _kin(synset, pos)})
    return {lemma: _choose(found, pos, votes) for lemma, found in known.items()}


def _kin(synset: int, pos: Pos) -> tuple[int, ...]:
    return (synset, *(_broader(synset, _LEAST_DEPTH[pos]) if pos in _LEAST_DEPTH else ()))


def _choose(found: _Choice, pos: Pos, votes: Mapping[int, int]) -> Chosen:
    shared = [sum(votes[s] - 1 for s in _kin(synset, pos)) for synset in found.synsets]
    most = max(shared) or 1
    weights = [
        uses * (1 + (_SWAY - 1) * n / most) for uses, n in zip(found.uses, shared, strict=True)
    ]
    best = max(range(len(weights)), key=lambda i: (weights[i], -i))
    return found.synsets[best], round(weights[best] / (sum(weights) + found.others), 2)


@lru_cache(maxsize=1 << 15)
def sense_edges(
    term: str, kind: TermKind, pos: Pos, chosen: Chosen, operator: str
) -> tuple[Edge, ...]:
    """Make the edges from a term to its sense and, where that is clear, to everything broader."""
    synset, confidence = chosen
    found = nodes(synset, pos) if confidence >= _CLEAR else nodes(synset, pos)[:1]
    own, prefix = found[0].name, kind.value
    return tuple(
        Edge(
            source=term,
            target=f"{prefix}:{node.name}",
            relation=Relation.IMPLIES,
            family=Family.CONCEPT,
            operator=operator,
            weight=OMEGA[Family.CONCEPT],
            distance=node.distance,
            truth_preserving=False,
            confidence=confidence,
            licence=Licence(LicenceKind.LEXICON, _reference(own, node.name)),
        )
        for node in found
    )


def _reference(own: str, reached: str) -> str:
    return f"WordNet {own}" if own == reached else f"WordNet {own} -> {reached}"
