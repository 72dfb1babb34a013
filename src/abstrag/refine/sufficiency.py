"""Does the document hold what was asked? Read off a ranking, calibrated on labelled queries.

Two questions, each a logistic model over what the first hits look like: is there no evidence in
the document at all, and is it not among the first K? The numbers are fitted by `tools.fit_critic`
for each preset and genre and kept in a file; a preset that was not fitted has no opinion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Final

from abstrag.model.ranking import Hit, Ranking
from abstrag.model.record import from_json, record

LOOKED_AT: Final = 3  # hits that features are made of: what a reader sees first
ANY_GENRE: Final = "any"
WARN: Final = 0.7  # the probability from which a search says that the document has no evidence
FEATURES: Final = (
    "unmet share",  # of the conditions, in the best of the first hits
    "gap",  # the least
    "price",  # what meeting the query's words costs in the first hit
    "unmet words",  # the weight of the words that none of the first hits meets
    "dearest word",  # the price of the word that is met worst by all of them
    "whole",  # what being about something else costs the first hit
    "judge",  # the best word of the judge, in log odds
    "margin",  # of the first hit over the last of the first
    "disagreement",  # how far down the judge's favourite stands
    "segments",  # log of how many there are
)
_LEAST: Final = 1e-4


@record
class Logistic:
    """A fitted model: standardized features, their weights, and the constant."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    constant: float

    def __call__(self, features: Sequence[float]) -> float:
        """Return a probability."""
        z = self.constant + sum(
            w * (x - m) / s
            for w, x, m, s in zip(self.weights, features, self.means, self.scales, strict=True)
        )
        return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, z))))


@record
class CriticCalibration:
    """What was fitted for one preset and genre, on how many queries."""

    preset: str
    genre: str
    absent: Logistic  # no evidence in the document
    missed: Logistic  # not all of it among the first K
    queries: int


@record
class Calibrations:
    """All that was fitted, with the models it was fitted to."""

    fitted: tuple[CriticCalibration, ...] = ()
    models: Mapping[str, str] = field(
        default_factory=dict
    )  # what the presets read with, by fingerprint


@record
class Sufficiency:
    """What a ranking lets one expect, as probabilities."""

    absent: float
    missed: float


@cache
def packaged_calibrations() -> Calibrations:
    """Return what ships."""
    return from_json(Calibrations, (files("abstrag.refine") / "critic.json").read_bytes())


def sufficiency(
    ranking: Ranking, genre: str, known: Calibrations | None = None
) -> Sufficiency | None:
    """Say what to expect of a ranking; None where its preset was not fitted or it is too short."""
    fitted = (known or packaged_calibrations()).fitted
    own = {one.genre: one for one in fitted if one.preset == ranking.preset}
    chosen = own.get(genre) or own.get(ANY_GENRE)
    if chosen is None or not ranking.hits:
        return None
    if len(ranking.hits) < min(LOOKED_AT, ranking.segments):
        return None
    seen = features(ranking)
    return Sufficiency(chosen.absent(seen), chosen.missed(seen))


def features(ranking: Ranking) -> tuple[float, ...]:
    """Return what the models look at, in the order of `FEATURES`."""
    first = ranking.hits[:LOOKED_AT]
    words = [hit.words for hit in first]
    judged = [hit.judgement for hit in first if hit.judgement is not None]
    best = max(judged, default=0.5)
    return (
        1.0 - max(hit.trace.share for hit in first),
        min(hit.gap for hit in first),
        min((sum(w.weight * w.price for w in own) for own in words if own), default=0.0),
        _unmet(first),
        max((min(w.price for w in column) for column in zip(*words, strict=True)), default=0.0),
        _line(first[0], "about the same thing"),
        _log_odds(best),
        log(max(first[0].relevance, _LEAST)) - log(max(first[-1].relevance, _LEAST)),
        float(judged.index(best)) if judged else 0.0,
        log(1 + ranking.segments),
    )


def _unmet(hits: Sequence[Hit]) -> float:
    """The weight of the query's words that none of some hits meets."""
    columns = zip(*(hit.words for hit in hits), strict=True)
    return float(sum(column[0].weight for column in columns if not any(w.met for w in column)))


def _line(hit: Hit, name: str) -> float:
    return next((line.units / 10_000 for line in hit.lines if line.name == name), 0.0)


def _log_odds(p: float) -> float:
    held = min(1.0 - _LEAST, max(_LEAST, p))
    return log(held / (1.0 - held))
