"""Merges: which bearers of one name may be taken for one thing, at what cost and why.

A merge is a bridge. It always costs something, for no document can vouch for what another one
means, and it names what licenses it. It holds between any two of its members. A shared name alone
licenses none: two documents that say "Paris" are joined by what else they say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final, NamedTuple

from abstrag.collection.entries import NamedThing
from abstrag.collection.homonyms import (
    BearerKind,
    grouped_long_forms,
    is_full,
    is_short,
    is_sure,
    is_unique,
    kinds_clash,
    persons_clash,
)
from abstrag.config import COST_UNIT, OMEGA
from abstrag.language.spelling import fold
from abstrag.language.words import key
from abstrag.model.distances import expression_distance
from abstrag.model.record import record
from abstrag.model.term import Family, Licence

_MOST_QUOTED: Final = 3  # licences a merge keeps, the first by document


class DocumentTerm(NamedTuple):
    """A term of a document: the same term of another document is another node."""

    document: str
    term: str


class MergeReason(StrEnum):
    """What joins the members of a merge; said after "they are taken for one because"."""

    SAME_NAMES = "each document states both names"
    FULL_NAME = "the full name is the same"
    LEXICON = "WordNet knows one bearer of the name"
    CLASS = "the stated class is the same"
    CONTEXT = "the same rare name stands near it"
    WORDING = "the long forms differ in wording only"
    ALIAS = "no document gives the short form another meaning"
    HAPPENING = "event, participants and time agree"


@record
class Cited:
    """A licence and the document whose words it quotes."""

    document: str
    licence: Licence


@record
class Merge:
    """Members that may be taken for one thing; any two of them are one such step apart."""

    name: str
    family: Family
    evidence: MergeReason
    members: tuple[DocumentTerm, ...]
    distance: float
    shared: str = ""  # the class or the rare name that joins them
    licences: tuple[Cited, ...] = ()

    @property
    def weight(self) -> float:
        """ω of its family."""
        return OMEGA[self.family]

    @property
    def units(self) -> int:
        """The cost in 1/10,000; no merge is free."""
        return max(1, round((self.weight + self.distance) * COST_UNIT))

    @property
    def cost(self) -> float:
        """ω + δ."""
        return self.units / COST_UNIT

    @property
    def truth_preserving(self) -> bool:
        """Never."""
        return False

    @property
    def why(self) -> str:
        """What joins the members, in words."""
        return f"{self.evidence.value} (“{self.shared}”)" if self.shared else self.evidence.value


@record
class NameSense:
    """Bearers of a name that one thing may be."""

    label: str
    members: tuple[DocumentTerm, ...]


@record
class Refusal:
    """Bearers of one name that stay apart, and why."""

    name: str
    reason: str
    sides: tuple[NameSense, ...]


@dataclass(frozen=True, slots=True)
class Bearer:
    """A node that bears the name in question, and the rare names that stand near it."""

    node: DocumentTerm
    entry: NamedThing
    near: frozenset[str]

    def long_form(self, short: str) -> Licence | None:
        """Return what licenses a short form as a name of this thing, if the document states it."""
        if is_short(self.entry.label):
            return None
        found = (n.licence for n in self.entry.names if n.licence and n.form == short)
        return next(found, None)


Found = Iterator[Merge | Refusal]


def is_contested(name: str, bearers: Sequence[Bearer]) -> bool:
    """True for a short form that documents use for different things."""
    long_forms = [b.entry.label for b in bearers if name.startswith("=") and b.long_form(name)]
    return len(grouped_long_forms(long_forms)) > 1


def joined(name: str, bearers: Sequence[Bearer], df: Callable[[str], int]) -> Found:
    """Go through the merges and refusals among the bearers of a form; order does not matter."""
    bearers = sorted(bearers, key=lambda b: b.node)
    if not _several(bearers):
        return
    if name.startswith("~"):
        yield from _people(name, bearers, df)
        return
    rule = _short if name.startswith("=") else _spelled
    found = list(rule(name, bearers, df))
    yield from found
    if not found:
        shown = min(b.entry.label for b in bearers)
        yield from _apart(shown, "nothing but the name is shared", bearers)


def _short(name: str, bearers: Sequence[Bearer], df: Callable[[str], int]) -> Found:
    """Join bearers of a short form by what documents say it stands for."""
    stating = [b for b in bearers if b.long_form(name)]
    bare = [b for b in bearers if not b.long_form(name)]
    groups = grouped_long_forms([b.entry.label for b in stating])
    sides = [[b for b in stating if b.entry.label in set(group)] for group in groups]
    for side in sides:
        yield from _worded(name[1:], name, side)
    parts, rest = _assigned(sides, bare)
    if len(sides) > 1:
        labels = [side[0].entry.label for side in sides]
        yield _refusal(name[1:], f"it stands for {len(sides)} things", labels, sides)
        yield from _apart(name[1:], "nothing near it says which of them is meant", rest)
    elif sides and is_sure(name[1:]):
        yield from _stated(name, sides[0], bare)
    for part in parts if len(sides) > 1 else [bearers]:
        yield from _by_context(name[1:], part, 0.0, df)


def _worded(shown: str, short: str, stating: Sequence[Bearer]) -> Found:
    """Join documents that give a short form the same long form, or the same in other words."""
    by_fold: defaultdict[str, list[Bearer]] = defaultdict(list)
    for bearer in stating:
        by_fold[fold(bearer.entry.label)].append(bearer)
    for same in by_fold.values():
        if _several(same):
            label = same[0].entry.label
            yield _merge(
                f"{label} ({shown})",
                MergeReason.SAME_NAMES,
                same,
                0.0,
                licences=_quoted(same, short),
            )
    if len(by_fold) > 1 and _several(stating):
        far = max(
            expression_distance(a, b, guessed=True)
            for a, b in combinations([same[0].entry.label for same in by_fold.values()], 2)
        )
        yield _merge(shown, MergeReason.WORDING, stating, far, licences=_quoted(stating, short))


def _stated(name: str, stating: Sequence[Bearer], bare: Sequence[Bearer]) -> Found:
    """Take undefined uses of a short form for the one thing that documents say it stands for."""
    counts: defaultdict[str, int] = defaultdict(int)
    for bearer in stating:
        counts[bearer.entry.label] += 1
    label = min(counts, key=lambda one: (-counts[one], one))
    far = expression_distance(key(name[1:]), key(label), guessed=True)
    sides, undecided = _by_kind([*stating, *bare])
    if len(sides) > 1:
        yield _kind_refusal(name[1:], sides)
        return
    members = [b for side in sides for b in side] + undecided
    if bare and _several(members):
        quoted = _quoted(stating, name)
        yield _merge(f"{label} ({name[1:]})", MergeReason.ALIAS, members, far, licences=quoted)


def _people(name: str, bearers: Sequence[Bearer], df: Callable[[str], int]) -> Found:
    """Join names of one surname and first letter, where the same rare names stand near them."""
    far = max(
        (
            expression_distance(key(a), key(b), guessed=False)
            for a, b in combinations(sorted({b.entry.label for b in bearers}), 2)
        ),
        default=0.0,
    )
    sides: list[list[Bearer]] = []
    for bearer in (b for b in bearers if is_full(b.entry.label)):
        fitting = [s for s in sides if not persons_clash(bearer.entry.label, s[0].entry.label)]
        if fitting:
            fitting[0].append(bearer)
        else:
            sides.append([bearer])
    parts, _ = _assigned(sides, [b for b in bearers if not is_full(b.entry.label)])
    shown = name[1:]
    if len(sides) > 1:
        labels = [side[0].entry.label for side in sides]
        yield _refusal(shown, "the given names differ", labels, sides)
    for part in parts if len(sides) > 1 else [bearers]:
        yield from _by_context(shown, part, far, df)


def _spelled(name: str, bearers: Sequence[Bearer], df: Callable[[str], int]) -> Found:
    """Join bearers of a name that is written out."""
    shown = min(b.entry.label for b in bearers)
    full = any(is_full(n.surface) for b in bearers for n in b.entry.names if n.form == name)
    sides, undecided = _by_kind(bearers)
    parts, rest = _assigned(sides, undecided)
    if len(sides) > 1:
        yield _kind_refusal(shown, sides)
        yield from _apart(shown, "nothing near it says which of them is meant", rest)
    for part in parts if len(sides) > 1 else [list(bearers)]:
        if (full or is_unique(shown)) and _several(part):
            evidence = MergeReason.FULL_NAME if full else MergeReason.LEXICON
            yield _merge(shown, evidence, part, expression_distance("", "", guessed=True))
            continue
        yield from _by_class(shown, part)
        yield from _by_context(shown, part, 0.0, df)


def _by_class(shown: str, bearers: Sequence[Bearer]) -> Found:
    """Join bearers of a name of which documents state the same class."""
    classed: defaultdict[str, list[Bearer]] = defaultdict(list)
    for bearer in bearers:
        for said in bearer.entry.classes:
            classed[said.term].append(bearer)
    for term in sorted(classed):
        if _several(classed[term]):
            stated = [(b, c) for b in classed[term] for c in b.entry.classes if c.term == term]
            quoted = tuple(Cited(b.node.document, c.licence) for b, c in stated[:_MOST_QUOTED])
            far = expression_distance("", "", guessed=True)
            label = stated[0][1].label
            yield _merge(shown, MergeReason.CLASS, classed[term], far, label, quoted)


def _by_context(
    shown: str, bearers: Sequence[Bearer], far: float, df: Callable[[str], int]
) -> Found:
    """Join bearers of a name near which the same rare names stand, the rarest first."""
    holders: defaultdict[str, list[Bearer]] = defaultdict(list)
    for bearer in bearers:
        for token in bearer.near:
            holders[token].append(bearer)
    guess = expression_distance("", "", guessed=True)
    for token in sorted(holders, key=lambda t: (df(t), t)):
        if _several(holders[token]):
            rare = token.partition(":")[2]
            yield _merge(shown, MergeReason.CONTEXT, holders[token], far + guess, rare)


def _by_kind(bearers: Sequence[Bearer]) -> tuple[list[list[Bearer]], list[Bearer]]:
    """Part people from what is shown to be something else; the rest is undecided."""
    people = [b for b in bearers if b.entry.kinds == (BearerKind.PERSON,)]
    others = [b for b in bearers if kinds_clash(b.entry.kinds, (BearerKind.PERSON,))]
    taken = {b.node for b in (*people, *others)}
    return [s for s in (people, others) if s], [b for b in bearers if b.node not in taken]


def _assigned(
    sides: Sequence[Sequence[Bearer]], undecided: Sequence[Bearer]
) -> tuple[list[list[Bearer]], list[Bearer]]:
    """Put each undecided bearer with the one side it shares most rare names with.

    Those that share as many with two sides, or none with any, are a part of their own.
    """
    company: list[frozenset[str]] = [frozenset().union(*(b.near for b in s)) for s in sides]
    parts, rest = [list(side) for side in sides], []
    for bearer in undecided:
        scores = [len(bearer.near & names) for names in company]
        best = max(scores, default=0)
        if best and scores.count(best) == 1:
            parts[scores.index(best)].append(bearer)
        else:
            rest.append(bearer)
    return [*parts, rest], rest


def _several(bearers: Sequence[Bearer]) -> bool:
    return len({b.node.document for b in bearers}) > 1


def _merge(
    name: str,
    evidence: MergeReason,
    bearers: Sequence[Bearer],
    far: float,
    shared: str = "",
    licences: tuple[Cited, ...] = (),
) -> Merge:
    members = tuple(sorted({b.node for b in bearers}))
    return Merge(name, Family.EXPRESSION, evidence, members, round(far, 4), shared, licences)


def _quoted(bearers: Sequence[Bearer], short: str) -> tuple[Cited, ...]:
    """Return the words by which documents state a short form, of the first few documents."""
    found = ((b.node.document, b.long_form(short)) for b in bearers)
    cited = [Cited(document, licence) for document, licence in found if licence is not None]
    return tuple(sorted(cited, key=lambda c: c.document)[:_MOST_QUOTED])


def _refusal(
    name: str, reason: str, labels: Sequence[str], sides: Sequence[Sequence[Bearer]]
) -> Refusal:
    made = tuple(
        NameSense(label, tuple(sorted(b.node for b in side)))
        for label, side in zip(labels, sides, strict=True)
    )
    return Refusal(name, reason, made)


def _kind_refusal(name: str, sides: Sequence[Sequence[Bearer]]) -> Refusal:
    labels = [" or ".join(sorted({k for b in side for k in b.entry.kinds})) for side in sides]
    return _refusal(name, "it is shown to be things of different kinds", labels, sides)


def _apart(name: str, reason: str, bearers: Sequence[Bearer]) -> Iterator[Refusal]:
    if bearers:
        yield _refusal(name, reason, [b.entry.label for b in bearers], [[b] for b in bearers])


def by_member(merges: Sequence[Merge]) -> Mapping[DocumentTerm, tuple[int, ...]]:
    """Return the places of the merges each node is a member of."""
    found: defaultdict[DocumentTerm, list[int]] = defaultdict(list)
    for place, merge in enumerate(merges):
        for node in merge.members:
            found[node].append(place)
    return {node: tuple(places) for node, places in found.items()}
