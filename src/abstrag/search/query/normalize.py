"""NormQuery: map a question or claim into the canonical space of an index (appendix D.6).

Words become the terms the index chain would have made of them: same keys, events and times. A noun
phrase the index knows is one literal; one it does not know falls apart into its words. Senses that
the index knows are further starting points: a path from a synonym pays the edge to the sense only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from abstrag.errors import NothingAsked
from abstrag.indexing.abstraction.tellings import tellings_asked
from abstrag.indexing.events import asked_term
from abstrag.language.parser import parse
from abstrag.language.quantities import find_quantities
from abstrag.language.times import find_times
from abstrag.language.words import NOUNS, Words, key, term_id
from abstrag.lexicon.acts import asks_for_act
from abstrag.lexicon.events import LIGHT_VERBS, event_key, inventory, is_meaning, names_event
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import roles
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.term import Interval, TermKind
from abstrag.search.query.finance import finance_terms
from abstrag.search.query.operators import time_id
from abstrag.search.query.question import (
    asked_for,
    carries_event,
    counted,
    idioms_in,
    is_modal,
    is_negated,
    may_name,
    noun_slots,
    points_at_document,
    read_request,
    require_query,
    scope_of,
    subject_of,
    unwrapped,
    verb_slots,
)
from abstrag.search.query.vocabulary import TermLookup, weighted

if TYPE_CHECKING:
    from spacy.tokens import Doc


# Abbreviations of a query that documents write out, and the other way round.

_LINKS: Final = frozenset("a an and before by for in of on or per the to".split())


class Abbreviated(NamedTuple):
    """An abbreviation or a long form at `text[start:end]`, and everything it is called."""

    start: int
    end: int
    forms: tuple[str, ...]  # as written here first, then the short form and the long ones
    words: tuple[str, ...]  # content words of the first long form


_Known = dict[str, tuple[str, tuple[str, ...]]]


@lru_cache(maxsize=4)
def _forms(listed: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[re.Pattern[str], _Known]:
    known: _Known = {}
    for short, longs in listed:
        known.setdefault(short, (short, longs))
        for long in longs:
            known.setdefault(long.casefold(), (short, longs))
    ordered = sorted(known, key=lambda form: (-len(form), form))
    shorts = "|".join(re.escape(f) for f in ordered if " " not in f and "-" not in f)
    longs_ = "|".join(re.escape(f) for f in ordered if " " in f or "-" in f)
    return re.compile(rf"(?<![\w&-])(?:{shorts}|(?i:{longs_})s?)(?![\w&-])"), known


def abbreviated(text: str) -> Iterator[Abbreviated]:
    """Go through the abbreviations and long forms of a text."""
    listed = finance_terms().abbreviations
    if not listed:
        return
    pattern, known = _forms(tuple(listed.items()))
    for found in pattern.finditer(text):
        written = found.group()
        folded = written.casefold()
        entry = known.get(written) or known.get(folded) or known[folded.removesuffix("s")]
        short, longs = entry
        words = [w for w in re.split(r"[\s,'-]+", longs[0]) if w not in _LINKS and len(w) > 1]
        forms = tuple(dict.fromkeys((written, short, *longs)))
        yield Abbreviated(found.start(), found.end(), forms, tuple(words))


SENSES: Final = 3  # most frequent senses of a query word that may be meant
_DO: Final = frozenset({"do", "does", "did"})
_NO_VERBS: Final = frozenset({"NOUN", "ADJ", "PROPN"})  # what verbs are taken for
_THE: Final = frozenset("the our their your its his her my".split())
_STAFF: Final = frozenset("staff personnel workforce crew faculty".split())
_ACTING: Final = frozenset({"management", "leadership", "administration", "opposition"})
_SUPPORT: Final = frozenset({"be", "have", "do", "get", "let"})
_HAPPENING: Final = frozenset({"happen", "occur", "become"})
_NAMES: Final = frozenset(
    {"ORG", "PERSON", "GPE", "LOC", "PRODUCT", "FAC", "WORK_OF_ART", "LAW", "EVENT", "NORP"}
)
_PREFIXES: Final = frozenset(
    "anti co inter intra multi non post pre pro re self semi sub un".split()
)
_STRESSING: Final = frozenset(
    "main key major primary principal central chief important essential overall core".split()
)
_MEASURED: Final = frozenset(
    "large big small long short high tall low wide broad deep thick old young far fast heavy "
    "great strong often".split()
)
_OF_NOUNS: Final = frozenset({"nsubj", "nsubjpass", "pobj"})
_LETTERED: Final = re.compile(r"\d{1,3}[MK]")  # 3M, 10K: a name unless it counts something
_OWN: Final = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class _Found:
    """A literal before it has a weight, and where in the query it stands."""

    at: int
    literal: Literal


def normalize(text: str, vocabulary: TermLookup, *, today: date | None = None) -> Query:
    """Turn a question or claim into typed, weighted literals.

    `today` resolves what the query says relative to now ("last year"); without it such words are
    left out, never guessed.

    Raises:
        InputError: The query is empty, too long, or holds nothing that can be looked for.
    """
    require_query(text)
    request = read_request(" ".join(text.split()))
    bare = unwrapped(request.question)
    reader = _Reader(bare, vocabulary, today)
    found = reader.found()
    if not any(
        c.isascii() and c.isalnum() for c in text
    ):  # the parser reads English; such words count only where the document has them
        found = [f for f in found if any(t in vocabulary.terms for t in f.literal.terms)]
    if not found:
        raise NothingAsked(
            f"there is nothing to look for in the query {text.strip()[:60]!r}",
            hint="use content words, in English or as the document writes them",
        )
    subject = subject_of(reader.words, [(f.at, f.literal) for f in found])
    literals = weighted([f.literal for f in found], vocabulary, subject=subject)
    terms = [literal.terms for literal in literals]
    return Query(
        text=text,
        literals=literals,
        answer_type=asked_for(bare, reader.words),
        window=reader.window,
        scope=reader.scope,
        sources=request.sources,
        answer_form=request.form,
        subject=terms.index(subject.terms) if subject else None,
    )


@lru_cache(maxsize=64)
def parsed_query(text: str) -> tuple[Doc, Words]:
    """Parse a query once, for it is read again with every document's vocabulary."""
    (doc,) = parse([text])
    return doc, Words(doc)


