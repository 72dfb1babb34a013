"""Definitions that a document states, and names that a Background gives, in place of what is asked.

"Phlebitis is an inflammation of a vein." Who asks for an inflammation of a vein is answered where
the text speaks of phlebitis. A query is taken to use a definition if it has two of its content
words or more, one of them among the first, or half of them, in a row but for small words; what only
says the kind of thing is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from abstrag.backgrounds.fact import agrees, folded, written_forms
from abstrag.config import OMEGA
from abstrag.files import read_data_file
from abstrag.language.words import key, stemmed, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import is_person
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.document import Span
from abstrag.model.index import DocumentIndex
from abstrag.model.query import LiteralKind, Query
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind
from abstrag.neural.vectors import has_content
from abstrag.search.document_words import forms
from abstrag.search.query.vocabulary import Vocabulary

DEFINITION: Final = "definition"  # the operator that offers the terms a text defines
_SHAPES: Final = read_data_file("abstrag.search.query", "definitions.toml")


def _compiled(shape: str) -> re.Pattern[str]:
    """Compile a shape of sentences."""
    return re.compile(_filled(shape))


def _filled(shape: str) -> str:
    """Join the lines of a shape, and fill in its parts."""
    joined = "".join(line.strip() for line in shape.splitlines())
    return re.sub(r"\{([A-Z]+)\}", lambda part: _filled(_SHAPES["parts"][part[1]]), joined)


_FORMS: Final = tuple(_compiled(form["shape"]) for form in _SHAPES["form"])
_ACTING: Final = _compiled(_SHAPES["acting"]["shape"])
_TEXTS_KEPT: Final = 8
_NO_PROSE: Final = re.compile(r" \| |[\[<{=\\]|--|\.\.\.")  # rows of a table, how to call a program
_NO_TERMS: Final = frozenset(_SHAPES["no_terms"].split())
_LONGEST: Final = 12  # content words of a definition; longer ones, as of contracts, list things
_FIRST: Final = 2  # the content words of which one says what kind of thing it is
_SHARE: Final = 0.5
_MARKER: Final = re.compile(r"^(?:[-•*]\s+|\(?[a-z\d]{1,2}[.)]\s+)")  # of an item in a list
_SENTENCE: Final = re.compile(r"(?<=[.;!?])(?<!i\.e\.)(?<!e\.g\.)\s")
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ARTICLE: Final = re.compile(r"(?:\b(?:an?|the|any|some)\s+)$", re.IGNORECASE)
_CLAUSE: Final = re.compile(
    r"\b(?:is|are|occurs|arises|happens|exists|results|means)\s+(?:when|if|that)\b"
)
_SPECIAL: Final = re.compile(
    r"\b(?:of|in|on|at|that|which|who|whose|where|when|for|from|with|without|by|to|before|after"
    r"|between|under|over|into|during|than|as|\w+ed|\w+ing)\s"
)
_WHO: Final = re.compile(r"(?:who|whose|whom)\b", re.IGNORECASE)
_WH: Final = re.compile(  # and the noun that says what is wanted
    r"(?P<at>(?:in|on|at|by|to|for|from|with|of|into|among)\s+)?(?:(?:which|what|whose)\s+(?P<wanted>[\w-]+)"
    r"|who\b|whom\b|whose\b|where\b|when\b|how\s+(?:many|much|often|long)\b)",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"\s+(?:had|got|suffered|received|showed|experienced)\b", re.IGNORECASE)
_SOMEBODY: Final = re.compile(
    r"^(?:an?|any|the|every)?\s*(?:one|anyone|anybody|somebody|someone|those)\b"
)
_WHOLE: Final = 0.8  # of the letters of a segment
_KINDS: Final = (TermKind.CONCEPT, TermKind.ENTITY, TermKind.EVENT, TermKind.ROLE)
_ASKING: Final = frozenset("who whom whose what which when where why how that".split())
_KEPT: Final = frozenset({LiteralKind.ENTITY, LiteralKind.TIME})


@dataclass(frozen=True, slots=True)
class StatedDefinition:
    """What the text at `span` says that a term means."""

    term: str  # as written
    terms: tuple[str, ...]  # its ids
    words: tuple[frozenset[str], ...]  # the forms of each content word of what it means
    kind: int  # how many of them only say what kind of thing it is
    quote: str
    span: Span
    glossary: bool  # it says what a word means, and not merely what something is
    clause: bool = False  # it says when a word is used: "… occurs when two threads wait"
    segment: int = 0
    alone: bool = False  # the segment says nothing besides
    somebody: bool = False  # the term is a word for people
    used_in: tuple[int, ...] = ()  # the other segments that speak of it


@dataclass(frozen=True, slots=True)
class UsedDefinition:
    """A definition whose words stand at `text[start:end]` of a query."""

    definition: StatedDefinition
    start: int
    end: int
    words: frozenset[str]  # forms of the words that the two share
    whole: bool  # it begins as the definition does, which is no clause


@dataclass(frozen=True)
class StatedDefinitions:
    """The definitions of a document whose terms it uses elsewhere too."""

    found: tuple[StatedDefinition, ...]

    @cached_property
    def _saying(self) -> dict[str, list[int]]:
        """For each form of a word the definitions that say it."""
        places: dict[str, list[int]] = {}
        for number, one in enumerate(self.found):
            for form in frozenset().union(*one.words):
                places.setdefault(form, []).append(number)
        return places

    @cached_property
    def _own(self) -> list[frozenset[str]]:
        """The forms of the words of each defined term."""
        return [_forms_of(one.term) for one in self.found]

    @classmethod
    def of(cls, index: DocumentIndex, vocabulary: Vocabulary) -> StatedDefinitions:
        """Read them off the sentences of an index."""
        found = []
        for number, segment in enumerate(index.segments):
            at = 0
            for sentence in _SENTENCE.split(segment.text):
                at = segment.text.index(sentence, at)
                for term, meaning, glossary in _defined(sentence):
                    ids = _known(term, vocabulary, but=number)
                    words = tuple(_forms(word) for word in _content(meaning))
                    if ids and 1 < len(words) <= _LONGEST:
                        span = segment.alignment.locate(at, at + len(sentence))
                        clause = _CLAUSE.search(sentence) is not None
                        found.append(
                            StatedDefinition(
                                term,
                                ids,
                                words,
                                _kind(meaning),
                                sentence,
                                span,
                                glossary,
                                clause,
                                number,
                                len(sentence) >= _WHOLE * len(segment.text),
                                _means_somebody(term, meaning),
                                tuple(
                                    sorted(
                                        {s for one in ids for s in vocabulary.postings.get(one, ())}
                                        - {number}
                                    )
                                ),
                            )
                        )
        return cls(tuple(found))

    def used(self, text: str) -> tuple[UsedDefinition, ...]:
        """Return the definitions in whose words a text asks."""
        return self._latest(text) if self.found else ()

    @cached_property
    def _latest(self) -> Callable[[str], tuple[UsedDefinition, ...]]:
        """Keep the answers of the latest texts: a question is looked at several times."""
        return lru_cache(maxsize=_TEXTS_KEPT)(self._used)

    def _used(self, text: str) -> tuple[UsedDefinition, ...]:
        places = [(m, _forms(m.group())) for m in _WORD.finditer(text)]
        said = frozenset().union(*(own for _, own in places))
        likely = sorted({number for form in said for number in self._saying.get(form, ())})
        return tuple(
            used
            for number in likely
            if not self._own[number] <= said
            and (used := _used(self.found[number], places)) is not None
        )

    def no_answers(self, text: str) -> tuple[int, ...]:
        """Return the segments that only say what words of a question mean.

        "A walkover is a win because nobody else turned up" does not say who won so, nor is "which
        rower got a win because nobody else turned up?" answered where nobody rows.
        """
        return tuple(dict.fromkeys(one.segment for one in self._no_answers(text)))

    def applying(self, text: str) -> tuple[int, ...]:
        """Return the segments that use the terms whose definitions do not answer a question."""
        return tuple(dict.fromkeys(at for one in self._no_answers(text) for at in one.used_in))

    def _no_answers(self, text: str) -> list[StatedDefinition]:
        question = _WH.match(text.strip())
        if question is None:
            return []
        who = _WHO.match(text.strip()) is not None
        return [
            used.definition
            for used in self.used(text)
            if used.definition.alone
            and ((who and not used.definition.somebody) or _asks_more(used, question))
        ]

    def glossed(self, text: str) -> str:
        """Return a text with the term for the words of its definition, or beside them."""
        for used in sorted(self.used(text), key=lambda each: -each.start)[:1]:
            before, after = text[: used.start], text[used.end :]
            article = _ARTICLE.search(before)
            if article or used.whole:
                start = article.start() if article else used.start
                text = f"{text[:start]}{used.definition.term.lower()}{after}"
            else:
                text = f"{text[: used.end]} ({used.definition.term.lower()}){after}"
        return text


@dataclass(frozen=True, slots=True)
class ExpandDefinition:
    """Offers the terms of a document for the words of a query that it defines them by."""

    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, query: Query, stated: StatedDefinitions) -> ExpandDefinition:
        """Make the edges for one query."""
        made = []
        for used in stated.used(query.text):
            for literal in query.literals:
                words = [_forms(word) for word in _content(literal.label)]
                covered = bool(words) and all(own & used.words for own in words)
                if covered and literal.kind not in _KEPT:
                    made += [
                        _edge(source, literal.terms[0], used) for source in used.definition.terms
                    ]
        return cls(tuple(made))

    def edges_into(self, term: str) -> Iterable[Edge]:
        """Offer the defined terms."""
        return [edge for edge in self.edges if edge.target == term and edge.source != term]


def _asks_more(used: UsedDefinition, question: re.Match[str]) -> bool:
    """Tell whether a question has words besides what is wanted that a definition does not say."""
    said = _forms_of(used.definition.quote)
    text, wanted = question.string, question["wanted"] or ""
    outside = f"{text[question.end() : used.start]} {text[used.end :]}"
    bases = wordnet().base_forms(wanted.casefold(), Pos.NOUN)
    people = any(map(is_person, bases)) and not used.definition.somebody
    bearer = _BEARER.match(text, question.end()) is not None and not _forms(wanted) & said
    # "in which device did two threads wait?" asks where, not what, "which device had" what has it
    if question["at"] or people or bearer:
        outside = f"{wanted} {outside}"
    words = _WORD.findall(outside)
    return any(own and not own & said for own in map(_forms, words))


def _edge(source: str, target: str, used: UsedDefinition) -> Edge:
    return Edge(
        source=source,
        target=target,
        relation=Relation.IMPLIES,
        family=Family.EXPRESSION,
        operator=DEFINITION,
        weight=OMEGA[Family.EXPRESSION],
        distance=0.0,
        truth_preserving=True,
        confidence=0.9,
        licence=Licence(LicenceKind.TEXT, used.definition.quote, used.definition.span),
    )


def _defined(sentence: str) -> Iterator[tuple[str, str, bool]]:
    """Go through the terms that a sentence defines, with what it says of them."""
    sentence = _MARKER.sub("", sentence)
    for number, form in enumerate(_FORMS):
        found = form.match(sentence)
        if found is not None and not _NO_PROSE.search(found["def"]):
            term = found["term"].strip(" *\"“”'‘’").removeprefix("To ").removeprefix("to ")
            if term and not _NO_TERMS & set(term.casefold().split()):
                # "frame (the input of a model)" says what it is there, and not what the word means
                aside = found["def"].startswith("the ") and sentence[found.start("def") - 1] == "("
                yield term, found["def"], number > 0 and not aside
                return
    acting = _ACTING.match(sentence)  # "Truancy is staying away from lessons"
    if acting is not None and _names_act(key(acting["term"])):
        yield acting["term"], acting["def"], True


def _names_act(noun: str) -> bool:
    """Tell whether a noun first of all means something that is done."""
    net = wordnet()
    return any(
        net.synset("event.n.01") in net.ancestors(s) for s in net.synsets(noun, Pos.NOUN)[:1]
    )


def _known(term: str, vocabulary: Vocabulary, *, but: int) -> tuple[str, ...]:
    """Return the ids under which a document speaks of a term elsewhere."""
    names = dict.fromkeys((key(term), key(term).removesuffix("s")))
    ids = [term_id(kind, name) for name in names for kind in _KINDS]
    if key(term).endswith("ing"):  # "subletting", of which the document says that somebody sublet
        ids += [term_id(TermKind.EVENT, verb) for verb in wordnet().base_forms(key(term), Pos.VERB)]
    ids += [known for name in names if (known := vocabulary.names.get(name))]
    return tuple(one for one in dict.fromkeys(ids) if set(vocabulary.postings.get(one, ())) - {but})


def _used(
    one: StatedDefinition, places: Sequence[tuple[re.Match[str], frozenset[str]]]
) -> UsedDefinition | None:
    """Tell where a query uses the words of a definition, None where it does not."""
    every = frozenset().union(*one.words)
    best: list[tuple[re.Match[str], frozenset[str]]] = []
    row: list[tuple[re.Match[str], frozenset[str]]] = []
    for place, own in places:
        if own & every:
            row.append((place, own & every))
        elif own:
            row = []
        best = max(best, row, key=len)
    shared = [
        number for number, words in enumerate(one.words) if any(own & words for _, own in best)
    ]
    # "Lienholder: a creditor who …", but no "covered" for "Covered Software of somebody"
    alone = one.glossary and shared == [0] and one.kind == 1
    enough = shared[:1] < [_FIRST] or len(shared) >= _SHARE * len(one.words)
    special = shared[-1:] >= [one.kind] or len(shared) >= _SHARE * len(one.words)
    if not alone and (len(shared) < 2 or not enough or not special):
        return None  # who asks for net income does not ask for "net income before interest"
    used = frozenset().union(*(own for _, own in best))
    whole = not one.clause and bool(best[0][1] & one.words[0])
    return UsedDefinition(one, best[0][0].start(), best[-1][0].end(), used, whole)


def _kind(meaning: str) -> int:
    """Return how many content words a definition has before it says which of the kind is meant."""
    return len(_content(_SPECIAL.split(meaning, maxsplit=1)[0]))


def _means_somebody(term: str, meaning: str) -> bool:
    """Tell whether a term is a word for people, so that its definition may say who."""
    kind = _content(_SPECIAL.split(meaning, maxsplit=1)[0])[-1:]
    nouns = [key(term).split()[-1], *(key(word) for word in kind)]
    bases = (base for noun in nouns for base in wordnet().base_forms(noun, Pos.NOUN))
    return any(is_person(base) for base in bases) or _SOMEBODY.search(meaning) is not None


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if _forms(word)]


def _forms(word: str) -> frozenset[str]:
    if not has_content(word.lower()) or word.lower() in _ASKING:
        return frozenset()
    return frozenset((*forms(word), *stemmed([word.casefold()])))


def _forms_of(text: str) -> frozenset[str]:
    return frozenset().union(*(_forms(word) for word in _WORD.findall(text)))


# A query in the words of the document, where a Background says what those are.
#
# A model that reads a question and a passage has not read the Background: a firm's own code for a
# part, or an old name of a disease, means nothing to it. What a query calls by such a name is put
# to models as the document calls it, and beside the asked name where that is only suggested.


@dataclass(frozen=True, slots=True)
class Glossary:
    """What a Background calls the things that a document names."""

    text: str  # of the document
    stated: Mapping[str, Sequence[str]]  # by the form of a name: all names of the thing, main first
    suggested: Mapping[str, Sequence[str]]  # by the form of a name: names it may stand for
    longest: Mapping[str, int]  # by its first word: how many words a name has at most

    @classmethod
    def of(cls, index: DocumentIndex) -> Glossary:
        """Read the names off an index."""
        groups = [(main, *others) for main, others in index.background.aliases.items()]
        stated = {folded(name): group for group in groups for name in group}
        suggested: dict[str, list[str]] = {}
        edges = sorted(filter(_suggests, index.map.edges), key=lambda e: (e.units, e.source))
        labels = {term.id: term.label for term in index.map.terms} if edges else {}
        for edge in edges:
            suggested.setdefault(folded(labels[edge.target]), []).append(labels[edge.source])
        longest: dict[str, int] = {}
        for form in (*stated, *suggested):
            first, *rest = form.split() or [""]
            longest[first] = max(longest.get(first, 0), 1 + len(rest))
        return cls(index.document.text, stated, suggested, longest)

    def told(self, query: Query) -> Query:
        """Return a query whose reading has the document's names."""
        reading = self.glossed(query.reading)
        return query if reading == query.reading else replace(query, glossed=reading)

    def glossed(self, text: str) -> str:
        """Return a text with what the document calls the things that it names."""
        found = dict.fromkeys(written_forms([text], self.longest) if self.longest else ())
        for form, written in sorted(found, key=lambda each: -len(each[1])):
            place = _found(written, text)
            if place is not None and _found(written, self.text) is None:
                put = self._said(form, written)
                text = f"{text[: place.start()]}{put}{text[place.end() :]}"
        return text

    def _said(self, form: str, written: str) -> str:
        """Return what stands for a name; the name itself where nothing does."""
        names = [name for name in self.stated.get(form, ()) if folded(name) != form]
        if names and agrees(_own(self.stated[form], form), [written]):
            return next((name for name in names if _found(name, self.text)), names[0])
        for name in self.suggested.get(form, ()):
            if _found(name, self.text):
                return f"{written} ({name})"
        return written


def _suggests(edge: Edge) -> bool:
    """Tell whether a Background suggests another name by an edge."""
    known = edge.licence.kind is LicenceKind.BACKGROUND
    return known and edge.family is Family.EXPRESSION and edge.relation is not Relation.EQUIVALENT


def _own(names: Sequence[str], form: str) -> str:
    return next(name for name in names if folded(name) == form)


def _found(name: str, text: str) -> re.Match[str] | None:
    """Find a name as whole words, its plural too; one in capitals only in capitals."""
    pattern = rf"(?<!\w){re.escape(name)}(?:e?s)?(?!\w)"
    return re.search(pattern, text, 0 if name.isupper() else re.IGNORECASE)
