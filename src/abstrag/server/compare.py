"""The same question put to BM25 and to a dense retriever, over the same segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstrag.baselines.registry import build_baseline
from abstrag.baselines.system import Element, ElementKind, Pool, System
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking

RIVALS = ("bm25", "dense")


def rivals_of(index: DocumentIndex) -> dict[str, System]:
    """Build the rivals for one document; the dense one embeds every segment."""
    pool = pool_of(index)
    systems = {name: build_baseline(name) for name in RIVALS}
    for system in systems.values():
        system.index(pool)
    return systems


def pool_of(index: DocumentIndex) -> Pool:
    """Return a document's segments as the candidates of a baseline."""
    return Pool(
        id=index.document.id,
        title=index.document.title,
        elements=tuple(
            Element(
                id=segment.id,
                text=segment.text,
                kind=ElementKind(segment.kind.value),
                section=segment.section,
                headers=tuple(header.text for header in segment.headers),
            )
            for segment in index.segments
        ),
        granularity=index.granularity,
    )


def compared(
    ranking: Ranking, rivals: Mapping[str, System], query: str, *, k: int
) -> dict[str, Any]:
    """Return our ranking and the first k of everybody else; what scores nothing is no hit."""
    ours = [(hit.segment, hit.relevance) for hit in ranking.hits]
    ranked = {"abstrag": ours} | {name: one.search(query, k) for name, one in rivals.items()}
    return {
        "systems": {
            name: [{"segment": segment, "score": score} for segment, score in hits if score > 0]
            for name, hits in ranked.items()
        }
    }