class _Reader:
    """Reads one query from left to right; a token belongs to at most one literal."""

    def __init__(self, text: str, vocabulary: TermLookup, today: date | None) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.doc, self.words = parsed_query(text)
        self.scope, places = scope_of(text, vocabulary.has_section)
        self.today = today
        self.window: Interval | None = None
        self.taken: set[int] = set()
        self.named: set[int] = set()  # tokens that belong to names
        for place in places:
            self._take(*place)
        if count := counted(text):
            self._take(*count)

    def found(self) -> list[_Found]:
        """Return the literals in the order of the text, less what only points at the document."""
        every = sorted(self.read(), key=lambda f: f.at)
        names = self.vocabulary.self_names
        telling = [f for f in every if not points_at_document(self.words, f.at, names)]
        return telling or every

    def read(self) -> Iterator[_Found]:
        """Go through the literals, by kind."""
        yield from self._times()
        yield from self._members()
        yield from self._idioms()
        yield from self._abbreviations()
        yield from self._lettered()
        yield from self._quantities()
        yield from self._known_names()
        yield from self._asked_verb()
        yield from self._phrases(known=True)
        yield from self._other_names()
        yield from self._phrases(known=False)
        yield from self._mistaken()
        yield from self._verbs()
        yield from self._qualities()

    def _take(self, start: int, end: int) -> list[int]:
        """Claim the free tokens of a stretch of text; none if any of it is claimed already."""
        w = self.words
        tokens = [i for i in range(w.size) if w.start[i] < end and start < w.end[i]]
        if any(i in self.taken for i in tokens):
            return []
        self.taken.update(tokens)
        return tokens

    def _times(self) -> Iterator[_Found]:
        fiscal = self.vocabulary.fiscal
        times = find_times(
            self.text,
            anchor=self.today,
            fiscal_year_start=fiscal.start,
            fiscal_named_for_start=fiscal.named_for_start,
        )
        # a column called "2019" in the accounts of fiscal years holds one of them
        plain = times if fiscal.start == 1 else find_times(self.text, anchor=self.today)
        calendar = {found.start: found.interval for found in plain}
        for found in times:
            tokens = self._take(found.start, found.end)
            if not tokens or found.interval is None:
                continue
            interval = found.interval
            self.window = self.window or interval
            inside = self.vocabulary.times_inside(interval)
            other = calendar.get(found.start) or interval
            terms = tuple(dict.fromkeys((time_id(interval), *inside, time_id(other))))
            label = self.text[found.start : found.end]
            literal = Literal(LiteralKind.TIME, label, terms, 0.0, interval=interval)
            yield _Found(found.start, literal)

    def _abbreviations(self) -> Iterator[_Found]:
        """Names of one thing that the inventory knows; an unknown one falls apart into words."""
        for found in abbreviated(self.text):
            terms = self._known_as(found.forms, TermKind.CONCEPT, TermKind.ENTITY)
            label = self.text[found.start : found.end]
            spelled_out = " " in label or "-" in label  # read as any other words are
            if (spelled_out and not terms) or not self._take(found.start, found.end):
                continue
            if terms:
                yield _Found(found.start, Literal(LiteralKind.CONCEPT, label, terms, 0.0))
                continue
            for word in found.words:
                known = self._known_as((word,), TermKind.CONCEPT, TermKind.EVENT)
                own = known or (term_id(TermKind.CONCEPT, key(word)),)
                yield _Found(found.start, Literal(LiteralKind.CONCEPT, word, own, 0.0))

    def _known_as(self, forms: tuple[str, ...], *kinds: TermKind) -> tuple[str, ...]:
        """Return the terms of the document that have one of these names."""
        named = (term_id(kind, key(form)) for form in forms for kind in kinds)
        return tuple(dict.fromkeys(term for term in named if term in self.vocabulary.terms))

    def _lettered(self) -> Iterator[_Found]:
        """Names such as 3M, which would else be three millions of nothing."""
        w = self.words
        for match in _LETTERED.finditer(self.text):
            if match.start() not in w.start or match.end() not in w.end:
                continue
            first, last = w.start.index(match.start()), w.end.index(match.end())
            known = self.vocabulary.names.get(key(match.group()))
            counts = w.dep[last] in ("nummod", "quantmod", "compound")
            if (known or not counts) and self._take(*match.span()):
                self.named.update(range(first, last + 1))
                term = known or term_id(TermKind.ENTITY, key(match.group()))
                yield self._literal(LiteralKind.ENTITY, first, match.group(), (term,))

    def _quantities(self) -> Iterator[_Found]:
        for found in find_quantities(self.text):
            if not self._take(found.start, found.end):
                continue
            quantity = found.quantity
            term = term_id(TermKind.QUANTITY, f"{quantity.value:g} {quantity.unit}".strip())
            label, kind = self.text[found.start : found.end], LiteralKind.QUANTITY
            literal = Literal(kind, label, (term,), 0.0, quantity=quantity)
            yield _Found(found.start, literal)

    def _known_names(self) -> Iterator[_Found]:
        """Names the document knows, the longest first."""
        w, known = self.words, self.vocabulary.names
        # names are counted in words, and a word may be several tokens: "Workers'"
        more = sum(w.end[i - 1] == w.start[i] for i in range(1, w.size))
        for size in range(min(self.vocabulary.longest_name + more, w.size), 0, -1):
            for first in range(w.size - size + 1):
                last = first + size
                if any(i in self.taken for i in range(first, last)):
                    continue
                if not (w.key[first] and w.key[last - 1]):  # a mark belongs to no name
                    continue
                surface = self.text[w.start[first] : w.end[last - 1]]
                term = known.get(key(surface))
                if term and (size > 1 or not w.stop[first]) and may_name(surface):
                    self.taken.update(range(first, last))
                    self.named.update(range(first, last))
                    terms = (term, *self._called(surface, but=term))
                    yield self._literal(LiteralKind.ENTITY, first, surface, terms)

    def _other_names(self) -> Iterator[_Found]:
        """Names that only the parser sees."""
        for entity in self.doc.ents:
            if entity.label_ in _NAMES and self._take(entity.start_char, entity.end_char):
                self.named.update(range(entity.start, entity.end))
                name = _OWN.sub("", entity.text).removeprefix("the ").removeprefix("The ")
                term = term_id(TermKind.ENTITY, key(name))
                terms = (term, *self._called(name, but=term))
                yield self._literal(LiteralKind.ENTITY, entity.start, name, terms)

    def _phrases(self, *, known: bool) -> Iterator[_Found]:
        """Noun phrases the document knows as such; then every noun by itself."""
        w = self.words
        for head in range(w.size - 1, -1, -1):
            noun = w.pos[head] in NOUNS or (
                known and w.dep[head] == "acl" and head - 1 == w.head[head]
            )
            if head in self.taken or not noun or not w.key[head]:
                continue  # "which data set is used" is parsed as data that somebody has set
            first = head
            if known:
                free = [s for s in self._runs(head) if not self.taken & set(range(s, head + 1))]
                longer = [s for s in free if s < head and self._known(w.phrase_key(s, head))]
                if not longer:
                    continue
                first = longer[-1]
            self.taken.update(range(first, head + 1))
            if w.lower[head] not in _PREFIXES or not w.glued(head + 2):
                yield self._noun(first, head)

    def _runs(self, head: int) -> list[int]:
        """Return where phrases that end in a head may begin, though the parser sees none."""
        w, starts = self.words, set(self.words.phrase(head))
        for first in range(head - 1, max(head - 5, -1), -1):
            if w.stop[first] or (not w.key[first] and not w.glued(first + 1)):
                break
            if w.key[first]:
                starts.add(first)
        return sorted(starts, reverse=True)

    def _called(self, surface: str, *, but: str = "") -> tuple[str, ...]:
        """Return what else the document knows under the very same words, whatever its kind."""
        same = self._known_as((surface,), TermKind.CONCEPT, TermKind.ENTITY)
        known = (self.vocabulary.names.get(key(surface)), *same)
        return tuple(dict.fromkeys(term for term in known if term and term != but))

    def _known(self, phrase: str) -> bool:
        kinds = (TermKind.CONCEPT, TermKind.ROLE)
        return any(term_id(kind, phrase) in self.vocabulary.terms for kind in kinds)

    def _noun(self, first: int, head: int) -> _Found:
        w = self.words
        phrase, label = w.phrase_key(first, head), w.label(first, head)
        single = first == head
        if single and names_event(phrase) and not self._acts(head):
            event = event_key(phrase, "NOUN")
            return self._event(head, label, [event], noun_slots(w, head))
        terms = [term_id(TermKind.CONCEPT, phrase)]
        role = roles().find(phrase)
        held = term_id(TermKind.ROLE, phrase if role is None else role.key)
        is_role = role is not None or held in self.vocabulary.terms  # of the map or Background
        if is_role:
            terms.insert(0, held)
        terms += self._senses(TermKind.CONCEPT, phrase, Pos.NOUN)
        terms += self._called(self.text[w.start[first] : w.end[head]])
        kind = LiteralKind.ROLE if is_role else LiteralKind.CONCEPT
        return self._literal(kind, first, label, tuple(dict.fromkeys(terms)))

    def _acts(self, noun: int) -> bool:
        """Tell whether those who do something are asked about: "What does management expect?"."""
        w = self.words
        of = w.child(noun, "prep")
        whose = of is not None and w.lower[of] == "of"
        return w.key[noun] in _ACTING and w.dep[noun] == "nsubj" and not whose

    def _mistaken(self) -> Iterator[_Found]:
        """Nouns the parser has never seen and takes for something else ("lipopolysaccharide").

        What it calls an adverb and the lexicon does not is one; what it calls a verb, where the
        document knows the word as a concept too, or where it takes a bare verb for a subject or an
        object ("What must staff do?"). What it calls an adjective in "which official closed …" is
        one that names an office, and an auxiliary verb that is tagged as a noun is one ("Which
        scheduler retries failed jobs?").
        """
        w, net = self.words, wordnet()
        for i in range(w.size):
            if i in self.taken or w.stop[i] or not w.key[i]:
                continue
            if w.tag[i] == "JJ":
                alone = i + 1 < w.size and w.tag[i + 1].startswith("VB")
                asked = bool(i) and w.lower[i - 1] in ("which", "what")
                mistaken = asked and alone and roles().find(w.lower[i]) is not None
            elif w.tag[i] == "RB":
                mistaken = not (w.lower[i].endswith("ly") or net.synsets(w.lower[i], Pos.ADVERB))
            elif w.pos[i] == "AUX":
                mistaken = w.tag[i].startswith("NN")
            elif w.pos[i] == "VERB":
                subject = w.tag[i] == "VB" and w.dep[i] in _OF_NOUNS
                mistaken = (subject and bool(net.synsets(w.lower[i], Pos.NOUN))) or (
                    self._known(w.key[i]) and not net.synsets(w.key[i], Pos.VERB)
                )
            else:
                mistaken = False
            if mistaken:
                self.taken.add(i)
                yield self._noun(i, i)

    def _idioms(self) -> Iterator[_Found]:
        """Words that name an event together: "throw in the towel", "go bankrupt"."""
        w = self.words
        for first, last, meanings in idioms_in(w):
            if self._take(start := w.start[first], end := w.end[last]):
                events = [event_key(meaning, "VERB") for meaning in meanings]
                slots = verb_slots(w, first, self.named)
                yield self._event(first, self.text[start:end], events, slots)

    def _members(self) -> Iterator[_Found]:
        """Who belongs to a staff: "which member of the staff" asks for an employee."""
        w = self.words
        for i in range(w.size - 2):
            last = i + 3 if w.lower[i + 2] in _THE and i + 3 < w.size else i + 2
            if w.key[i] == "member" and w.lower[i + 1] == "of" and w.key[last] in _STAFF:
                self._take(w.start[i], w.end[last])
                terms = (term_id(TermKind.ROLE, "employee"), *self._called("employee"))
                label = self.text[w.start[i] : w.end[last]]
                yield self._literal(LiteralKind.ROLE, i, label, terms)

    def _asked_verb(self) -> Iterator[_Found]:
        """The verb of "did the landlord yield?" where it was parsed as a noun.

        Where no other word is a verb that is the one before a determiner ("did a dog chase a
        cow?"), and without any the last of the clause.
        """
        w = self.words
        if any(w.pos[i] == "VERB" and w.lower[i] not in _DO for i in range(w.size)):
            return
        yield from self._asked_participle()
        does = next((i for i in range(w.size) if w.lower[i] in _DO), None)
        if does is None:
            return
        ends = (i for i in range(does + 2, w.size) if w.pos[i] in ("ADP", "PUNCT", "SCONJ"))
        end = next(ends, w.size)
        inside = (i for i in range(does + 2, end - 1) if w.pos[i + 1] in ("DET", "PRON"))
        last = next((i for i in inside if w.pos[i] == "NOUN"), end - 1)
        free = last >= does + 2 and last not in self.taken and w.pos[last] in _NO_VERBS
        if free and w.lower[last] in wordnet().base_forms(w.lower[last], Pos.VERB):
            self.taken.add(last)
            yield self._event(last, w.lower[last], [event_key(w.lower[last], "VERB")], ())

    def _asked_participle(self) -> Iterator[_Found]:
        """The verb of "how much has the ice shrunk?" where it was parsed as a noun."""
        w = self.words
        has = next((i for i in range(w.size) if w.lower[i] in ("has", "have", "had")), None)
        ends = (i for i in range((has or 0) + 1, w.size) if w.pos[i] in ("ADP", "PUNCT", "SCONJ"))
        last = next(ends, w.size) - 1
        if has is None or last < has + 2 or last in self.taken or w.pos[last] not in _NO_VERBS:
            return
        word, net = w.lower[last], wordnet()
        base = next((b for b in net.base_forms(word, Pos.VERB) if b != word), None)
        if base is not None and not net.synsets(word, Pos.NOUN):
            self.taken.add(last)
            yield self._event(last, word, [event_key(base, "VERB")], ())

    def _verbs(self) -> Iterator[_Found]:
        w = self.words
        for i in range(w.size):
            light = w.key[i] in _SUPPORT or (w.key[i] in LIGHT_VERBS and carries_event(w, i))
            if i in self.taken or w.pos[i] != "VERB" or light or not w.key[i]:
                continue
            self.taken.add(i)
            if not (self._only_asks(i) or is_modal(w, i)):
                slots = verb_slots(w, i, self.named)
                particle, events = w.child(i, "prt"), [self._verb_event(i)]
                if particle is None and (meant := self._phrasal(i)):
                    particle, events = i + 1, [meant, *events]
                label = w.lemma[i] if particle is None else f"{w.lemma[i]} {w.lower[particle]}"
                yield self._event(i, label, events, slots)

    def _only_asks(self, verb: int) -> bool:
        """Tell whether a verb asks and names nothing: "What happened to the margin?".

        Nor does it in "how long does it take to …", "how big can it become?" and "what does it
        stand for?".
        """
        w = self.words
        if not any(w.key[i] and not w.stop[i] for i in range(w.size) if i != verb):
            return False
        asked = w.child(verb, "nsubj")
        if w.key[verb] in _HAPPENING and asked is not None and w.lower[asked] == "what":
            return True
        if w.key[verb] == "stand" and w.lower[0] == "what":
            return verb + 1 < w.size and w.lower[verb + 1] == "for"
        if w.key[verb] == "become":
            return w.child(verb, "acomp") is not None
        return w.key[verb] == "take" and w.lower[:2] == ["how", "long"]

    def _phrasal(self, verb: int) -> str | None:
        """Return the event of "buy back" where its particle was parsed as an adverb."""
        w, behind = self.words, verb + 1
        if behind >= w.size or w.dep[behind] != "advmod" or w.head[behind] != verb:
            return None
        together = f"{w.key[verb]} {w.lower[behind]}"
        known = wordnet().synsets(together, Pos.VERB) or asks_for_act(together)
        return event_key(together, "VERB") if known else None

    def _verb_event(self, verb: int) -> str:
        """Return the event of a verb with its particle ("team up") or prefix ("fine-tune")."""
        w = self.words
        lemma, particle = w.key[verb], w.child(verb, "prt")
        if particle is not None:
            lemma = f"{lemma} {w.lower[particle]}"
        elif w.glued(verb) and f"{w.lower[verb - 2]}-{lemma}" in inventory().verbs:
            lemma = f"{w.lower[verb - 2]}-{lemma}"
        return event_key(lemma, "VERB")

    def _event(self, at: int, label: str, events: list[str], slots: tuple[str, ...]) -> _Found:
        named = [term_id(TermKind.EVENT, event) for event in events]
        named += [s for event in events for s in self._senses(TermKind.EVENT, event, Pos.VERB)]
        named += self._called(self.words.text[at])
        told = [asked_term(w.telling, wider=w.wider) for w in tellings_asked(self.words, at)]
        named += [term for term in told if term in self.vocabulary.terms]
        found = self._literal(LiteralKind.EVENT, at, label, tuple(dict.fromkeys(named)))
        return replace(found, literal=replace(found.literal, slots=slots))

    def _qualities(self) -> Iterator[_Found]:
        """Adjectives and comparatives that no phrase has claimed."""
        w = self.words
        for i in range(w.size):
            if i in self.taken or w.stop[i] or not w.key[i]:
                continue
            if w.lower[i] in _STRESSING and w.dep[i] == "amod":
                self.taken.add(i)  # "the main limitation" need not be called so
                continue
            if w.lower[i] in _MEASURED and i and w.lower[i - 1] == "how":
                self.taken.add(i)  # "how large" asks for a figure, and nothing need be large
                continue
            comparative = w.tag[i] in ("JJR", "RBR")
            told = w.pos[i] == "ADV" and is_meaning(w.key[i])  # as idioms do: "carelessly"
            if w.pos[i] in ("ADJ", "X") or comparative or told:
                self.taken.add(i)
                if w.glued(i + 2):
                    continue  # "pro-" of "pro-inflammatory", which no index holds by itself
                kind = LiteralKind.RELATION if comparative else LiteralKind.CONCEPT
                own = term_id(TermKind.CONCEPT, w.key[i])
                senses = self._senses(TermKind.CONCEPT, w.key[i], Pos.ADJECTIVE)
                terms = (own, *senses, *self._called(w.text[i], but=own))
                yield self._literal(kind, i, w.text[i], terms)

    def _senses(self, kind: TermKind, lemma: str, pos: Pos) -> tuple[str, ...]:
        """Return the likely senses of a word that the document's map knows."""
        senses = wordnet().synsets(lemma, pos)[:SENSES]
        named = (term_id(kind, wordnet().name(s)) for s in senses)
        return tuple(t for t in named if t in self.vocabulary.terms)

    def _literal(self, kind: LiteralKind, at: int, label: str, terms: tuple[str, ...]) -> _Found:
        if kind is LiteralKind.CONCEPT and is_meaning(key(label)):
            meant = term_id(TermKind.EVENT, event_key(key(label), "VERB"))  # of an idiom
            terms = tuple(dict.fromkeys((*terms, meant)))
        literal = Literal(kind, label, terms, 0.0, negated=is_negated(self.words, at))
        return _Found(self.words.start[at], literal)
