"""The overlay: searching a document under a state, sharing all that the state leaves as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Protocol

from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from abstrag.language.words import key
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import StepPrice, TimeWindow
from abstrag.model.segment import Segment
from abstrag.model.term import Edge, Family, Interval, Licence, LicenceKind, Mention, Relation
from abstrag.refine.state import Programs, State
from abstrag.search.bridges.paths import EdgeSource
from abstrag.search.costed_index import CostedIndex
from abstrag.search.document_words import forms
from abstrag.search.families import step_family
from abstrag.search.precedents import unsettled
from abstrag.search.query.operators import interval_of
from abstrag.search.scoring import Scoring

_KEEP: Final = 8  # patched indexes at hand: a cycle goes to and fro between a few states
_SOURCES_KEPT: Final = 64  # of one patched index
_SENSE: Final = re.compile(r"\.[a-z]\.\d+$")  # of a term that is a sense of WordNet: boat.n.01
_WORDS: Final = ("concept:", "event:")  # terms that are named by words, not by names or numbers


class StatefulSearch(Protocol):
    """A system that can be searched under any state, as refinement needs it."""

    def scoring(self, query: str, state: State) -> Scoring:
        """Score a query against the document under a state."""
        ...


class Overlay:
    """Searches one document under a state; `plain` scores a query without any patch."""

    def __init__(self, plain: Callable[[str], Scoring]) -> None:
        self._plain = plain
        self._queries: dict[str, Scoring] = {}
        self._patched: dict[str, PatchedIndex] = {}

    def scoring(self, query: str, state: State) -> Scoring:
        """Return the scoring under a state; the question is read the same under every state."""
        if query not in self._queries:
            self._queries[query] = self._plain(query)
        plain = self._queries[query]
        granted = state.programs.budget(query)
        tau = plain.tau if granted is None else max(plain.tau, granted)
        patched = self._index(plain, state)
        alignment = plain.alignment
        if alignment is not None and (state.programs.steps or state.programs.precedents):
            known = unsettled(state.programs.precedents, query, plain.document.document)
            alignment = replace(alignment, steps=state.programs.steps, precedents=known)
        return replace(
            plain,
            index=patched.index,
            sources=patched.sources(plain.sources),
            tau=tau,
            alignment=alignment,
        )

    def _index(self, plain: Scoring, state: State) -> PatchedIndex:
        """Return the index under a state; cached for the few states of a cycle."""
        name = repr(
            (state.map, replace(state.programs, edits=(), budgets=(), precedents=(), base=""))
        )
        if name not in self._patched:
            while len(self._patched) >= _KEEP:
                del self._patched[next(iter(self._patched))]
            self._patched[name] = PatchedIndex(plain.index, plain.document, state)
        return self._patched[name]


class PatchedIndex:
    """The costed index under a state, and the same changes applied to other sources of edges."""

    def __init__(self, index: CostedIndex, document: DocumentIndex, state: State) -> None:
        self._programs = programs = state.programs
        if _reprices(programs):
            index = index.with_edges(_adjusted(index.edges, programs))
        edges = tuple(_adjusted(state.map.edges, programs))
        mentions = mentions_of(state.map.surfaces, document.segments)
        self.index = index.updated(mentions=mentions, edges=edges) if edges or mentions else index
        self._own: tuple[EdgeSource, ...] = ()
        if programs.windows:
            times = {t.id: t.interval for t in document.map.terms if t.interval is not None}
            self._own = (_Windows(programs.windows, times),)
        confirmed = tuple(step for step in programs.steps if not step.refuses)
        if confirmed:
            self._own = (*self._own, _Confirmed(confirmed, _by_form(document)))
        self._known: dict[int, _Adjusted] = {}  # by identity: a graph is kept per set of sources

    def sources(self, given: tuple[EdgeSource, ...]) -> tuple[EdgeSource, ...]:
        """Return the sources as they are under the state; the same ones for the same ones."""
        if not _reprices(self._programs):
            return (*given, *self._own)
        adjusted = [self._adjusted(source) for source in given]
        return (*adjusted, *self._own)

    def _adjusted(self, source: EdgeSource) -> _Adjusted:
        """Return a source under the state; a model proposes new ones with every query."""
        found = self._known.get(id(source))
        if found is None:
            found = _Adjusted(source, self._programs)
            self._known[id(source)] = found
            while len(self._known) > _SOURCES_KEPT:
                self._known.pop(next(iter(self._known)), None)
        return found


def _reprices(programs: Programs) -> bool:
    """Tell whether a state changes the price of edges or bars some."""
    refused = any(step.refuses for step in programs.steps)
    return bool(programs.weights or programs.restrictions or refused)


def _adjusted(edges: Sequence[Edge], programs: Programs) -> Iterator[Edge]:
    """Go through edges at the weights in force, less those that are restricted."""
    weights = dict(programs.weights)
    barred = {(r.source, r.target) for r in programs.restrictions}
    floors = [step for step in programs.steps if step.refuses]
    for edge in edges:
        if edge.truth_preserving:
            yield edge  # a premise: neither priced nor barred
        elif edge.family is not Family.CONCEPT or (edge.source, edge.target) not in barred:
            weight = weights.get(edge.family)
            priced = edge if weight is None else replace(edge, weight=weight)
            yield _floored(priced, floors)


def _floored(edge: Edge, floors: Sequence[StepPrice]) -> Edge:
    """Return an edge at the minimum cost set by a person who refused the step."""
    for step in floors:
        if step.family in (None, edge.family) and _leads(edge, step):
            distance = max(edge.distance, round(step.at_least - edge.weight, 4))
            edge = replace(edge, distance=distance)
    return edge


def _leads(edge: Edge, step: StepPrice) -> bool:
    ends = ((edge.source, step.said), (edge.target, step.asked))
    return all(not set(_forms(term)).isdisjoint(forms(word)) for term, word in ends)


def _forms(term: str) -> tuple[str, ...]:
    """What makes the word of a term the same as another word; that of a sense is its first name."""
    return forms(_SENSE.sub("", term.partition(":")[2]).replace("_", " "))


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """Offers the steps that a person confirmed, between the terms of document and query."""

    steps: tuple[StepPrice, ...]
    terms: Mapping[str, tuple[str, ...]]  # form of a word, the terms it names

    def edges_into(self, term: str) -> Iterator[Edge]:
        own = set(_forms(term))
        for step in self.steps:
            if own.isdisjoint(forms(step.asked)):
                continue
            family = Family(step_family(step.asked, step.said))
            sources = {t for form in forms(step.said) for t in self.terms.get(form, ())}
            for source in sorted(sources - {term}):
                said = f"{step.said} → {step.asked}"
                yield _patched(source, term, family, "confirmed", DELTA_EXPR_ALIAS, said)


def _patched(
    source: str, target: str, family: Family, operator: str, distance: float, said: str
) -> Edge:
    """Return an edge that a patch licenses."""
    return Edge(
        source,
        target,
        Relation.IMPLIES,
        family,
        operator,
        OMEGA[family],
        distance,
        truth_preserving=False,
        confidence=0.5,
        licence=Licence(LicenceKind.PATCH, said),
    )


def _by_form(document: DocumentIndex) -> dict[str, tuple[str, ...]]:
    """Return the terms of a document that are things or events, by the forms of their words."""
    found: dict[str, tuple[str, ...]] = {}
    for term in document.map.terms:
        if term.id.startswith(_WORDS) and "." not in term.id:
            for form in _forms(term.id):
                found[form] = (*found.get(form, ()), term.id)
    return found


@dataclass(frozen=True, slots=True)
class _Adjusted:
    """A source whose offers are priced and barred like the edges of the map."""

    source: EdgeSource
    programs: Programs

    def edges_into(self, term: str) -> Iterator[Edge]:
        return _adjusted(tuple(self.source.edges_into(term)), self.programs)


@dataclass(frozen=True, slots=True)
class _Windows:
    """Offers the times of the document that lie in a widened window."""

    windows: tuple[TimeWindow, ...]
    times: dict[str, Interval]

    def edges_into(self, term: str) -> Iterator[Edge]:
        for window in self.windows:
            if window.target != term or (asked := interval_of(term)) is None:
                continue
            for source, own in sorted(self.times.items()):
                if source != term and window.window.contains(own) and not asked.overlaps(own):
                    delta = round(away(own, asked) / reach(asked), 4)
                    said = f"window {window.target}"
                    yield _patched(source, term, Family.EXPRESSION, "time", delta, said)


def away(own: Interval, asked: Interval) -> int:
    """Return how many days lie between two times; 0 when they touch or share one."""
    gap = max(
        date.fromisoformat(own.start) - date.fromisoformat(asked.end),
        date.fromisoformat(asked.start) - date.fromisoformat(own.end),
    )
    return max(0, gap.days - 1)


def reach(asked: Interval) -> int:
    """Return how many days a window may be widened by: as long as what was asked, a month at least.

    It is also the scale of δ, so that a time at the far end costs 1 and one next door nothing.
    """
    length = date.fromisoformat(asked.end) - date.fromisoformat(asked.start) + timedelta(days=1)
    return max(31, length.days)


def mentions_of(
    surfaces: Sequence[tuple[str, str]], segments: Sequence[Segment]
) -> tuple[Mention, ...]:
    """Find the places of the text that read like these surfaces, whole words only."""
    found = []
    for surface, term in surfaces:
        if not key(surface):
            continue
        parts = re.split(r"[\s-]+", key(surface))
        pattern = re.compile(r"(?<!\w)" + r"[\s‐‑-]+".join(map(re.escape, parts)) + r"(?!\w)", re.I)
        for position, segment in enumerate(segments):
            found += [
                Mention(term, position, m.start(), m.end()) for m in pattern.finditer(segment.text)
            ]
    return tuple(found)
