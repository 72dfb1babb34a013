"""AbstRAG behind the protocol of the baselines, whole or with a part taken out, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from time import perf_counter
from typing import Any, Final

from abstrag.config import OMEGA, TAU, Settings
from abstrag.documents.clauses import with_clauses
from abstrag.errors import InputError
from abstrag.indexing.pipeline import fingerprint, index
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import (
    Block,
    BlockKind,
    Cell,
    Document,
    Metadata,
    OffsetMap,
    Quote,
    Span,
    Table,
)
from abstrag.model.index import Context, DocumentIndex
from abstrag.model.query import Bridge
from abstrag.model.ranking import Hit, Ranking
from abstrag.model.term import Edge, LicenceKind
from abstrag.neural.aligner import default_aligner
from abstrag.neural.judge import default_judge
from abstrag.neural.whole_text import default_encoder
from abstrag.search.query.operators import OPERATORS
from abstrag.search.relevance import DEFAULT_PRESET, PRESETS, Preset, Signal
from abstrag.search.trace import ALIGN_WORDS
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.baselines.system import TABULAR, Element, ElementKind, Pool, Ranked
from abstrag_bench.shared import layer_cache

# From a pool to a document: one block for each element, so that the index chain sees the page.
#
# Headings, headers and captions are written into the text once and are no candidates themselves.
# A table row or cell becomes a table of one wide cell under its head cells: that gives the
# segment its own headers, whatever shape the rest of the table has.

_KINDS: Final = {
    ElementKind.SENTENCE: BlockKind.PARAGRAPH,
    ElementKind.PARAGRAPH: BlockKind.PARAGRAPH,
    ElementKind.LIST_ITEM: BlockKind.LIST_ITEM,
    ElementKind.CAPTION: BlockKind.CAPTION,
    ElementKind.TABLE_ROW: BlockKind.TABLE,
    ElementKind.TABLE_CELL: BlockKind.TABLE,
}


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """A document made of a pool, and which of its blocks is which element."""

    document: Document
    elements: dict[int, str]  # block → element id

    def element_ids(self, index: DocumentIndex) -> list[str]:
        """Return the element each segment of an index of this document belongs to."""
        return [self.elements[segment.block] for segment in index.segments]


def to_document(pool: Pool) -> PooledDocument:
    """Write a pool out as a document."""
    page = _Page()
    page.heading(pool.title, (), level=1)
    elements: dict[int, str] = {}
    here: tuple[str, ...] = ()
    for element in pool.elements:
        if element.section != here:
            page.enter(element.section, here)
            here = element.section
        elements[len(page.blocks)] = element.id
        page.element(element)
    document = Document(
        id=pool.id,
        title=pool.title,
        text="".join(page.written),
        blocks=tuple(page.blocks),
        metadata=Metadata(date=pool.date, genre=pool.genre, format="pool"),
    )
    return PooledDocument(with_clauses(document), elements)


class _Page:
    """The text written so far, its blocks, and where headers and captions already stand."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.blocks: list[Block] = []
        self._length = 0
        self._quotes: dict[str, Quote] = {}

    def write(self, text: str) -> Span:
        """Append a line and say where its words are."""
        start = self._length
        self.written.append(text + "\n")
        self._length += len(text) + 1
        return Span(start, start + len(text))

    def quote(self, text: str) -> Quote:
        """Return a header or caption, written where it is first needed."""
        if text not in self._quotes:
            self._quotes[text] = Quote(text, self.write(text))
        return self._quotes[text]

    def heading(self, text: str, section: tuple[str, ...], *, level: int) -> None:
        """Add a heading."""
        self._block(BlockKind.HEADING, text, self.write(text), section, level=level)

    def enter(self, section: tuple[str, ...], before: tuple[str, ...]) -> None:
        """Add the headings on the way from one section into another."""
        shared = 0
        while shared < min(len(section), len(before)) and section[shared] == before[shared]:
            shared += 1
        for depth in range(shared, len(section)):
            self.heading(section[depth], section[:depth], level=depth + 2)

    def element(self, element: Element) -> None:
        """Add the block of one candidate."""
        text = element.text.replace("\n", " ")  # character for character, so spans still hold
        table = None
        if element.kind in TABULAR:
            heads = [self.quote(header) for header in element.headers]
            caption = self.quote(element.caption) if element.caption else None
            span = self.write(text)
            width = max(len(heads), 1)
            cells = [Cell(0, i, head.text, head.span, header=True) for i, head in enumerate(heads)]
            row = 1 if heads else 0
            table = Table((*cells, Cell(row, 0, text, span, column_span=width)), caption)
        else:
            span = self.write(text)
            if element.kind is ElementKind.CAPTION:
                self._quotes.setdefault(text, Quote(text, span))
        self._block(_KINDS[element.kind], text, span, element.section, table=table)

    def _block(
        self,
        kind: BlockKind,
        text: str,
        span: Span,
        section: tuple[str, ...],
        *,
        level: int | None = None,
        table: Table | None = None,
    ) -> None:
        alignment = OffsetMap(((0, span.start),))
        self.blocks.append(
            Block(kind, text, span, alignment, section=section, level=level, table=table)
        )


