"""Which sense a word has in a document, and the edges to that sense and what is broader.

A word goes to its most frequent sense unless the document speaks for another one: a sense gains
weight, at most doubled, by how many other words of the document share its ancestors. How much of
the weight the chosen sense has is the confidence of its edges; a word whose chosen sense has less
than half of it ("mean", "system") is a kind of nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from abstrag.config import DELTA_ABS_BASELINE, DELTA_ABS_ONE_WAY, MIN_ANCESTOR_DEPTH, OMEGA
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import sense_uses, wordnet
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind

_MOST_SPACES: Final = 2  # WordNet has hardly any longer phrases, and looking them up takes time
_SWAY: Final = 2  # how many times its own weight a sense can have where the document speaks for it
_CLEAR: Final = 0.5  # a sense less sure than that says nothing about what the word is a kind of
_LEAST_DEPTH: Final[Mapping[Pos, int]] = {Pos.NOUN: MIN_ANCESTOR_DEPTH, Pos.VERB: 2}


@dataclass(frozen=True, slots=True)
class SynsetTerm:
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
def nodes(synset: int, pos: Pos) -> tuple[SynsetTerm, ...]:
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


def _node(synset: int, distance: float) -> SynsetTerm:
    name = _name(synset)
    return SynsetTerm(name, name.rsplit(".", 2)[0].replace("_", " "), distance)


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
