"""The baselines by the names records use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from abstrag.errors import InputError, NeedsModel
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.crag import Crag
from abstrag_bench.baselines.dense import Dense, Hybrid, Rerank
from abstrag_bench.baselines.hyde import Hyde
from abstrag_bench.baselines.ircot import Ircot
from abstrag_bench.baselines.public_models import public_encoder, public_reranker
from abstrag_bench.baselines.self_rag import SelfRag
from abstrag_bench.baselines.system import System


@dataclass(frozen=True, slots=True)
class Baseline:
    """How a baseline is made, and which numbers of it may be tuned."""

    build: Callable[..., System]
    ranges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    asks: bool = False  # a language model, so that building it takes a `Backing`


def _public_dense() -> Dense:
    return Dense(public_encoder(), name="public-dense")


def _public_hybrid(weight: float = 0.5) -> Hybrid:
    return Hybrid(_public_dense(), weight=weight, name="public-hybrid")


def _public_rerank(candidates: int = 50) -> Rerank:
    return Rerank(public_reranker(), candidates, "public-rerank", _public_hybrid())


_BM25_RANGES: Final = {"k1": (0.6, 0.9, 1.2, 1.5, 2.0), "b": (0.25, 0.4, 0.6, 0.75, 0.9)}

BASELINES: Final[Mapping[str, Baseline]] = {
    "bm25": Baseline(lambda **given: Bm25(stem=False, **given), _BM25_RANGES),
    "bm25-stem": Baseline(lambda **given: Bm25(stem=True, **given), _BM25_RANGES),
    "dense": Baseline(Dense),
    "hybrid": Baseline(lambda **given: Hybrid(Dense(), **given), {"weight": (0.3, 0.5, 0.7)}),
    "rerank": Baseline(Rerank, {"candidates": (16, 32, 64)}),
    "public-dense": Baseline(_public_dense),
    "public-hybrid": Baseline(_public_hybrid, {"weight": (0.3, 0.5, 0.7)}),
    "public-rerank": Baseline(_public_rerank, {"candidates": (25, 50, 100)}),
    "hyde": Baseline(Hyde, asks=True),
    "ircot": Baseline(Ircot, asks=True),
    "self-rag": Baseline(SelfRag, asks=True),
    "crag": Baseline(Crag, asks=True),
}


def build_baseline(
    name: str, given: Mapping[str, Any] | None = None, backing: Backing | None = None
) -> System:
    """Make a baseline, with other numbers than its own where some are given.

    Raises:
        NeedsModel: It asks a language model, and there is no `backing`.
        InputError: No baseline is called so.
    """
    if name not in BASELINES:
        raise InputError(f"no baseline is called {name!r}", hint=f"one of: {', '.join(BASELINES)}")
    entry = BASELINES[name]
    numbers = dict(given or {})
    if not entry.asks:
        return entry.build(**numbers)
    if backing is None:
        ready = ", ".join(key for key, one in BASELINES.items() if not one.asks)
        raise NeedsModel(
            f"system {name!r} asks a language model, and none is connected",
            hint=f"--llm MODEL, with --base-url URL for a local one; without: {ready}",
        )
    return entry.build(backing=backing, **numbers)
