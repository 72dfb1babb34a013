"""AbsConcept: concepts, roles and quantities, and the edges that lead from them to broader ones.

An edge comes from WordNet or the role inventory and is paid for, or from what the text or the
Background states and is free. A list ("management and other employees") only suggests a class: what
stands in it may stand there for another reason, so the edge names its words and is paid. An office
such as "CTO of Anthropic" suggests that its holder speaks for a company of that class: an intent
edge, licensed by the phrase.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from abstrag.config import DELTA_ABS_BASELINE, DELTA_ABS_ONE_WAY, OMEGA
from abstrag.indexing.abstraction.class_statements import ClassStatement
from abstrag.indexing.abstraction.nominals import (
    NounKeys,
    TermCollector,
    choose_senses,
    class_key,
    nodes,
    read_nominals,
    read_quantities,
    sense_edges,
)
from abstrag.indexing.abstraction.passage import ParsedPassage, passages
from abstrag.indexing.abstraction.patterns import find_stated
from abstrag.indexing.abstraction.role_terms import RoleReader
from abstrag.indexing.layers import Concepts
from abstrag.indexing.naming.alias_rules import NameGroup, territory_classes
from abstrag.indexing.naming.document_names import Surfaces
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.language.names import nameable, names_company
from abstrag.language.words import key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import lexicon_version
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Mention, Relation, TermKind

NAME: Final = "abstract_concepts"
_PART_OF_PHRASE: Final = 0.9  # how sure the rest of a stated class is: "AI startup" → "startup"
_PLACE: Final = 0.9  # how sure a country's name is that of the country
_VARIANT: Final = 0.8  # how sure it is that "ISO 27001" is one of ISO's
_COMPANY: Final = ("company", "firm")
_ARTICLE: Final = re.compile(r"^the\s+", re.IGNORECASE)
_CONCEPT: Final = f"{TermKind.CONCEPT.value}:"
Entries = tuple[tuple[str, tuple[str, ...]], ...]
_NAME: Final = r"[A-Z][\w&/.]*(?:[ -][A-Z][\w&/.]*){0,3}"
_VARIANT_NAME = re.compile(
    rf"(?:Greater|GREATER|Mainland|MAINLAND) (?P<place>{_NAME})"
    rf"|(?P<series>{_NAME})[ -][Vv]?\d[\d.:/-]*[A-Za-z]?"
)


@dataclass(frozen=True, slots=True)
class AbstractConcepts:
    """Find terms and link them upward; `classes` and `roles` are the Background's."""

    classes: Entries = ()
    roles: Entries = ()
    background: str = "background"
    lexicon: str = field(default_factory=lexicon_version)

    name: ClassVar[str] = NAME
    requires: ClassVar[Layer | None] = Layer.CONTEXTS
    provides: ClassVar[Layer] = Layer.CONCEPTS
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 8

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of concepts."""
        ledger, vocabulary = TermCollector(), NounKeys()
        classes = _Classes(ledger)
        roles = RoleReader(ledger, self.roles, self.background)
        for passage in passages(draft):
            read_nominals(passage, ledger, vocabulary)
            read_quantities(passage, ledger)
            roles.read(passage)
            classes.read(passage, roles)
            classes.read_names(passage, vocabulary)
        classes.add_background(draft, self.classes, self.background)
        roles.finish(classes.of)
        _add_senses(ledger, vocabulary)
        return draft.with_(concepts=Concepts(ledger.terms, ledger.mentions, ledger.edges))


def _add_senses(ledger: TermCollector, vocabulary: NounKeys) -> None:
    for found, pos in ((vocabulary.nouns, Pos.NOUN), (vocabulary.adjectives, Pos.ADJECTIVE)):
        for word, chosen in choose_senses(found, pos).items():
            term = term_id(TermKind.CONCEPT, word)
            for node in nodes(chosen[0], pos):
                ledger.term(f"concept:{node.name}", TermKind.CONCEPT, node.label)
            for edge in sense_edges(term, TermKind.CONCEPT, pos, chosen, NAME):
                ledger.edge(edge)


class _Classes:
    """What text and Background state about classes, as free edges."""

    def __init__(self, ledger: TermCollector) -> None:
        self.ledger = ledger
        self.of: dict[str, dict[str, str]] = {}  # entity → keys and labels of its classes

    def read(self, passage: ParsedPassage, roles: RoleReader) -> None:
        """Note what a passage states."""
        for stated in find_stated(passage):
            source = self._member(passage, stated.member)
            quote = passage.quote(stated.first, stated.last)
            licence = Licence(LicenceKind.TEXT, quote, passage.span(stated.first, stated.last))
            for target, confidence in self._targets(passage, stated, roles):
                edge = _free(source, target, confidence, licence)
                self.ledger.edge(replace(edge, truth_preserving=not stated.listed))
            head = stated.class_
            first = passage.words.phrase(head)[-1]
            label = passage.words.label(first, head)
            self.of.setdefault(source, {})[passage.words.phrase_key(first, head)] = label

    def read_names(self, passage: ParsedPassage, vocabulary: NounKeys) -> None:
        """Note what names say about what they name."""
        for mention in dict.fromkeys(passage.names.values()):
            name = passage.source.text[mention.start : mention.end]
            company, base = names_company(name), variant_of(name)
            self._place(mention.term, name)
            if not (company or base):
                continue
            licence = Licence(LicenceKind.TEXT, name, passage.place(mention.start, mention.end))
            if company:
                for class_ in _COMPANY:
                    vocabulary.nouns[class_] = None
                    self._belongs(mention.term, class_, class_, licence)
                    self.of.setdefault(mention.term, {}).setdefault(class_, class_)
            elif base:
                target = term_id(TermKind.ENTITY, key(base))
                self.ledger.term(target, TermKind.ENTITY, base)
                edge = _free(mention.term, target, _VARIANT, licence)
                self.ledger.edge(replace(edge, truth_preserving=False))

    def _place(self, term: str, name: str) -> None:
        """Note what a country or state is by WordNet: a country, and European."""
        for class_ in territory_classes(name):
            marks = class_[:1].isupper()
            kind = TermKind.ENTITY if marks and " " not in class_ else TermKind.CONCEPT
            target = term_id(kind, key(class_))
            if target == term:
                continue
            self.ledger.term(target, kind, class_)
            licence = Licence(LicenceKind.LEXICON, f"WordNet: {name} is {class_}")
            edge = replace(_free(term, target, _PLACE, licence), distance=DELTA_ABS_ONE_WAY)
            self.ledger.edge(replace(edge, truth_preserving=False))

    def _member(self, passage: ParsedPassage, noun: int) -> str:
        name = passage.name(noun)
        if name is not None:
            if name.term.startswith(_CONCEPT):  # a name that NormNE did not take for one
                label = passage.quote(name.first, name.last)
                self.ledger.term(name.term, TermKind.CONCEPT, label)
            return name.term
        return self._concept(passage, passage.words.phrase(noun)[-1], noun)

    def _targets(
        self, passage: ParsedPassage, stated: ClassStatement, roles: RoleReader
    ) -> list[tuple[str, float]]:
        """Return the class as the text words it, less its modifiers, and as a role."""
        head, sure = stated.class_, stated.confidence
        *shorter, longest = passage.words.phrase(head)
        less = round(sure * _PART_OF_PHRASE, 4)
        targets = [(self._concept(passage, longest, head), sure)]
        targets += [(self._concept(passage, first, head), less) for first in shorter]
        return targets + [(role, sure) for role in roles.terms_at(passage, head)]

    def _concept(self, passage: ParsedPassage, first: int, head: int) -> str:
        term = term_id(TermKind.CONCEPT, passage.words.phrase_key(first, head))
        self.ledger.term(term, TermKind.CONCEPT, passage.words.label(first, head))
        return term

    def add_background(self, draft: IndexDraft, entries: Entries, background: str) -> None:
        """Note what the Background says about things that occur in the document."""
        assert draft.entities is not None
        names = {key(s): t.id for t in draft.entities.terms for s in (t.label, *t.surfaces)}
        bare = {thing: _ARTICLE.sub("", thing) for thing, _ in entries}
        self._add_names(draft, [name for name in bare.values() if key(name) not in names])
        for thing, classes in entries:
            known = names.get(key(thing)) or names.get(key(bare[thing]))
            written = (
                term_id(TermKind.ENTITY, key(bare[thing])),
                term_id(TermKind.CONCEPT, class_key(thing)),
            )
            licence = Licence(LicenceKind.BACKGROUND, f"{background}: classes.{thing}")
            for source in (known,) if known else [t for t in written if t in self.ledger]:
                for name in classes:
                    class_ = class_key(name)
                    self._belongs(source, class_, name, licence)
                    self.of.setdefault(source, {})[class_] = name

    def _add_names(self, draft: IndexDraft, names: Sequence[str]) -> None:
        """Note where the text writes a name of the Background that no parser took for one."""
        groups = {}
        for name in names:
            if name[:1].isupper():
                one = term_id(TermKind.ENTITY, key(name))
                groups[one] = NameGroup(one)
                groups[one].surfaces[name] += 1
        surfaces = Surfaces(groups, frozenset(groups))
        for i, segment in enumerate(draft.segments if groups else ()):
            for found in surfaces.find(segment.text):
                name = segment.text[found.start : found.end]
                self.ledger.term(found.name, TermKind.ENTITY, name)
                self.ledger.mention(Mention(found.name, i, found.start, found.end), name)

    def _belongs(self, source: str, class_: str, label: str, licence: Licence) -> None:
        """Note that something is of a class beyond doubt."""
        target = term_id(TermKind.CONCEPT, class_)
        self.ledger.term(target, TermKind.CONCEPT, label)
        self.ledger.edge(_free(source, target, 1.0, licence))


def _free(source: str, target: str, confidence: float, licence: Licence) -> Edge:
    return Edge(
        source=source,
        target=target,
        relation=Relation.IMPLIES,
        family=Family.CONCEPT,
        operator=NAME,
        weight=OMEGA[Family.CONCEPT],
        distance=DELTA_ABS_BASELINE + DELTA_ABS_ONE_WAY,
        truth_preserving=True,
        confidence=confidence,
        licence=licence,
    )


def variant_of(name: str) -> str | None:
    """Return the name of which another is one: "Llama" of "Llama 2", "China" of "Greater China"."""
    found = _VARIANT_NAME.fullmatch(name)
    base = found and (found["place"] or found["series"])
    return base if base and nameable(base) else None
