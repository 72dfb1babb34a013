"""Rel = Match^a · U^b · exp(−c·Gap) (Eq. 6): Match, presets that fix its numbers, a shortlist."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, exp, fsum, isfinite, log
from typing import Final, Protocol

import numpy as np

from abstrag.config import COST_UNIT, TOP_K_MEAN
from abstrag.errors import InputError, NotComputable
from abstrag.model.cost import Part, cost_of
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.model.record import record
from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.lookup import Gaps

# Match: how far a segment says what the query asks, in [0, 1] (appendix E).
#
# Coverage is the typed part, hard or graded. A judge's probability and lexical or dense similarity
# may be blended in, as a weighted mean or in odds; similarity is never a bridge and meets no
# literal.

LEAST_JUDGEMENT: Final = 0.01  # where it says less, or has not read, this counts
CERTAIN: Final = 7.0  # log-odds: a judge is never taken to be surer than this, either way


class Coverage(StrEnum):
    """The two readings of coverage."""

    HARD = "hard"  # all literals within the budget, or nothing
    GRADED = "graded"  # the share of the literals' weight that is met


class Pooling(StrEnum):
    """How signals become one number."""

    MEAN = "mean"  # their weighted mean
    PRODUCT = "product"  # each to the power of its weight: their logarithms add up
    ODDS = "odds"  # the judge's odds, divided by e^weight for a signal that is not there at all


class Signal(StrEnum):
    """What may have a say in Match."""

    COVERAGE = "coverage"
    LEXICAL = "lexical"
    DENSE = "dense"
    JUDGE = "judge"
    ALIGNMENT = "alignment"


class Similarity(Protocol):
    """Compares a query with segments of a document by the look of their text."""

    def __call__(self, query: Query, positions: IntArray) -> FloatArray:
        """Return one value in [0, 1] for each of some segments."""
        ...


def coverage(gaps: Gaps, kind: Coverage) -> FloatArray:
    """Return the coverage of every touched segment."""
    if kind is Coverage.HARD:
        return gaps.reachable.astype(np.float64)
    return gaps.share


def blend(
    parts: Mapping[Signal, FloatArray],
    weights: Mapping[Signal, float],
    pooling: Pooling = Pooling.MEAN,
) -> FloatArray:
    """Return what the signals come to together; every signal with a weight must be there.

    In odds, what any signal lacks counts against the judge in proportion to its weight, however
    sure the judge is: log-odds of Match = w · log-odds of the judge − Σ w · (1 − signal). A mean
    lets a judge who is nearly sure of two segments drown everything that tells them apart.
    """
    counted = _weighed(parts, weights)
    if pooling is Pooling.MEAN:
        total = sum(weights[signal] for signal in counted)
        mixed = sum((weights[signal] * parts[signal] for signal in counted), np.zeros(1))
        return np.minimum(mixed / total, 1.0)
    if pooling is Pooling.PRODUCT:
        units = sum(log_units(parts[s], weights[s], judged=s is Signal.JUDGE) for s in counted)
        product: FloatArray = np.exp(-np.asarray(units) / COST_UNIT)
        return product
    odds: FloatArray = np.zeros(1)
    for signal in counted:
        said = _log_odds(parts[signal]) if signal is Signal.JUDGE else parts[signal] - 1.0
        odds = odds + weights[signal] * said
    match: FloatArray = np.exp(-np.logaddexp(0.0, -odds))
    return match


def log_units(part: FloatArray | float, weight: float, *, judged: bool = False) -> FloatArray:
    """Return what a factor adds to −log of a score, in whole units of 1/10,000.

    A judge is never taken to be surer that there is nothing than `LEAST_JUDGEMENT`.
    """
    kept = np.maximum(part, LEAST_JUDGEMENT) if judged else np.asarray(part, np.float64)
    if not weight:
        return np.zeros_like(kept)
    with np.errstate(divide="ignore"):
        units: FloatArray = np.rint(-weight * np.log(kept) * COST_UNIT) + 0.0
    return units


def _weighed(
    parts: Mapping[Signal, FloatArray], weights: Mapping[Signal, float]
) -> tuple[Signal, ...]:
    """Return the signals that count, in a fixed order, so that rounding is the same every time."""
    for signal, weight in weights.items():
        if weight < 0:
            raise InputError(f"the weight of {signal.value!r} is {weight!r}; it cannot be negative")
        if weight and signal not in parts:
            raise InputError(
                f"Match gives {signal.value!r} a weight of {weight:g}, but nothing provides it",
                hint="pass it to the search, or choose a preset without it",
            )
    counted = tuple(signal for signal in Signal if weights.get(signal))
    if not counted:
        raise InputError("no signal has a weight, so Match is undefined")
    return counted


def _log_odds(probability: FloatArray) -> FloatArray:
    least = 1.0 / (1.0 + np.exp(CERTAIN))
    kept = np.clip(probability, least, 1.0 - least)
    odds: FloatArray = np.log(kept / (1.0 - kept))
    return odds


def standardized(scores: FloatArray) -> FloatArray:
    """Return z-scores; all are 0 where the scores say nothing because they are equal."""
    if len(scores) == 0 or float(np.ptp(scores)) == 0.0:
        return np.zeros(len(scores))
    spread: FloatArray = (scores - scores.mean()) / scores.std()
    return spread


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


# The shortlist: what the judge reads of a long document, the best of it without its word.

_PARAGRAPH: Final = 600  # characters: what reading one costs is the unit of a judge's effort
_LEAST_EFFORT: Final = 0.25  # of the shortest segment: the query is read again with each


def effort(lengths: Sequence[int] | IntArray) -> FloatArray:
    """Return what a judge's reading of texts costs, in paragraphs."""
    return np.maximum(np.asarray(lengths) / _PARAGRAPH, _LEAST_EFFORT)


