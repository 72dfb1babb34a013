"""What may be proposed without a model: what text, lexicon, Background or embeddings license."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final

from abstrag.config import MIN_ANCESTOR_DEPTH
from abstrag.language.words import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.background import EMPTY, Background
from abstrag.model.distances import abstraction_distance, expression_distance
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.term import Licence, LicenceKind
from abstrag.neural.encoder import TextEncoder, cosines
from abstrag.neural.whole_text import default_encoder

SIMILAR: Final = (
    0.65  # cosine that licenses a step; 99 in 100 pairs of unrelated words are below 0.5
)
_RARE_SENSE: Final = 0.25  # the distance of two words that share a sense neither is used in
_VERBAL: Final = (Pos.VERB, Pos.NOUN)
_NOMINAL: Final = (Pos.NOUN, Pos.ADJECTIVE)


@dataclass(frozen=True, slots=True)
class Licensed:
    """A step from a term of the document to a literal, what licenses it, and how far it is."""

    source: str
    distance: float
    licence: Licence


@dataclass(frozen=True)
class Licensing:
    """Looks for licences; the embedder is loaded when the first label is compared."""

    background: Background = EMPTY
    given_encoder: TextEncoder | None = None

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder that compares labels."""
        return self.given_encoder or default_encoder()

    def steps(
        self, literal: Literal, terms: Sequence[str], labels: dict[str, str]
    ) -> Iterator[Licensed]:
        """Go through the terms that may stand for a literal, each with its strongest licence."""
        left = [term for term in terms if term not in literal.terms]
        for find in (self._background, self._name, self._lexicon):
            for term in tuple(left):
                if (found := find(literal, term, labels.get(term, _word(term)))) is not None:
                    left.remove(term)
                    yield found
        yield from self._embedding(literal, left, labels)

    def _background(self, literal: Literal, term: str, label: str) -> Licensed | None:
        """Return what the Background states of the two, under any of their names."""
        asked, own = {key(literal.label), _word(literal.terms[0])}, {key(label), _word(term)}
        for name, others in self.background.aliases.items():
            group = {key(name), *map(key, others)}
            if group & asked and group & own:
                return self._stated(term, literal, label, f"aliases.{name}")
        for table, entries in (
            ("classes", self.background.classes),
            ("roles", self.background.roles),
        ):
            for name, kinds in entries.items():
                if key(name) in own and asked & set(map(key, kinds)):
                    return self._stated(term, literal, label, f"{table}.{name}")
        for rule in self.background.events:
            if key(rule.source) in own and key(rule.target) in asked:
                return self._stated(term, literal, label, f"events.{rule.source}")
        return None

    def _stated(self, term: str, literal: Literal, label: str, entry: str) -> Licensed:
        distance = expression_distance(key(literal.label), key(label), guessed=False)
        return Licensed(term, distance, Licence(LicenceKind.BACKGROUND, entry))

    def _name(self, literal: Literal, term: str, label: str) -> Licensed | None:
        """A name that contains the other as whole words: Anthropic PBC, Anthropic."""
        if literal.kind is not LiteralKind.ENTITY or not term.startswith("entity:"):
            return None
        asked, own = key(literal.label).split(), key(label).split()
        shorter, longer = sorted((asked, own), key=len)
        if not shorter or not _inside(shorter, longer) or len(" ".join(shorter)) < 3:
            return None
        distance = expression_distance(" ".join(asked), " ".join(own), guessed=True)
        return Licensed(term, distance, Licence(LicenceKind.TEXT, f"the text writes {label!r}"))

    def _lexicon(self, literal: Literal, term: str, label: str) -> Licensed | None:  # noqa: ARG002
        asked, own = _word(literal.terms[0]), _word(term)
        parts = _VERBAL if literal.kind is LiteralKind.EVENT else _NOMINAL
        for pos in parts:
            if own in map(key, wordnet().antonyms(asked, pos)):
                return None
        for a, b in product(parts, parts):
            if (found := _related(asked, a, own, b)) is not None:
                distance, reference = found
                return Licensed(term, distance, Licence(LicenceKind.LEXICON, reference))
        return None

    def _embedding(
        self, literal: Literal, terms: Sequence[str], labels: dict[str, str]
    ) -> Iterator[Licensed]:
        """Labels whose vectors are near; opposites are near too, and are left out."""
        named = [term for term in terms if not _opposite(literal, term)]
        if not named or literal.kind in (LiteralKind.TIME, LiteralKind.QUANTITY):
            return
        vectors = self.encoder.embed([literal.label, *(labels.get(t, _word(t)) for t in named)])
        for term, cosine in zip(named, cosines(vectors[1:], vectors[0]).tolist(), strict=True):
            if cosine >= SIMILAR:
                reference = f"cosine {cosine:.2f} of “{labels.get(term, _word(term))}”"
                distance = round(abstraction_distance(cosine=cosine, one_way=False), 4)
                yield Licensed(term, distance, Licence(LicenceKind.MODEL, reference))


def _related(asked: str, a: Pos, own: str, b: Pos) -> tuple[float, str] | None:
    """How WordNet relates what is said to what is asked, and how far apart the two are."""
    net = wordnet()
    wanted, said = net.synsets(asked, a), net.synsets(own, b)
    if a is b:
        shared = [synset for synset in said if synset in wanted]
        if shared:
            share, synset = max((_share(asked, s, a) * _share(own, s, b), s) for s in shared)
            distance = round(_RARE_SENSE * (1.0 - share), 4)
            return distance, f"WordNet: both name {net.name(synset)}, {share:.0%} of their uses"
        for synset in said:
            broader = [s for s in net.ancestors(synset) if s in wanted and _telling(s, a)]
            if broader:
                distance = abstraction_distance(net.wup(synset, broader[0]), one_way=True)
                return round(distance, 4), f"WordNet: {own} is a kind of {net.name(broader[0])}"
        implied = {s for x in said for s in (*net.entailments(x), *net.causes(x), *net.similar(x))}
        if implied & set(wanted):
            distance = abstraction_distance(one_way=True)
            return distance, f"WordNet: {own} implies {asked}"
    if (asked, a) in {(key(lemma), pos) for lemma, pos in net.derived(own, b)}:
        return abstraction_distance(one_way=False), f"WordNet derives {own} ~ {asked}"
    return None


def _share(word: str, synset: int, pos: Pos) -> float:
    """The share of a word's uses in WordNet's texts that have one of its senses."""
    net = wordnet()
    counts = {s: net.count(word, s) + 1 for s in net.synsets(word, pos)}
    return counts.get(synset, 0) / (sum(counts.values()) or 1)


def _telling(synset: int, pos: Pos) -> bool:
    """True for verbs, and for nouns that are specific, far from the root."""
    return pos is not Pos.NOUN or wordnet().depth(synset) >= MIN_ANCESTOR_DEPTH


def _opposite(literal: Literal, term: str) -> bool:
    net, own = wordnet(), _word(term)
    asked = _word(literal.terms[0])
    return any(own in map(key, net.antonyms(asked, pos)) for pos in (*_NOMINAL, Pos.VERB))


def _inside(shorter: Sequence[str], longer: Sequence[str]) -> bool:
    size = len(shorter)
    return any(longer[i : i + size] == shorter for i in range(len(longer) - size + 1))


def _word(term: str) -> str:
    return term.partition(":")[2]
