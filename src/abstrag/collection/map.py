"""The abstraction map of a collection: the documents' maps side by side, and merges between them.

Every node is a term of a document. Documents come and go in any order; what follows from them is
worked out when somebody looks, for the names in question, and is the same as if all documents had
been there from the start.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import Final

import numpy as np

from abstrag.collection.entries import Entries, EventReport, NamedThing, mentioned
from abstrag.collection.homonyms import form, is_short
from abstrag.collection.map_referents import MergePath, Referents
from abstrag.collection.map_store import MapTables, Node
from abstrag.collection.merge import (
    Bearer,
    Cited,
    DocumentTerm,
    Merge,
    MergeReason,
    NameSense,
    Refusal,
    is_contested,
    joined,
)
from abstrag.config import COST_UNIT
from abstrag.model.distances import event_distance
from abstrag.model.record import record
from abstrag.model.term import Family, Interval, TermKind
from abstrag.stores.protocol import Store

# Events across documents: reports that may be of one event, and those that cannot.
#
# An event of one document and one of another are merged when they are of one type, everybody who
# takes part may be taken for the same, and their times agree. The merge presupposes the merges of
# the participants and pays for them as well.

_MOST_QUOTED = 4


@dataclass(frozen=True, slots=True)
class _LocatedReport:
    document: str
    happening: EventReport

    @property
    def node(self) -> DocumentTerm:
        """The node of this report: the event, and its place in the document."""
        span = self.happening.licence.span
        return DocumentTerm(self.document, f"{self.happening.event}@{span.start if span else 0}")


MergePathsFrom = Callable[[DocumentTerm], Mapping[DocumentTerm, MergePath]]


def merged_events(
    told: Mapping[str, Sequence[EventReport]],
    referent: Callable[[DocumentTerm], DocumentTerm],
    merge_paths: MergePathsFrom,
) -> tuple[list[Merge], list[Refusal]]:
    """Return the merges of events, and the events that their times keep apart.

    `referent` names the thing a node is taken for, `merge_paths` says what it costs to.
    """
    groups: defaultdict[tuple[str, tuple[DocumentTerm, ...]], list[_LocatedReport]] = defaultdict(
        list
    )
    for document in sorted(told):
        for happening in told[document]:
            named = {referent(DocumentTerm(document, term)) for _, term in happening.participants}
            groups[happening.event, tuple(sorted(named))].append(
                _LocatedReport(document, happening)
            )
    merges: list[Merge] = []
    refusals: list[Refusal] = []
    for (event, who), reports in sorted(groups.items()):
        if len({t.document for t in reports}) > 1:
            name = _called(event, who)
            _by_time(name, reports, merge_paths, merges, refusals)
    return merges, refusals


def _by_time(
    name: str,
    reports: list[_LocatedReport],
    merge_paths: MergePathsFrom,
    merges: list[Merge],
    refusals: list[Refusal],
) -> None:
    """Group events whose times agree; one that fits two times joins neither."""
    parts: list[tuple[Interval, list[_LocatedReport]]] = []
    doubtful: list[_LocatedReport] = []
    dated = [t for t in reports if t.happening.when is not None]
    for report in sorted(dated, key=_narrow):
        when = report.happening.when
        assert when is not None
        fitting = [members for own, members in parts if own.overlaps(when)]
        if len(fitting) == 1:
            fitting[0].append(report)
        elif fitting:
            doubtful.append(report)
        else:
            parts.append((when, [report]))
    if len(parts) > 1:
        refusals.append(_refused(name, "the times differ", parts))
    if doubtful:
        open_ = [(t.happening.when, [t]) for t in doubtful if t.happening.when is not None]
        refusals.append(_refused(name, "the time fits several of them", open_))
    undated = [t for t in reports if t.happening.when is None]
    groups = [members for _, members in parts] or [[]]
    if len(groups) == 1:
        groups[0].extend(undated)
    several = (group for group in groups if len({t.document for t in group}) > 1)
    merges.extend(_merge(name, group, merge_paths) for group in several)


def _merge(name: str, reports: Sequence[_LocatedReport], merge_paths: MergePathsFrom) -> Merge:
    undated = any(t.happening.when is None for t in reports)
    coerced = max(t.happening.coerced for t in reports)
    own = event_distance(unfilled=int(undated), coerced=coerced, artifact=False)
    members = tuple(sorted({t.node for t in reports}))
    cited = {t.node: Cited(t.document, t.happening.licence) for t in reports}
    return Merge(
        name=name,
        family=Family.EVENT,
        evidence=MergeReason.HAPPENING,
        members=members,
        distance=round(own + _presupposed(reports, merge_paths) / COST_UNIT, 4),
        licences=tuple(cited[node] for node in members[:_MOST_QUOTED]),
    )


def _presupposed(reports: Sequence[_LocatedReport], merge_paths: MergePathsFrom) -> int:
    """Return the cost of taking the participants of any two events for the same."""
    terms = sorted(
        {DocumentTerm(t.document, term) for t in reports for _, term in t.happening.participants}
    )
    dearest: defaultdict[DocumentTerm, int] = defaultdict(int)
    for node in terms:
        reached = merge_paths(node)
        group = min((node, *reached))
        for other in terms:
            if other in reached:
                dearest[group] = max(dearest[group], reached[other].units)
    return sum(dearest.values())


def _narrow(report: _LocatedReport) -> tuple[int, str, str, DocumentTerm]:
    when = report.happening.when
    assert when is not None
    return -_shared_prefix(when), when.start, when.end, report.node


def _shared_prefix(when: Interval) -> int:
    """Count the leading characters of an ISO date that a time fixes: a day 10, a year 5."""
    pairs = zip(when.start, when.end, strict=True)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(when.start))


def _called(event: str, who: Sequence[DocumentTerm]) -> str:
    names = ", ".join(node.term.partition(":")[2] for node in who)
    return f"{event.partition(':')[2]}({names})"


def _refused(
    name: str, reason: str, parts: Sequence[tuple[Interval, Sequence[_LocatedReport]]]
) -> Refusal:
    sides = tuple(
        NameSense(
            when.start if when.start == when.end else f"{when.start} to {when.end}",
            tuple(sorted({t.node for t in reports})),
        )
        for when, reports in parts
    )
    return Refusal(name, reason, sides)


_RARE_SHARE: Final = 0.01  # of the documents that a name may stand in and still be rare
_RARE_DOCUMENTS: Final = 3  # that it may stand in anyhow
_MOST_NODES: Final = 4096  # of names that were worked out and are kept
_NOTHING_NEAR: Final = np.empty(0, np.uint32)
_CONCEPT: Final = f"{TermKind.CONCEPT.value}:"


@record
class Thing:
    """What the collection takes for one thing: its nodes, and what each document says of it."""

    label: str
    nodes: tuple[DocumentTerm, ...]
    names: tuple[tuple[str, tuple[Cited, ...]], ...]  # how else documents call it, in which words
    classes: tuple[tuple[str, tuple[Cited, ...]], ...]
    kinds: tuple[str, ...]

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents that name it, sorted."""
        return tuple(sorted({node.document for node in self.nodes}))


