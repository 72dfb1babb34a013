"""The abstraction map of a collection: the documents' maps side by side, and merges between them.

Every node is a term of a document. Documents come and go in any order; what follows from them is
worked out when somebody looks, for the names in question, and is the same as if all documents had
been there from the start.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from abstrag.collection.entries import Entries, Happening, NamedThing, mentioned
from abstrag.collection.homonyms import form, is_short
from abstrag.collection.map_referents import Referents, Way
from abstrag.collection.merge import (
    Bearer,
    Cited,
    DocumentTerm,
    Merge,
    MergeReason,
    Refusal,
    Side,
    is_contested,
    joined,
)
from abstrag.config import COST_UNIT
from abstrag.errors import UnknownDocument
from abstrag.model.distances import event_distance
from abstrag.model.record import record
from abstrag.model.term import Family, Interval, TermKind

# Events across documents: tellings that may be of one event, and those that cannot.
#
# An event of one document and one of another are merged when they are of one type, everybody who
# takes part may be taken for the same, and their times agree. The merge presupposes the merges of
# the participants and pays for them as well.

_MOST_QUOTED = 4


@dataclass(frozen=True, slots=True)
class _Telling:
    document: str
    happening: Happening

    @property
    def node(self) -> DocumentTerm:
        """The telling as a node: the event, and where the document tells it."""
        span = self.happening.licence.span
        return DocumentTerm(self.document, f"{self.happening.event}@{span.start if span else 0}")


Ways = Callable[[DocumentTerm], Mapping[DocumentTerm, Way]]


def merged_happenings(
    told: Mapping[str, Sequence[Happening]],
    referent: Callable[[DocumentTerm], DocumentTerm],
    ways: Ways,
) -> tuple[list[Merge], list[Refusal]]:
    """Return the merges of events, and the tellings that their times keep apart.

    `referent` names the thing a node is taken for, `ways` says what it costs to.
    """
    groups: defaultdict[tuple[str, tuple[DocumentTerm, ...]], list[_Telling]] = defaultdict(list)
    for document in sorted(told):
        for happening in told[document]:
            named = {referent(DocumentTerm(document, term)) for _, term in happening.participants}
            groups[happening.event, tuple(sorted(named))].append(_Telling(document, happening))
    merges: list[Merge] = []
    refusals: list[Refusal] = []
    for (event, who), tellings in sorted(groups.items()):
        if len({t.document for t in tellings}) > 1:
            name = _called(event, who)
            _by_time(name, tellings, ways, merges, refusals)
    return merges, refusals


def _by_time(
    name: str,
    tellings: list[_Telling],
    ways: Ways,
    merges: list[Merge],
    refusals: list[Refusal],
) -> None:
    """Put tellings together whose times agree; one that fits two times fits neither."""
    parts: list[tuple[Interval, list[_Telling]]] = []
    doubtful: list[_Telling] = []
    dated = [t for t in tellings if t.happening.when is not None]
    for telling in sorted(dated, key=_narrow):
        when = telling.happening.when
        assert when is not None
        fitting = [members for own, members in parts if own.overlaps(when)]
        if len(fitting) == 1:
            fitting[0].append(telling)
        elif fitting:
            doubtful.append(telling)
        else:
            parts.append((when, [telling]))
    if len(parts) > 1:
        refusals.append(_refused(name, "the times differ", parts))
    if doubtful:
        open_ = [(t.happening.when, [t]) for t in doubtful if t.happening.when is not None]
        refusals.append(_refused(name, "the time fits several of them", open_))
    undated = [t for t in tellings if t.happening.when is None]
    groups = [members for _, members in parts] or [[]]
    if len(groups) == 1:
        groups[0].extend(undated)
    several = (group for group in groups if len({t.document for t in group}) > 1)
    merges.extend(_merge(name, group, ways) for group in several)


def _merge(name: str, tellings: Sequence[_Telling], ways: Ways) -> Merge:
    undated = any(t.happening.when is None for t in tellings)
    coerced = max(t.happening.coerced for t in tellings)
    own = event_distance(unfilled=int(undated), coerced=coerced, artifact=False)
    members = tuple(sorted({t.node for t in tellings}))
    cited = {t.node: Cited(t.document, t.happening.licence) for t in tellings}
    return Merge(
        name=name,
        family=Family.EVENT,
        evidence=MergeReason.HAPPENING,
        members=members,
        distance=round(own + _presupposed(tellings, ways) / COST_UNIT, 4),
        licences=tuple(cited[node] for node in members[:_MOST_QUOTED]),
    )


def _presupposed(tellings: Sequence[_Telling], ways: Ways) -> int:
    """Return what it costs to take the participants of any two tellings for the same."""
    terms = sorted(
        {DocumentTerm(t.document, term) for t in tellings for _, term in t.happening.participants}
    )
    dearest: defaultdict[DocumentTerm, int] = defaultdict(int)
    for node in terms:
        reached = ways(node)
        group = min((node, *reached))
        for other in terms:
            if other in reached:
                dearest[group] = max(dearest[group], reached[other].units)
    return sum(dearest.values())


def _narrow(telling: _Telling) -> tuple[int, str, str, DocumentTerm]:
    when = telling.happening.when
    assert when is not None
    return -_shared_prefix(when), when.start, when.end, telling.node


def _shared_prefix(when: Interval) -> int:
    """Count the leading characters of an ISO date that a time fixes: a day 10, a year 5."""
    pairs = zip(when.start, when.end, strict=True)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(when.start))


def _called(event: str, who: Sequence[DocumentTerm]) -> str:
    names = ", ".join(node.term.partition(":")[2] for node in who)
    return f"{event.partition(':')[2]}({names})"


def _refused(
    name: str, reason: str, parts: Sequence[tuple[Interval, Sequence[_Telling]]]
) -> Refusal:
    sides = tuple(
        Side(
            when.start if when.start == when.end else f"{when.start} to {when.end}",
            tuple(sorted({t.node for t in tellings})),
        )
        for when, tellings in parts
    )
    return Refusal(name, reason, sides)


_RARE_SHARE: Final = 0.01  # of the documents that a name may stand in and still be rare
_RARE_DOCUMENTS: Final = 3  # that it may stand in anyhow
_CONCEPT: Final = f"{TermKind.CONCEPT.value}:"


@record
class Thing:
    """What the collection takes for one thing: its nodes, and what which document says of it."""

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
class _Resolved:
    """Referents of names that hang together, and the nodes they are made of."""

    referents: Referents
    entries: Mapping[DocumentTerm, NamedThing]
    contested: frozenset[str]  # short forms that stand for different things


class CollectionMap:
    """The union of documents' maps with provenance, and what may be merged across them.

    Adding and removing a document costs as much as the document is long.
    """

    def __init__(self, documents: Mapping[str, Entries] | None = None) -> None:
        self._documents: dict[str, Entries] = {}
        self._entries: dict[DocumentTerm, NamedThing] = {}
        self._bearers: defaultdict[str, set[DocumentTerm]] = defaultdict(set)  # by form
        self._concepts: defaultdict[str, set[str]] = defaultdict(set)  # concept → documents
        self._spread: Counter[str] = Counter()  # documents in which a name stands near something
        self._resolved: dict[str, _Resolved] = {}  # by form, as long as nothing changes
        for document, entries in (documents or {}).items():
            self.add(document, entries)

    def add(self, document: str, entries: Entries) -> None:
        """Take a document in, in place of what it said before."""
        if document in self._documents:
            self.remove(document)
        self._documents[document] = entries
        for entry in entries.entries:
            node = DocumentTerm(document, entry.term)
            self._entries[node] = entry
            for one in entry.forms:
                self._bearers[one].add(node)
        for concept in entries.concepts:
            self._concepts[concept].add(document)
        self._spread.update(entries.context)
        self._resolved.clear()

    def remove(self, document: str) -> None:
        """Let go of a document and of all it licensed."""
        entries = self.entries(document)
        del self._documents[document]
        for entry in entries.entries:
            node = DocumentTerm(document, entry.term)
            del self._entries[node]
            for one in entry.forms:
                self._bearers[one].discard(node)
                if not self._bearers[one]:
                    del self._bearers[one]
        for concept in entries.concepts:
            self._concepts[concept].discard(document)
            if not self._concepts[concept]:
                del self._concepts[concept]
        for token in entries.context:
            self._spread[token] -= 1
            if not self._spread[token]:
                del self._spread[token]
        self._resolved.clear()

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents it is made of, sorted."""
        return tuple(sorted(self._documents))

    @property
    def concepts(self) -> Mapping[str, tuple[str, ...]]:
        """The documents of every concept that is mentioned and not an entry of its own."""
        return {one: tuple(sorted(found)) for one, found in sorted(self._concepts.items())}

    def entries(self, document: str) -> Entries:
        """Return what a document contributes."""
        if document not in self._documents:
            raise UnknownDocument(
                f"the collection's map has no document {document!r}",
                hint="add its entries to the map first",
            )
        return self._documents[document]

    def entry(self, node: DocumentTerm) -> NamedThing:
        """Return what a document says of a thing; a mere mention says nothing but its name."""
        found = self._entries.get(node)
        return mentioned(node.term) if found is None else found

    def bearer(self, node: DocumentTerm) -> Bearer:
        """Return a node with the rare names that stand near it; one that joins nothing is none."""
        entry, context = self.entry(node), self._documents[node.document].context
        most = max(_RARE_DOCUMENTS, ceil(_RARE_SHARE * len(self._documents)))
        near = (context[i] for i in entry.near)
        return Bearer(node, entry, frozenset(t for t in near if 1 < self._spread[t] <= most))

    def referent(self, node: DocumentTerm) -> DocumentTerm:
        """Return the node that stands for all that are taken for the same thing as this one."""
        resolved = self._around(self.entry(node).forms)
        return resolved.referents.root(node) if node in resolved.entries else node

    def ways(self, node: DocumentTerm) -> dict[DocumentTerm, Way]:
        """Return every node that may be taken for the same thing, with the cheapest chain to it."""
        resolved = self._around(self.entry(node).forms)
        return resolved.referents.ways(node) if node in resolved.entries else {}

    def tellings(self, node: DocumentTerm) -> dict[DocumentTerm, Way]:
        """Return the ways to nodes that state something of the same thing: names or classes."""
        resolved = self._around(self.entry(node).forms)
        if node not in resolved.entries:
            return {}
        return resolved.referents.ways(node, resolved.referents.telling(node))

    def is_contested(self, form: str) -> bool:
        """True for a short form that documents use for different things."""
        return form in self._bearers and form in self._around({form}).contested

    def nodes(self, document: str) -> Iterator[DocumentTerm]:
        """Go through the nodes of a document that other documents may speak of."""
        entries = self.entries(document)
        for entry in entries.entries:
            yield DocumentTerm(document, entry.term)
        for concept in entries.concepts:
            if _is_phrase(concept) and not self._bearers.keys().isdisjoint(
                mentioned(concept).forms
            ):
                yield DocumentTerm(document, concept)

    def merges(self, term: str | None = None) -> Iterator[Merge]:
        """Go through the merges, those of events last; or through those of one name."""
        for resolved in self._all(term):
            yield from resolved.referents.told
        if term is None:
            yield from self._happenings()[0]

    def refusals(self, term: str | None = None) -> Iterator[Refusal]:
        """Go through what was not merged, and why."""
        for resolved in self._all(term):
            yield from resolved.referents.refusals
        if term is None:
            yield from self._happenings()[1]

    def things(self, term: str | None = None) -> Iterator[Thing]:
        """Go through what the collection names, each thing once; or through one name's bearers."""
        wanted = None if term is None else forms_of_text(term)
        for resolved in self._all(term):
            for nodes in resolved.referents.groups():
                entries = [(node, resolved.entries[node]) for node in nodes]
                if wanted is None or any(
                    not wanted.isdisjoint(entry.forms) for _, entry in entries
                ):
                    yield _thing(entries)

    def _happenings(self) -> tuple[list[Merge], list[Refusal]]:
        told = {d: entries.happenings for d, entries in sorted(self._documents.items())}
        return merged_happenings(told, self.referent, self.ways)

    def _all(self, term: str | None) -> Iterator[_Resolved]:
        """Go through the names that hang together, all or those around a term."""
        wanted = sorted(self._bearers) if term is None else sorted(forms_of_text(term))
        seen: set[int] = set()
        for one in wanted:
            if one in self._bearers:
                resolved = self._around({one})
                if id(resolved) not in seen:
                    seen.add(id(resolved))
                    yield resolved

    def _around(self, forms: Iterable[str]) -> _Resolved:
        """Work out the referents of all names that hang together with some."""
        wanted = sorted(forms)
        known = next((one for one in wanted if one in self._resolved), None)
        if known is not None:
            return self._resolved[known]
        names, nodes = self._connected(wanted)
        entries = {node: self.entry(node) for node in nodes}
        merges: list[Merge] = []
        refusals: list[Refusal] = []
        contested: set[str] = set()
        if len({node.document for node in nodes}) > 1:
            bearers = {node: self.bearer(node) for node in nodes}
            for name, members in sorted(names.items()):
                own = [bearers[node] for node in sorted(members)]
                if is_contested(name, own):
                    contested.add(name)
                for found in joined(name, own, self._spread.__getitem__):
                    if isinstance(found, Merge):
                        merges.append(found)
                    else:
                        refusals.append(found)
        made = _Resolved(Referents(entries, merges, refusals), entries, frozenset(contested))
        self._resolved.update(dict.fromkeys(names, made))
        return made

    def _connected(
        self, forms: Iterable[str]
    ) -> tuple[dict[str, set[DocumentTerm]], set[DocumentTerm]]:
        """Follow names to their bearers and bearers to their other names, until nothing is new."""
        names: dict[str, set[DocumentTerm]] = {}
        nodes: set[DocumentTerm] = set()
        queue = list(forms)
        while queue:
            name = queue.pop()
            if name in names:
                continue
            own = self._bearers.get(name, set())
            names[name] = own | self._mentions(name, own)
            for node in names[name] - nodes:
                nodes.add(node)
                queue.extend(self.entry(node).forms)
        return {name: members for name, members in names.items() if members}, nodes

    def _mentions(self, name: str, bearers: Iterable[DocumentTerm]) -> set[DocumentTerm]:
        """Return the documents that mention, and say nothing of, a concept others speak about."""
        terms = {node.term for node in bearers if _is_phrase(node.term)}
        return {
            DocumentTerm(document, term)
            for term in terms
            if name in mentioned(term).forms
            for document in self._concepts.get(term, ())
        }


def _is_phrase(term: str) -> bool:
    return term.startswith(_CONCEPT) and " " in term


def forms_of_text(text: str) -> set[str]:
    """Return what the name that somebody asks about is looked up by."""
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
