"""What every framework is given: passages with text, score and everything a hit says.

The metadata are made from the fields of a hit, so that what a hit says more goes along by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from abstrag.collection.filters import Filters
from abstrag.config import TAU
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import DEFAULT_K, Searcher
from abstrag.errors import ResourceMissing
from abstrag.indexing.pipeline import index
from abstrag.model.background import Background
from abstrag.model.ranking import Hit
from abstrag.model.record import to_data
from abstrag.search.relevance import DEFAULT_PRESET, Preset
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.options import chosen_preset


def missing(framework: str, extra: str, error: ImportError) -> ResourceMissing:
    """Return the error for a framework whose import failed."""
    return ResourceMissing(
        f"{framework} cannot be imported: {error}", hint=f"pip install 'abstrag[{extra}]'"
    )


SHOWN_TO_MODELS: Final = ("document", "title", "section", "page")  # the rest is for programs


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A piece of evidence: how it reads, how good it is, and what else is known of it."""

    text: str
    score: float
    metadata: dict[str, Any]

    @property
    def id(self) -> str:
        """Names the passage among all documents of a store: DOCUMENT:SEGMENT."""
        return f"{self.metadata['document']}:{self.metadata['segment']}"


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What is asked: one document, or all documents that pass, and how far."""

    document: str | None = None  # None: all documents of the store
    folder: str | Path | None = None
    filters: Filters | None = None
    k: int = DEFAULT_K
    tau: float | None = None

    def find(self, rag: AbstRAG, query: str) -> list[RetrievedPassage]:
        """Return the evidence for a question or a claim, best first."""
        if self.document is not None:
            found = rag.search(query, k=self.k, tau=self.tau, document=self.document)
            return [passage_of(hit, score=hit.relevance) for hit in found.hits]
        ranking = rag.search_all(
            query, k=self.k, tau=self.tau, folder=self.folder, filters=self.filters
        )
        return [passage_of(each.hit, score=each.score, title=each.title) for each in ranking.hits]


@dataclass(frozen=True, slots=True)
class TextReading:
    """How texts that another retriever found are read: each by itself, and nothing is kept."""

    tau: float = TAU
    preset: Preset = DEFAULT_PRESET
    background: Background = field(default_factory=Background)

    @classmethod
    def of(
        cls,
        *,
        tau: float | None = None,
        preset: str | None = None,
        background: Background | str | Path | None = None,
    ) -> TextReading:
        """Make one from names of a preset and of a Background file."""
        known = Background.load(background) if isinstance(background, str | Path) else background
        return cls(TAU if tau is None else tau, chosen_preset(preset), known or Background())

    def evidence(self, text: str, query: str, *, k: int) -> tuple[Hit, ...]:
        """Return the best passages of a text, best first; one that says nothing has none."""
        if not text.strip():
            return ()
        made = index(load_bytes(text.encode(), name="text.txt"), background=self.background)
        searcher = Searcher(made, preset=self.preset)
        return searcher.search(query, k=k, tau=self.tau).hits


@dataclass(frozen=True, slots=True)
class RankedText:
    """A text that holds evidence: its place among those that were given, and its hits."""

    position: int
    hits: tuple[Hit, ...]

    @property
    def score(self) -> float:
        """The relevance of its best passage."""
        return self.hits[0].relevance

    @property
    def metadata(self) -> dict[str, Any]:
        """What a reranked text is given besides its own metadata."""
        best = to_data(self.hits[0])
        kept = ("quote", "span", "trace", "reading", "match", "utility", "gap", "judgement")
        evidence = [to_data(hit) for hit in self.hits]
        return {
            "score": self.score,
            **{name: best[name] for name in kept},
            "evidence": evidence,
        }


def ranked(
    texts: Sequence[str], query: str, reading: TextReading, *, k: int, passages: int
) -> list[RankedText]:
    """Return the k texts with the best evidence, best first; those without any are left out."""
    found = [
        RankedText(position, hits)
        for position, text in enumerate(texts)
        if (hits := reading.evidence(text, query, k=passages))
    ]
    return sorted(found, key=lambda each: (-each.score, each.position))[:k]


def passage_of(hit: Hit, *, score: float, title: str = "") -> RetrievedPassage:
    """Return a hit as a passage; its metadata are all fields of the hit, the score, the title."""
    return RetrievedPassage(
        shown_text(hit), score, {**to_data(hit), "score": score, "title": title}
    )


def shown_text(hit: Hit) -> str:
    """Return a hit as it reads, with the headers a cell or row of a table stands under."""
    text = hit.text or hit.quote
    return f"{' · '.join(hit.headers)}: {text}" if hit.headers else text