# What every costed edge weighs when types do not count: the mean of the four families' ω. The
# distance δ stays, for it is about the two terms and not about the kind of step between them.
UNIFORM_WEIGHT: Final = sum(OMEGA[f] for f in ("expression", "concept", "intent", "event")) / 4


RANKS: Final = "by score, hits beside"  # other records do not belong into the same run


class SharedIndexer:
    """Indexes a document once for all variants that want it; keeps the last few.

    Variants open the index in one workspace, whose store remembers what the shipped models said,
    so that they are not asked the same twice. What belongs to a document that is dropped goes too.
    """

    def __init__(self, keep: int = 1, background: Background = EMPTY) -> None:
        self._keep = keep
        self._background = background
        self._made: dict[str, tuple[Pool, PooledDocument, DocumentIndex]] = {}

    @cached_property
    def workspace(self) -> Workspace:
        """Where documents are opened; it lives and dies with the process."""
        return Workspace(WorkspaceConfig(store=":memory:"))

    def __call__(self, pool: Pool) -> tuple[PooledDocument, DocumentIndex]:
        """Return the document of a pool and its index."""
        known = self._made.get(pool.id)
        if known is None or known[0] is not pool:  # one id may name two pools of two data sets
            while len(self._made) >= self._keep or pool.id in self._made:
                self._drop(pool.id if pool.id in self._made else next(iter(self._made)))
            pooled = to_document(pool)
            made = index(
                pooled.document,
                background=self._background,
                settings=Settings(granularity=pool.granularity.value),
                cache=layer_cache(),
            )
            known = self._made[pool.id] = pool, pooled, made
        return known[1], known[2]

    def _drop(self, name: str) -> None:
        _, _, made = self._made.pop(name)
        self.workspace.store.forget(made.document.content_hash)


@dataclass(slots=True)
class AbstragSystem:
    """The searcher of one document, and the element each of its segments belongs to."""

    name: str = "abstrag"
    preset: Preset = DEFAULT_PRESET
    tau: float = TAU
    without: frozenset[str] = frozenset()  # query operators
    lifting: bool = True
    bridges: bool = True  # else a literal is met by the same word or an inflection alone
    uniform: bool = False
    patched: bool = False  # patches that somebody has kept hold; a measurement leaves them out
    indexer: SharedIndexer = field(default_factory=SharedIndexer)
    _document: SearchableDocument | None = None
    _elements: Sequence[str] = ()
    _distinct: int = 0

    @property
    def fidelity(self) -> str:
        """What this variant is."""
        parts = [f"ours, preset {self.preset.name}, τ {self.tau:g}, local mode, no language model"]
        if self.without:
            parts.append(f"without the query operator {', '.join(sorted(self.without))}")
        if not self.bridges:
            parts.append("without any bridge")
        if not self.lifting:
            parts.append("without context lifting")
        if self.uniform:
            parts.append(f"every costed edge weighs {UNIFORM_WEIGHT:g}")
        return "; ".join(parts)

    @property
    def state(self) -> str:
        """A hash of the chain and of every number that scoring uses."""
        parts = (fingerprint(), self.preset, self.tau, sorted(self.without), self.lifting)
        models = (
            default_judge().fingerprint if self.preset.judge_weight else "",
            default_encoder().fingerprint if self.preset.dense_weight else "",
            default_aligner().fingerprint if self.preset.alignment_weight else "",
        )
        rest = (self.uniform, self.bridges, sorted(OMEGA.items()), models, RANKS)
        return sha256(repr((*parts, *rest)).encode()).hexdigest()[:16]

    @property
    def options(self) -> SearchOptions:
        """How the documents are opened."""
        return SearchOptions(
            preset=self.preset,
            tau=self.tau,
            without=self.without if self.bridges else frozenset((*OPERATORS, ALIGN_WORDS)),
            patched=self.patched,
            reprice=uniform_edge if self.uniform else None,
        )

    @property
    def document(self) -> SearchableDocument:
        """The document that was indexed last, opened as a user opens it."""
        assert self._document is not None
        return self._document

    def index(self, document: Pool) -> None:
        """Run the index chain, take out what this variant does without, and open the document."""
        pooled, made = self.indexer(document)
        self._elements = pooled.element_ids(made)
        self._distinct = len(set(self._elements))
        if not (self.lifting and self.bridges):
            made = without_context(made)
        if not self.bridges:
            made = replace(made, map=replace(made.map, edges=()))
        self._document = self.indexer.workspace.document(made, self.options)

    def element(self, position: int) -> str:
        """Return the element that a segment of the document indexed last belongs to."""
        return self._elements[position]

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return self.search_explained(query, k)[0]

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say which of them a user is shown and what that rests on.

        The ranks are all segments by their score, whether they are hits or not.
        """
        started = perf_counter()
        ranking = self.document.search(query, k=k)
        seconds = perf_counter() - started
        shown = tuple(self._best(ranking.hits))
        split = len(self._elements) - self._distinct  # an element may be more than one segment
        wide = k + min(split, k)
        every = self._best(self.document.search(query, k=wide, fill=True).hits)
        ranked = dict(list(every.items())[:k])
        told = {
            **_told(ranking, ranked),
            "retrieved": len(shown),
            "hits": shown,
            "seconds": round(seconds, 6),
        }
        return [(name, hit.relevance) for name, hit in ranked.items()], told

    def _best(self, hits: Sequence[Hit]) -> dict[str, Hit]:
        """Return the elements that hits belong to, each with its best one, in their order."""
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(self._elements[hit.position], hit)
        return best


def _told(ranking: Ranking, hits: Mapping[str, Hit]) -> dict[str, Any]:
    """Return the record's fields that only a trace can fill."""
    accepted = next((hit for hit in hits.values() if hit.trace.reachable), None)
    first = next(iter(hits.values()), None)
    return {
        "tau": ranking.tau,
        "bridge_cost": accepted.trace.bridge_cost if accepted else None,
        "clause": tuple(map(_bridge, accepted.trace.bridges)) if accepted else None,
        "utility": first.utility if first else None,
        "judgements": ranking.judgements,
        "llm_calls": 0,
        "patched": tuple(name for name, hit in hits.items() if _by_patch(hit)),
        "details": {
            "preset": ranking.preset,
            "touched": ranking.touched,
            "segments": ranking.segments,
            "match": [round(hit.match, 6) for hit in hits.values()],
            "gap": [round(hit.gap, 4) for hit in hits.values()],
            "utility": [round(hit.utility, 6) for hit in hits.values()],
            "share": [round(hit.trace.share, 6) for hit in hits.values()],
            "bridge_cost": [hit.trace.bridge_cost for hit in hits.values()],
        },
    }


