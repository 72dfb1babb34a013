"""Every system that can be measured, by name: the baselines, and ours.

Ours is imported when it is asked for: a report, or a run of BM25 alone, need not wait for spaCy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from abstrag.errors import InputError, NeedsModel
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.baselines.registry import BASELINES, build_baseline
from abstrag_bench.baselines.system import System
from abstrag_bench.run_folder import OURS

if TYPE_CHECKING:
    from abstrag_bench.abstrag_system import SharedIndexer

# What of ours may be tuned, and over which values.
RANGES: Final[Mapping[str, tuple[float, ...]]] = {
    "tau": (0.5, 1.0, 1.5, 2.0, 3.0),
    "match_power": (0.5, 1.0, 2.0),
    "utility_power": (0.0, 0.25, 0.5, 1.0, 1.5),
    "gap_rate": (0.0, 0.25, 0.5, 1.0, 2.0),
    "lexical_weight": (0.0, 0.25, 0.5, 1.0),
}


WITH_MODEL: Final = "abstrag-llm"  # how the names of ours with a language model begin


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """What a run calls a system, which one it is, and the numbers it gets; easy to send about."""

    name: str
    base: str
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> SystemSpec:
        """Return the system of that name with its own numbers."""
        return cls(name, name)


class Builder:
    """Makes systems; all of ours that one builder makes share the index of a document.

    `keep` says how many documents' indexes stay in memory; `backing` is what systems that need a
    language model ask.
    """

    def __init__(self, keep: int = 1, backing: Backing | None = None) -> None:
        self._keep = keep
        self._backing = backing
        self._indexer: SharedIndexer | None = None

    def __call__(self, spec: SystemSpec) -> System:
        """Make one system."""
        if spec.base in BASELINES:
            return build_baseline(spec.base, spec.given, self._backing)
        if not spec.base.startswith(OURS):
            raise InputError(
                f"no system is called {spec.base!r}", hint=f"one of: {', '.join(system_names())}"
            )
        from abstrag_bench.abstrag_system import SharedIndexer, build_variant

        self._indexer = self._indexer or SharedIndexer(self._keep)
        if asks_model(spec.base):
            from abstrag_bench.abstrag_llm import build_llm

            if self._backing is None:
                raise NeedsModel(
                    f"system {spec.base!r} asks a language model, and there is none",
                    hint="--llm MODEL --base-url URL",
                )
            return build_llm(spec.name, spec.base, self._backing, self._indexer)
        return build_variant(spec.name, spec.base, spec.given, self._indexer)


def system_names() -> tuple[str, ...]:
    """Return every name `--systems` takes, those with their place merely kept included."""
    from abstrag_bench.abstrag_llm import llm_names
    from abstrag_bench.abstrag_system import variant_names

    return (*BASELINES, *variant_names(), *llm_names())


def asks_model(base: str) -> bool:
    """Tell whether a system asks a language model while it searches."""
    return base.startswith(WITH_MODEL) or (base in BASELINES and BASELINES[base].asks)


def ranges_of(base: str) -> Mapping[str, tuple[float, ...]]:
    """Return the numbers of a system that may be tuned, each with the values it may take."""
    if base in BASELINES:
        return BASELINES[base].ranges
    return RANGES if base.startswith(OURS) else {}