@dataclass(frozen=True, slots=True)
class Related:
    """Connected names, and how the nodes that bear them are merged."""

    names: Mapping[str, int]  # by form, the numbers under which they are kept
    referents: Referents
    entries: Mapping[DocumentTerm, NamedThing]
    contested: frozenset[str]  # short forms that stand for different things

    @property
    def merges(self) -> Sequence[Merge]:
        """What may be taken for one thing."""
        return self.referents.told

    @property
    def refusals(self) -> Sequence[Refusal]:
        """What was not merged, and why."""
        return self.referents.refusals

    def things(self, wanted: Collection[str] | None = None) -> Iterator[Thing]:
        """Go through what the names stand for, or through the bearers of some forms."""
        for nodes in self.referents.groups():
            entries = [(node, self.entries[node]) for node in nodes]
            if wanted is None or any(
                not set(wanted).isdisjoint(entry.forms) for _, entry in entries
            ):
                yield _thing(entries)


class CollectionMap:
    """The union of documents' maps with provenance, and what may be merged across them.

    Entries lie in tables, of which only the names in question are read. Adding and removing a
    document costs as much as the document is long.
    """

    def __init__(
        self, documents: Mapping[str, Entries] | None = None, *, tables: MapTables | None = None
    ) -> None:
        self._tables = MapTables() if tables is None else tables
        self._related: OrderedDict[int, Related] = OrderedDict()  # the last ones, by `id`
        self._by_name: dict[str, Related] = {}  # the same by form
        self._nodes = 0  # of them together
        for document, entries in (documents or {}).items():
            self.add(document, entries)

    def add(self, document: str, entries: Entries) -> None:
        """Add a document, or replace its earlier entries."""
        self._tables.add(document, entries)
        self._forget()

    def remove(self, document: str) -> None:
        """Remove a document and everything it licensed."""
        self._tables.remove(document)
        self._forget()

    def close(self) -> None:
        """Close the file; an unused map does so when it is collected."""
        self._tables.close()

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents it is made of, sorted."""
        return self._tables.documents

    @property
    def concepts(self) -> Mapping[str, tuple[str, ...]]:
        """The documents of every concept that is mentioned and not an entry of its own."""
        found = groupby(self._tables.concepts(), key=itemgetter(0))
        return {concept: tuple(where for _, where in own) for concept, own in found}

    def entries(self, document: str) -> Entries:
        """Return what a document contributes."""
        return self._tables.entries(document)

    def entry(self, node: DocumentTerm) -> NamedThing:
        """Return what a document says of a thing; a mere mention says nothing but its name."""
        return self._tables.entry(node) or mentioned(node.term)

    def bearer(self, node: DocumentTerm) -> Bearer:
        """Return a node with the rare names near it that can join it to others."""
        near = self._tables.near(node)
        rare = self._rare(near.tolist())
        return Bearer(node, self.entry(node), frozenset(token for token, _ in rare.values()))

    def referent(self, node: DocumentTerm) -> DocumentTerm:
        """Return the representative of all nodes that are taken for the same thing as this one."""
        related = self._around(self.entry(node).forms)
        return related.referents.root(node) if node in related.entries else node

    def merge_paths(self, node: DocumentTerm) -> dict[DocumentTerm, MergePath]:
        """Return every node that may be taken for the same thing, with the cheapest chain to it."""
        related = self._around(self.entry(node).forms)
        return related.referents.merge_paths(node) if node in related.entries else {}

    def informative_paths(self, node: DocumentTerm) -> dict[DocumentTerm, MergePath]:
        """Return the ways to nodes that state something of the same thing: names or classes."""
        related = self._around(self.entry(node).forms)
        if node not in related.entries:
            return {}
        return related.referents.merge_paths(node, related.referents.informative(node))

    def is_contested(self, form: str) -> bool:
        """True for a short form that documents use for different things."""
        return self._tables.name(form) is not None and form in self._around({form}).contested

    def nodes(self, document: str) -> Iterator[DocumentTerm]:
        """Go through the nodes of a document that other documents may speak of."""
        entries = self.entries(document)
        for entry in entries.entries:
            yield DocumentTerm(document, entry.term)
        for concept in entries.concepts:
            if _is_phrase(concept) and any(
                self._tables.name(one) is not None for one in mentioned(concept).forms
            ):
                yield DocumentTerm(document, concept)

    def related(self, term: str | None = None) -> Iterator[Related]:
        """Yield groups of connected names, all or those around a term, each once.

        They are worked out as they are asked for: what is made of the last few is kept.
        """
        found: Iterable[tuple[int, str]] = self._tables.names()
        if term is not None:
            numbers = ((self._tables.name(one), one) for one in sorted(forms_of_text(term)))
            found = [(number, one) for number, one in numbers if number is not None]
        seen = bytearray(self._tables.last_name // 8 + 1)  # a bit for each name
        for number, one in found:
            if not seen[number // 8] & 1 << number % 8:
                related = self._around({one})
                for own in related.names.values():
                    seen[own // 8] |= 1 << own % 8
                yield related

    def merges(self, term: str | None = None) -> Iterator[Merge]:
        """Go through the merges, those of events last; or through those of one name."""
        for related in self.related(term):
            yield from related.merges
        if term is None:
            yield from (found for found in self.events() if isinstance(found, Merge))

    def refusals(self, term: str | None = None) -> Iterator[Refusal]:
        """Go through what was not merged, and why."""
        for related in self.related(term):
            yield from related.refusals
        if term is None:
            yield from (found for found in self.events() if isinstance(found, Refusal))

    def things(self, term: str | None = None) -> Iterator[Thing]:
        """Go through what the collection names, each thing once; or through one name's bearers."""
        wanted = None if term is None else forms_of_text(term)
        for related in self.related(term):
            yield from related.things(wanted)

    def events(self) -> Iterator[Merge | Refusal]:
        """Yield the merges of events, and the events that their times keep apart."""
        for event in self._tables.events():
            told = self._tables.happenings(event)
            merges, refusals = merged_events(told, self.referent, self.merge_paths)
            yield from merges
            yield from refusals

    def _around(self, forms: Iterable[str]) -> Related:
        """Work out the referents of all names that are connected with some names."""
        wanted = sorted(forms)
        known = next((self._by_name[one] for one in wanted if one in self._by_name), None)
        if known is not None:
            self._related.move_to_end(id(known))
            return known
        numbers, names, nodes = self._connected(wanted)
        entries = {node: found.entry for node, found in nodes.items()}
        merges: list[Merge] = []
        refusals: list[Refusal] = []
        contested: set[str] = set()
        if len({node.document for node in nodes}) > 1:
            rare = self._rare({n for found in nodes.values() for n in found.near.tolist()})
            often = dict(rare.values())
            bearers = {
                node: Bearer(
                    node,
                    found.entry,
                    frozenset(rare[n][0] for n in found.near.tolist() if n in rare),
                )
                for node, found in nodes.items()
            }
            for name, members in sorted(names.items()):
                own = [bearers[node] for node in sorted(members)]
                if is_contested(name, own):
                    contested.add(name)
                for each in joined(name, own, often.__getitem__):
                    if isinstance(each, Merge):
                        merges.append(each)
                    else:
                        refusals.append(each)
        made = Related(numbers, Referents(entries, merges, refusals), entries, frozenset(contested))
        self._keep(made)
        return made

    def _connected(
        self, forms: Iterable[str]
    ) -> tuple[dict[str, int], dict[str, set[DocumentTerm]], dict[DocumentTerm, Node]]:
        """Follow names to their bearers and bearers to their other names, until nothing is new.

        Returns:
            The names with their numbers, the nodes of each name, and all the nodes.
        """
        numbers: dict[str, int] = {}
        names: dict[str, set[DocumentTerm]] = {}
        nodes: dict[DocumentTerm, Node] = {}
        queue = list(forms)
        while queue:
            name = queue.pop()
            if name in names:
                continue
            number = self._tables.name(name)
            own = [] if number is None else self._tables.bearers(number, nodes)
            if number is not None:
                numbers[name] = number
            own += self._mentions(name, own, nodes)
            names[name] = {found.node for found in own}
            for found in own:
                if found.node not in nodes:
                    nodes[found.node] = found
                    queue.extend(found.entry.forms)
        return numbers, {name: members for name, members in names.items() if members}, nodes

    def _mentions(
        self, name: str, bearers: Iterable[Node], known: Mapping[DocumentTerm, Node]
    ) -> list[Node]:
        """Return the documents that mention a concept of which only others state something."""
        terms = {found.node.term for found in bearers if _is_phrase(found.node.term)}
        found = (
            DocumentTerm(document, term)
            for term in sorted(terms)
            if name in mentioned(term).forms
            for document in self._tables.mentions(term)
        )
        return [
            known.get(node) or Node(node, mentioned(node.term), _NOTHING_NEAR) for node in found
        ]

    def _rare(self, near: Iterable[int]) -> dict[int, tuple[str, int]]:
        """Return those of some names that are rare, each with the number of its documents."""
        most = max(_RARE_DOCUMENTS, ceil(_RARE_SHARE * self._tables.size))
        return self._tables.rare(near, most=most)

    def _keep(self, made: Related) -> None:
        """Cache the latest result, and earlier ones as far as there is room."""
        self._related[id(made)] = made
        self._by_name |= dict.fromkeys(made.names, made)
        self._nodes += len(made.entries)
        while self._nodes > _MOST_NODES and len(self._related) > 1:
            _, oldest = self._related.popitem(last=False)
            self._nodes -= len(oldest.entries)
            for name in oldest.names:
                del self._by_name[name]

    def _forget(self) -> None:
        self._related.clear()
        self._by_name.clear()
        self._nodes = 0


