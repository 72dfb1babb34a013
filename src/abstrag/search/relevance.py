"""Rel = Match^a · U^b · exp(−c·Gap) (Eq. 6), and the presets that fix its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Final

import numpy as np

from abstrag.config import COST_UNIT
from abstrag.errors import InputError
from abstrag.model.record import record
from abstrag.search.match import Coverage, Pooling, Signal, log_units
from abstrag.search.postings import FloatArray

_DIGITS: Final = 9


@record
class Preset:
    """A way to weigh the three factors, frozen under a name.

    Exponents and weights are non-negative, so more match, more utility or less gap never lowers a
    score: the dominance lemma holds for every preset there can be.
    """

    name: str
    match_power: float = 1.0  # a
    utility_power: float = 1.0  # b
    gap_rate: float = 1.0  # c
    hard_gap: bool = False  # b* or the cap, without the smooth part
    pooling: Pooling = Pooling.MEAN
    coverage: Coverage = Coverage.GRADED
    coverage_weight: float = 1.0
    lexical_weight: float = 0.0
    dense_weight: float = 0.0
    judge_weight: float = 0.0
    alignment_weight: float = 0.0  # of the prices at which the query's words are met
    gist_share: float = 0.0  # of the whole question beside its words, in these prices
    rarity_power: float = 0.0  # how much a rare word of the document counts for more
    unmet_share: float = 1.0  # ρ: 1, and all words that are not met cost alike; 0, by their price
    judged: int | None = None  # what the judge reads, in paragraphs, best first; None: exact

    def __post_init__(self) -> None:
        numbers = {
            "match_power": self.match_power,
            "utility_power": self.utility_power,
            "gap_rate": self.gap_rate,
            "gist_share": self.gist_share,
            "rarity_power": self.rarity_power,
            "unmet_share": self.unmet_share,
            **{f"{signal.value}_weight": weight for signal, weight in self.weights.items()},
        }
        for name, number in numbers.items():
            if not (isfinite(number) and number >= 0):
                raise InputError(
                    f"preset {self.name!r} has {name} {number!r}",
                    hint="exponents and weights are numbers from 0 up",
                )
        if self.judged is not None and self.judged < 1:
            raise InputError(
                f"preset {self.name!r} has the judge read {self.judged} paragraphs",
                hint="at least 1, or None for as many as an exact top k takes",
            )
        if not any(self.weights.values()):
            raise InputError(f"preset {self.name!r} gives no part of Match a weight")

    @property
    def weights(self) -> Mapping[Signal, float]:
        """The blend of Match."""
        return {
            Signal.COVERAGE: self.coverage_weight,
            Signal.LEXICAL: self.lexical_weight,
            Signal.DENSE: self.dense_weight,
            Signal.JUDGE: self.judge_weight,
            Signal.ALIGNMENT: self.alignment_weight,
        }

    def weighing(self, weights: Mapping[Signal, float]) -> Preset:
        """The same with another blend of Match."""
        return replace(
            self,
            coverage_weight=weights[Signal.COVERAGE],
            lexical_weight=weights[Signal.LEXICAL],
            dense_weight=weights[Signal.DENSE],
            judge_weight=weights[Signal.JUDGE],
            alignment_weight=weights[Signal.ALIGNMENT],
        )

    def without(self, signal: Signal) -> Preset:
        """The same, less one signal."""
        left = self.weighing({**self.weights, signal: 0.0})
        return replace(left, name=f"no-{signal.value}")

    @property
    def unjudged(self) -> Preset:
        """The same less the models that read, for whoever does without a judge."""
        left = {s: w for s, w in self.weights.items() if s is not Signal.JUDGE}
        return replace(
            self,
            name=f"{self.name}-unjudged",
            coverage_weight=self.coverage_weight if any(left.values()) else 1.0,
            judge_weight=0.0,
            judged=None,
        )

    @property
    def plain(self) -> Preset:
        """Words and vectors alone, for texts in a language that nothing else here reads."""
        return Preset(
            "words-and-vectors",
            utility_power=0.0,
            gap_rate=0.0,
            coverage_weight=0.0,
            lexical_weight=1.0,
            dense_weight=1.0 if self.dense_weight or self.alignment_weight else 0.0,
        )


PAPER: Final = Preset("paper", hard_gap=True)
PAPER_HARD: Final = Preset("paper_hard", hard_gap=True, coverage=Coverage.HARD)
SMOOTH: Final = Preset("smooth")
# Frozen; docs/tuning.md has the ranges tried, the splits and what each gains.
FAST: Final = Preset("fast", utility_power=0.25, lexical_weight=1.0)
ALIGNED: Final = Preset(
    "aligned",
    utility_power=0.3,
    gap_rate=0.6,
    pooling=Pooling.PRODUCT,
    coverage_weight=0.0,
    alignment_weight=4.0,
    gist_share=0.5,
    rarity_power=0.5,
    unmet_share=0.0,
)
GENERAL: Final = replace(ALIGNED, name="general", judge_weight=3.0, judged=24)
DEFAULT_PRESET: Final = GENERAL
PRESETS: Final[Mapping[str, Preset]] = {
    p.name: p for p in (GENERAL, ALIGNED, FAST, SMOOTH, PAPER, PAPER_HARD)
}


def judged_preset(preset: Preset) -> Preset:
    """Give a judge its say in Match: all of it in the paper's presets, else half of it.

    In a product it is one more factor. A preset that already gives it a weight keeps it.
    """
    if preset.judge_weight:
        return preset
    others = sum(preset.weights.values())
    if preset.hard_gap:  # the paper's presets: there a judge's coverage is Match
        return replace(preset, name=f"{preset.name}+judge", coverage_weight=0.0, judge_weight=1.0)
    if preset.pooling is Pooling.PRODUCT:
        return replace(preset, name=f"{preset.name}+judge", judge_weight=1.0, judged=GENERAL.judged)
    return replace(preset, name=f"{preset.name}+judge", judge_weight=others)


def relevance(
    match: FloatArray, utility: FloatArray, gap: FloatArray, preset: Preset = PAPER
) -> FloatArray:
    """Return Rel for arrays of the three factors.

    Factors are rounded far below anything they mean: two that then differ do so by more than `exp`
    and `pow` can be wrong, so that the dominance lemma holds for floats as it does on paper.
    """
    _check(match, utility, gap)
    if preset.pooling is Pooling.PRODUCT:
        units = (
            log_units(match, preset.match_power)
            + log_units(utility, preset.utility_power)
            + np.rint(preset.gap_rate * np.asarray(gap) * COST_UNIT)
        )
        total: FloatArray = np.exp(-units / COST_UNIT)
        return total
    m, u, g = (np.round(np.asarray(x, np.float64), _DIGITS) for x in (match, utility, gap))
    scores: FloatArray = (
        m**preset.match_power * u**preset.utility_power * np.exp(-preset.gap_rate * g)
    )
    return scores


def _check(match: FloatArray, utility: FloatArray, gap: FloatArray) -> None:
    m, u, g = (np.asarray(x) for x in (match, utility, gap))
    if not (np.all((m >= 0) & (m <= 1)) and np.all(u >= 0) and np.all(g >= 0)):
        raise InputError("Match lies in [0, 1], utility and gap are not negative")
