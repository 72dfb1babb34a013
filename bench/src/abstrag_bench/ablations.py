"""AbstRAG by name: whole, under each preset, and less one part at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from abstrag.config import TAU
from abstrag.errors import InputError
from abstrag.search.match import Signal
from abstrag.search.query.operators import OPERATORS
from abstrag.search.relevance import DEFAULT_PRESET, PRESETS, Preset
from abstrag_bench.abstrag_system import AbstragSystem, SharedIndexer

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
