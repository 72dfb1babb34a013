"""The baselines by the names records use, with places kept for those that need more to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from abstrag.baselines.bm25 import Bm25
from abstrag.baselines.dense import Dense
from abstrag.baselines.hybrid import Hybrid
from abstrag.baselines.system import System
from abstrag.errors import InputError


@dataclass(frozen=True, slots=True)
class Baseline:
    """How a baseline is made, which numbers of it may be tuned, or why it cannot be had yet."""

    family: str  # of appendix K: families get equal search breadth
    build: Callable[..., System] | None = None
    ranges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    reserved: str = ""


_BM25_RANGES: Final = {"k1": (0.6, 0.9, 1.2, 1.5, 2.0), "b": (0.25, 0.4, 0.6, 0.75, 0.9)}
_NEEDS_JUDGE: Final = "it reranks with the evidence judge, whose weights are not installed"
_NEEDS_MODEL: Final = "it needs a language model, and none is connected"

BASELINES: Final[Mapping[str, Baseline]] = {
    "bm25": Baseline("lexical", lambda **given: Bm25(stem=False, **given), _BM25_RANGES),
    "bm25-stem": Baseline("lexical", lambda **given: Bm25(stem=True, **given), _BM25_RANGES),
    "dense": Baseline("dense", Dense),
    "hybrid": Baseline(
        "hybrid", lambda **given: Hybrid(Dense(), **given), {"weight": (0.3, 0.5, 0.7)}
    ),
    "rerank": Baseline("rerank", reserved=_NEEDS_JUDGE),
    "hyde": Baseline("hyde", reserved=_NEEDS_MODEL),
    "ircot": Baseline("ircot", reserved=_NEEDS_MODEL),
    "self-rag": Baseline("self-rag", reserved=_NEEDS_MODEL),
    "crag": Baseline("crag", reserved=_NEEDS_MODEL),
}


def build_baseline(name: str, given: Mapping[str, Any] | None = None) -> System:
    """Make a baseline, with other numbers than its own where some are given."""
    if name not in BASELINES:
        raise InputError(f"no baseline is called {name!r}", hint=f"one of: {', '.join(BASELINES)}")
    entry = BASELINES[name]
    if entry.build is None:
        ready = ", ".join(key for key, one in BASELINES.items() if one.build)
        raise InputError(
            f"system {name!r} cannot run here: {entry.reserved}", hint=f"ready to run: {ready}"
        )
    return entry.build(**(given or {}))