def _bridge(bridge: Bridge) -> str:
    return f"{bridge.source} → {bridge.target} [{bridge.family.value} {bridge.cost:.2f}]"


def _by_patch(hit: Hit) -> bool:
    """True when a way this segment meets a literal leads over a bridge that a patch added."""
    bridges = [*hit.trace.bridges, *(b for one in hit.trace.literals for b in one.bridges)]
    return any(b.licence is not None and b.licence.kind is LicenceKind.PATCH for b in bridges)


def without_context(made: DocumentIndex) -> DocumentIndex:
    """Return an index whose segments lean on no context."""
    records = tuple(replace(record, context=Context()) for record in made.records)
    return replace(made, records=records)


def uniform_edge(edge: Edge) -> Edge:
    """Return an edge whose weight does not depend on its family."""
    return edge if edge.truth_preserving else replace(edge, weight=UNIFORM_WEIGHT)


# AbstRAG by name: whole, under each preset, and less one part at a time.

# nothing but the judge has a say, about every segment
JUDGE_ONLY: Final = Preset(
    "judge-only", utility_power=0.0, gap_rate=0.0, coverage_weight=0.0, judge_weight=1.0
)


def ablations(preset: Preset = DEFAULT_PRESET) -> dict[str, dict[str, Any]]:
    """Return the variants of AbstRAG by name, as what differs from the whole under a preset."""
    found: dict[str, dict[str, Any]] = {
        "abstrag": {},
        "abstrag-no-utility": {"preset": replace(preset, name="no-utility", utility_power=0.0)},
        "abstrag-judge-only": {"preset": JUDGE_ONLY},
        "abstrag-exact": {"preset": replace(preset, name="exact", judged=None)},
        "abstrag-no-gap": {"preset": replace(preset, name="no-gap", gap_rate=0.0)},
        "abstrag-no-bridges": {"bridges": False},
        "abstrag-uniform": {"uniform": True},
        "abstrag-no-context": {"lifting": False},
    }
    for signal in Signal:
        if any(weight for other, weight in preset.weights.items() if other is not signal):
            found[f"abstrag-no-{signal.value}"] = {"preset": preset.without(signal)}
    for operator in OPERATORS:
        found[f"abstrag-no-{operator}"] = {"without": frozenset({operator})}
    return found


def variant_names() -> tuple[str, ...]:
    """Return every name of ours; `abstrag@PRESET` is the whole under that preset."""
    return (*ablations(), *(f"abstrag@{name}" for name in sorted(PRESETS)))


def build_variant(
    name: str, base: str, given: Mapping[str, Any], indexer: SharedIndexer
) -> AbstragSystem:
    """Make a variant; those that share an indexer have a document indexed once for all of them."""
    variant, _, preset = base.partition("@")
    whole = PRESETS.get(preset, DEFAULT_PRESET)
    variants = ablations(whole)
    if variant not in variants or (preset and preset not in PRESETS):
        raise InputError(
            f"no system is called {base!r}", hint=f"of ours there are: {', '.join(variant_names())}"
        )
    options = dict(variants[variant])
    chosen: Preset = options.pop("preset", whole)
    numbers = dict(given)
    tau = float(numbers.pop("tau", TAU))
    if numbers:
        chosen = replace(chosen, name=f"{chosen.name}+", **numbers)
    return AbstragSystem(name, chosen, tau, indexer=indexer, **options)
