"""NormQuery with a model: it says which of the query's words are conditions, rules say which terms.

A model marks words of the query; each mark is read by the same rules that read whole queries, so
its literals have the same terms, senses and weights as any other. Names, times and quantities that
the rules see always stay; other conditions that only the rules see stay with half their weight, for
a small model overlooks some. Words that are not in the query are dropped. A scope is a filter that
may hide everything, so it stays with the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from typing import Final
from typing import Literal as Choice

from abstrag.errors import InputError
from abstrag.language.spelling import places
from abstrag.language.words import key
from abstrag.llm.prompt import Prompt
from abstrag.model.query import Literal, LiteralKind, Query
from abstrag.model.record import record
from abstrag.search.query.normalize import normalize
from abstrag.search.query.vocabulary import Vocabulary, weighted

_MAX_TOKENS: Final = 1024
_UNMARKED: Final = 0.5  # what a condition that the model did not mark keeps of its weight
_PLAIN: Final = frozenset({LiteralKind.ENTITY, LiteralKind.TIME, LiteralKind.QUANTITY})
_SLOTS: Final = ("who", "whom")  # that a frame may be asked to fill
_NOUNS: Final = frozenset({LiteralKind.CONCEPT, LiteralKind.ROLE, LiteralKind.RELATION})
# A word by itself is easily taken for a name; in its frame the parser sees what kind it is.
_FRAMES: Final[Mapping[LiteralKind, tuple[str, ...]]] = {
    LiteralKind.ENTITY: ("{}",),
    LiteralKind.TIME: ("{}",),
    LiteralKind.QUANTITY: ("{}",),
    LiteralKind.EVENT: ("the {}", "they {}", "they {} it"),
    LiteralKind.CONCEPT: ("the {}", "{}"),
    LiteralKind.ROLE: ("the {}", "{}"),
    LiteralKind.RELATION: ("the {}", "{}"),
}
_ACCEPTS: Final[Mapping[LiteralKind, frozenset[LiteralKind]]] = {
    **{kind: frozenset({kind}) for kind in LiteralKind},
    **dict.fromkeys(_NOUNS, _NOUNS),
}


@record
class ModelLiteral:
    """A condition as the program reports it."""

    kind: LiteralKind
    quote: str
    negated: bool
    slots: tuple[Choice["who", "whom", "when", "where"], ...]


@record
class ModelQuery:
    """The reply of the program `normalize_query`."""

    literals: tuple[ModelLiteral, ...]
    answer_type: str


@dataclass(frozen=True, slots=True)
class Normalized:
    """A query as a model cut it up, and how much of the model's cutting was of no use."""

    query: Query
    call: str
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class NormalizeQuery:
    """Turns a question or claim into literals, with a model's help."""

    prompt: Prompt

    def __call__(
        self,
        text: str,
        vocabulary: Vocabulary,
        *,
        today: date | None = None,
        own: Query | None = None,
    ) -> Normalized:
        """Return the query; where a model's reply has nothing of use it is the rules' query.

        Args:
            text: The question or claim.
            vocabulary: The terms of the document it is put to.
            today: What "last week" is reckoned from.
            own: The rules' query, where it was read already.

        Raises:
            InputError: The query is empty, too long, or holds nothing that can be looked for.
            ModelError: The model failed.
        """
        own = own or normalize(text, vocabulary, today=today)
        reply = self.prompt.ask(ModelQuery, {"query": text}, max_tokens=_MAX_TOKENS)
        return marked(own, reply.value, vocabulary, call=reply.call, today=today)


def marked(
    own: Query, said: ModelQuery, vocabulary: Vocabulary, *, call: str, today: date | None
) -> Normalized:
    """Return the rules' query with what a model marked in it."""
    reader = _Reader(own.text, own, vocabulary, today)
    found = [literal for one in said.literals for literal in reader.read(one)]
    if not found:
        return Normalized(own, call, reader.dropped)
    plain = [literal for literal in own.literals if literal.kind in _PLAIN]
    kinds = key(said.answer_type)
    subject = None if own.subject is None else own.literals[own.subject]
    literals = weighted([*plain, *found, *own.literals], vocabulary, subject=subject)
    literals = _lightened(literals, marked={one.terms for one in (*plain, *found)})
    terms = [literal.terms for literal in literals]
    kept = subject is not None and subject.terms in terms
    query = replace(
        own,
        literals=literals,
        subject=terms.index(subject.terms) if subject is not None and kept else None,
        answer_type=own.answer_type or kinds or None,
    )
    return Normalized(query, call, reader.dropped)


def _lightened(literals: Sequence[Literal], marked: Set[tuple[str, ...]]) -> tuple[Literal, ...]:
    """Take weight off the literals that a model did not mark; the sum stays 1."""
    shares = [one.weight * (1.0 if one.terms in marked else _UNMARKED) for one in literals]
    whole = sum(shares)
    return tuple(
        replace(one, weight=share / whole) for one, share in zip(literals, shares, strict=True)
    )


class _Reader:
    """Reads a model's marks in the light of what the rules make of the whole query."""

    def __init__(self, text: str, own: Query, vocabulary: Vocabulary, today: date | None) -> None:
        self.text = text
        self.own = {literal.terms: literal for literal in own.literals}
        self.vocabulary = vocabulary
        self.today = today
        self.dropped = 0

    def read(self, said: ModelLiteral) -> list[Literal]:
        """Return the literals of one mark; none when it marks nothing of the query."""
        quoted = next(places(self.text, said.quote), None) is not None
        found = self._parsed(said) if quoted else []
        if not found:
            self.dropped += 1
        return [replace(one, negated=one.negated or said.negated) for one in found]

    def _parsed(self, said: ModelLiteral) -> list[Literal]:
        """Read marked words as the rules read them in the query, or else as their kind demands."""
        fitting: list[Literal] = []
        for frame in _FRAMES[said.kind]:
            found = self._normalized(frame.format(said.quote))
            known = [self.own[one.terms] for one in found if one.terms in self.own]
            if known:
                return known
            if not fitting and all(one.kind in _ACCEPTS[said.kind] for one in found):
                fitting = found
        slots = tuple(slot for slot in _SLOTS if slot in said.slots)
        event = LiteralKind.EVENT
        return [replace(one, slots=slots if one.kind is event else ()) for one in fitting]

    def _normalized(self, words: str) -> list[Literal]:
        try:
            return list(normalize(words, self.vocabulary, today=self.today).literals)
        except InputError:
            return []  # words that say nothing by themselves