def affordable(efforts: FloatArray, paragraphs: int) -> int:
    """Return how many texts, the first ones, a judge reads for the effort of some paragraphs."""
    return max(1, int(np.searchsorted(np.cumsum(efforts), paragraphs, side="right")))


def most_texts(paragraphs: int) -> int:
    """Return how many texts a judge reads at most for the effort of some paragraphs."""
    return ceil(paragraphs / _LEAST_EFFORT)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The segments that may be hits, with everything but the judge's word; arrays are in step."""

    positions: IntArray
    signals: Mapping[Signal, FloatArray]
    utility: FloatArray
    gap: FloatArray
    stated: FloatArray  # the least a judge may say: it has not read the Background

    def match(self, preset: Preset, judgement: FloatArray, rows: IntArray) -> FloatArray:
        """Return Match of some rows, given what the judge said about them."""
        parts = {signal: values[rows] for signal, values in self.signals.items()}
        parts[Signal.JUDGE] = np.maximum(judgement, self.stated[rows])
        return blend(parts, preset.weights, preset.pooling)

    def score(self, preset: Preset, judgement: FloatArray, rows: IntArray) -> FloatArray:
        """Return Rel of some rows, given what the judge said about them."""
        match = self.match(preset, judgement, rows)
        return relevance(match, self.utility[rows], self.gap[rows], preset)

    def promise(self, preset: Preset, rows: IntArray) -> FloatArray:
        """Return what some rows promise before a judge has spoken."""
        return self.score(preset.unjudged, np.zeros(len(rows)), rows)


def shortlist(
    rows: IntArray,
    judged: int,
    promise: Callable[[IntArray], FloatArray],
    efforts: Callable[[IntArray], FloatArray],
) -> IntArray:
    """Return the rows a judge may be asked about, the most promising first.

    Args:
        rows: All there are; of equals the earlier one comes first.
        judged: How much is read, in paragraphs.
        promise: What rows promise.
        efforts: What reading costs, of rows in the order in which they are read.
    """
    if affordable(efforts(rows), judged) == len(rows):
        return rows
    rows = rows[np.lexsort((rows, -promise(rows)))]
    return rows[: affordable(efforts(rows), judged)]


# What the cost of a hit is made of, in the order in which it is told.


def cost_parts(hit: Hit, preset: Preset) -> tuple[Part, ...]:
    """Return what each factor adds to minus the logarithm of a hit's relevance.

    Where words are aligned these are the lines of the hit, else the factors under their powers.
    """
    if hit.lines:
        return tuple((line.name, line.units / COST_UNIT) for line in hit.lines)
    return (
        ("match", _times(preset.match_power, cost_of(hit.match))),
        ("utility", _times(preset.utility_power, cost_of(hit.utility))),
        ("gap", preset.gap_rate * hit.gap),
    )


def _times(power: float, cost: float) -> float:
    return power * cost if power else 0.0  # to the power of 0 even nothing is 1


# From segments to a document: three ways to aggregate scores (section 3.5).

Aggregation = Callable[[Sequence[float]], float]


def top_k_mean(scores: Sequence[float], *, k: int = TOP_K_MEAN) -> float:
    """Return the mean of the k best scores, or of all where there are fewer."""
    best = sorted(_some(scores), reverse=True)[:k]
    return fsum(best) / len(best)


def top_1(scores: Sequence[float]) -> float:
    """Return the best score."""
    return max(_some(scores))


def log_sum_exp(scores: Sequence[float]) -> float:
    """Return the log of the summed exponentials: the best score, and a little for each other."""
    peak = max(_some(scores))
    return peak + log(fsum(exp(score - peak) for score in scores))


AGGREGATIONS: Final[Mapping[str, Aggregation]] = {
    "top_k_mean": top_k_mean,
    "top_1": top_1,
    "log_sum_exp": log_sum_exp,
}


def _some(scores: Sequence[float]) -> Sequence[float]:
    if not scores:
        raise NotComputable("a document without scored segments has no score")
    return scores