def collection_map(store: Store) -> CollectionMap:
    """Return the map of all documents of a store; what is missing is made and kept."""
    return CollectionMap(tables=MapTables.of_store(store))


def _is_phrase(term: str) -> bool:
    return term.startswith(_CONCEPT) and " " in term


def forms_of_text(text: str) -> set[str]:
    """Return the forms under which a name is looked up."""
    return {one for one in (form(text), form(text.upper())) if one}


def _thing(entries: list[tuple[DocumentTerm, NamedThing]]) -> Thing:
    labels = Counter(entry.label for _, entry in entries)
    names: defaultdict[str, dict[Cited, None]] = defaultdict(dict)
    classes: defaultdict[str, dict[Cited, None]] = defaultdict(dict)
    for node, entry in entries:
        for name in entry.names:
            if name.licence is not None:
                names[name.surface][Cited(node.document, name.licence)] = None
        for said in entry.classes:
            classes[said.label][Cited(node.document, said.licence)] = None
    return Thing(
        label=min(labels, key=lambda one: (is_short(one), -labels[one], one)),
        nodes=tuple(node for node, _ in entries),
        names=tuple((one, tuple(names[one])) for one in sorted(names)),
        classes=tuple((one, tuple(classes[one])) for one in sorted(classes)),
        kinds=tuple(sorted({kind for _, entry in entries for kind in entry.kinds})),
    )
