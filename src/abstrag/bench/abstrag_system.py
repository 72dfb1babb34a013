"""AbstRAG behind the protocol of the baselines, whole or with a part taken out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Final

from abstrag.baselines.pool import Pool
from abstrag.baselines.system import Ranked
from abstrag.bench.pool import PooledDocument, to_document
from abstrag.bench.shared import layer_cache
from abstrag.config import OMEGA, TAU, Settings
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import fingerprint, index
from abstrag.model.context import Context
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Bridge
from abstrag.model.ranking import Hit, Ranking
from abstrag.model.term import Edge, LicenceKind
from abstrag.neural.embedder import default_embedder
from abstrag.neural.judge import default_judge
from abstrag.query.operator import QueryOperator
from abstrag.rank.relevance import DEFAULT_PRESET, Preset

# What every costed edge weighs when types do not count: the mean of the four families' ω. The
# distance δ stays, for it is about the two terms and not about the kind of step between them.
UNIFORM_WEIGHT: Final = sum(OMEGA[f] for f in ("expression", "concept", "intent", "event")) / 4


class BriefMemory:
    """What models said about the documents at hand; lives and dies with the process."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str, str], dict[bytes, bytes]] = {}

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return the values of those keys that are remembered."""
        known = self._said.get((kind, content_hash, model), {})
        return {key: known[key] for key in keys if key in known}

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep values by their keys."""
        self._said.setdefault((kind, content_hash, model), {}).update(values)

    def forget(self) -> None:
        """Drop everything."""
        self._said.clear()


class Indexer:
    """Indexes a document once for all variants that want it; keeps the last few.

    `memory` is what the shipped models said so far, for variants that ask them the same.
    """

    def __init__(self, keep: int = 1) -> None:
        self._keep = keep
        self.memory = BriefMemory()
        self._made: dict[str, tuple[Pool, PooledDocument, DocumentIndex]] = {}

    def __call__(self, pool: Pool) -> tuple[PooledDocument, DocumentIndex]:
        """Return the document of a pool and its index."""
        known = self._made.get(pool.id)
        if known is None or known[0] is not pool:  # one id may name two pools of two data sets
            pooled = to_document(pool)
            settings = Settings(granularity=pool.granularity.value)
            made = index(pooled.document, settings=settings, cache=layer_cache())
            known = pool, pooled, made
            while len(self._made) >= self._keep:
                del self._made[next(iter(self._made))]
            if self._keep == 1:
                self.memory.forget()
            self._made[pool.id] = known
        return known[1], known[2]


@dataclass(slots=True)
class AbstragSystem:
    """The searcher of one document, and the element each of its segments belongs to."""

    name: str = "abstrag"
    preset: Preset = DEFAULT_PRESET
    tau: float = TAU
    without: frozenset[str] = frozenset()  # query operators
    lifting: bool = True
    uniform: bool = False
    indexer: Indexer = field(default_factory=Indexer)
    _searcher: Searcher | None = None
    _elements: Sequence[str] = ()
    _distinct: int = 0

    @property
    def fidelity(self) -> str:
        """What this variant is."""
        parts = [f"ours, preset {self.preset.name}, τ {self.tau:g}, local mode, no language model"]
        if self.without:
            parts.append(f"without the query operator {', '.join(sorted(self.without))}")
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
            default_embedder().fingerprint if self.preset.dense_weight else "",
        )
        rest = (self.uniform, sorted(OMEGA.items()), models)
        return sha256(repr((*parts, *rest)).encode()).hexdigest()[:16]

    @property
    def searcher(self) -> Searcher:
        """The searcher of the document that was indexed last."""
        assert self._searcher is not None
        return self._searcher

    def index(self, document: Pool) -> None:
        """Run the index chain, and take out what this variant does without."""
        pooled, made = self.indexer(document)
        self._elements = pooled.element_ids(made)
        self._distinct = len(set(self._elements))
        kind = _UniformSearcher if self.uniform else Searcher
        if not self.lifting:
            made = without_context(made)
        if self.uniform:
            edges = tuple(uniform_edge(edge) for edge in made.map.edges)
            made = replace(made, map=replace(made.map, edges=edges))
        self._searcher = kind(
            made, preset=self.preset, without=self.without, memory=self.indexer.memory
        )

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return self.search_explained(query, k)[0]

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what the ranking rests on."""
        assert self._searcher is not None
        split = len(self._elements) - self._distinct  # an element may be more than one segment
        wide = k + min(split, k)
        ranking = self._searcher.search(query, k=wide, tau=self.tau, fill=True)
        best: dict[str, Hit] = {}
        for hit in ranking.hits:
            best.setdefault(self._elements[hit.position], hit)
        hits = dict(list(best.items())[:k])
        return [(name, hit.relevance) for name, hit in hits.items()], _told(ranking, hits)


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


@dataclass(frozen=True, slots=True)
class _UniformOperator:
    """An operator whose offers all weigh the same."""

    operator: QueryOperator
    name: ClassVar[str] = "uniform"

    def admits(self, edge: Edge) -> bool:
        return self.operator.admits(edge)

    def edges_into(self, term: str) -> Iterable[Edge]:
        return (uniform_edge(edge) for edge in self.operator.edges_into(term))


class _UniformSearcher(Searcher):
    """A searcher to which every costed step is as dear as any other."""

    @cached_property
    def _operators(self) -> tuple[Any, ...]:
        return tuple(_UniformOperator(operator) for operator in super()._operators)
