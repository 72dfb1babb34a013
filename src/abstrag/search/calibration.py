"""A model judge's answers made probabilities by a curve that is kept under the model's name.

What a prompted judge says is a share of conditions it holds to be met. How often such a segment is
evidence differs from model to model; two numbers, fitted on tuning cases, say it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from math import exp, log
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.errors import InputError
from abstrag.llm.prompt import Prompt
from abstrag.model.record import from_json, record, to_json
from abstrag.policy.location import policy_root
from abstrag.search.costed_index import FloatArray

FOLDER: Final = "calibration"
_EDGE: Final = 0.01  # shares are kept so far from 0 and 1
_FAINTEST: Final = 1e-6  # relevance beside the best hit's that is told from none
_STEPS: Final = 50  # of Newton's method, each halved while it makes things worse
_HALVINGS: Final = 20
_CHI_SQUARE: Final = 3.841  # of one degree of freedom, at 5 %
_LEAST: Final = 1e-9  # bend of what is flat
_SHRINK: Final = 1e-3  # pulls the slope of few cases towards nothing


@record
class ModelCalibration:
    """p = σ(slope · logit(share) + offset), of one model and one wording of the prompt."""

    model: str
    prompt: str  # hash of the program that was asked
    slope: float
    offset: float
    pairs: int = 0  # of query and segment it was fitted on
    loss_before: float = 0.0  # mean log loss of the bare shares, and of the curve
    loss_after: float = 0.0
    loss_blind: float = 0.0  # of the share of evidence among the pairs, whatever the judge said
    of_rank: float = 0.0  # beside the judge's word: log odds for each e-fold of local relevance
    of_word: float = 0.0  # beside the local relevance: log odds for each unit of logit(share)
    loss_rank: float = 0.0  # of the local relevance alone, and with the judge's word
    loss_both: float = 0.0

    @property
    def tells(self) -> bool:
        """True unless the pairs it was fitted on give no sign that the judge's word says anything.

        That is the likelihood ratio test of the slope at 5 %: a curve that is no better than the
        bare share of evidence gives every segment the same probability, and asking is wasted.
        """
        if not self.loss_blind:
            return True  # fitted before this was measured
        return 2 * self.pairs * (self.loss_blind - self.loss_after) > _CHI_SQUARE

    @property
    def adds(self) -> bool:
        """True unless the judge's word says nothing that the local ranking does not say already.

        The same test, of the word beside the local relevance.
        """
        if not self.loss_rank:
            return self.tells
        gain = 2 * self.pairs * (self.loss_rank - self.loss_both)
        return self.of_word > 0 and gain > _CHI_SQUARE

    def odds(self, share: float, relevance: float) -> float:
        """Return the log odds, but for a constant, of a segment that is relevant so far locally."""
        if not self.loss_rank:  # what the word is worth beside it was not measured
            return _log(relevance) + _log(self(share))
        return self.of_rank * _log(relevance) + self.of_word * _logit(share)

    def __call__(self, share: float) -> float:
        """Return the probability that a segment with this share is evidence."""
        return _sigmoid(self.slope * _logit(share) + self.offset)


def fitted(
    model: str,
    prompt: str,
    shares: Sequence[float],
    evidence: Sequence[bool],
    relevances: Sequence[float] = (),
) -> ModelCalibration:
    """Fit the curve to what a judge said and what people marked.

    Args:
        model: Its fingerprint.
        prompt: Hash of the program that was asked.
        shares: What it said of segments.
        evidence: Whether people marked these.
        relevances: Of these segments to the local ranking, as a share of the best one's. With them,
            it is also found what the judge's word is worth beside it.

    Raises:
        InputError: There is nothing to fit, or only one kind of segment.
    """
    if len(shares) != len(evidence) or len(set(evidence)) < len((True, False)):
        raise InputError(
            "a calibration needs segments that are evidence and some that are not",
            hint="take more cases: --sample 50",
        )
    gold = np.array(evidence, dtype=np.float64)
    word = np.array([_logit(share) for share in shares])
    (slope, offset), _ = _logistic([word], gold)
    made = ModelCalibration(model, prompt, round(max(0.0, slope), 6), round(offset, 6), len(gold))
    before = np.clip(np.array(shares, dtype=np.float64), _EDGE, 1 - _EDGE)
    made = replace(
        made,
        loss_before=_loss(before, gold),
        loss_after=_loss(np.array([made(share) for share in shares]), gold),
        loss_blind=_loss(np.full(len(gold), gold.mean()), gold),
    )
    if not relevances:
        return made
    rank = np.array([_log(one) for one in relevances])
    _, alone = _logistic([rank], gold)
    (of_rank, of_word, _), both = _logistic([rank, word], gold)
    return replace(
        made, of_rank=round(of_rank, 6), of_word=round(of_word, 6), loss_rank=alone, loss_both=both
    )


def calibration_file(model: str, root: Path | None = None) -> Path:
    """Return where the calibration of a model is kept."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:60]
    return policy_root(root) / FOLDER / f"{plain}-{sha256(model.encode()).hexdigest()[:8]}.json"


def save_calibration(made: ModelCalibration, root: Path | None = None) -> Path:
    """Keep a calibration under its model's name."""
    path = calibration_file(made.model, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_json(made) + "\n", "utf-8")
    return path


def read_calibration(model: str, prompt: str, root: Path | None = None) -> ModelCalibration | None:
    """Return the calibration of a model; None where there is none for this wording."""
    path = calibration_file(model, root)
    if not path.is_file():
        return None
    try:
        made = from_json(ModelCalibration, path.read_bytes())
    except (ValueError, InputError) as error:
        raise InputError(
            f"the calibration {str(path)!r} cannot be read: {error}",
            hint="make it again: abstrag bench calibrate",
        ) from error
    return made if made.model == model and made.prompt == prompt else None


def calibration_of(prompt: Prompt, root: Path | None = None) -> ModelCalibration | None:
    """Return the calibration of the model and the wording that a judge is asked with, if any."""
    return read_calibration(prompt.model.fingerprint, program_hash(prompt), root)


def program_hash(prompt: Prompt) -> str:
    """Return a hash of the wording that a judge is asked with."""
    return sha256(to_json(prompt.program).encode()).hexdigest()[:12]


def _logit(share: float) -> float:
    share = min(max(share, _EDGE), 1 - _EDGE)
    return log(share / (1 - share))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def _log(relevance: float) -> float:
    return log(max(relevance, _FAINTEST))


def _logistic(columns: Sequence[FloatArray], gold: FloatArray) -> tuple[tuple[float, ...], float]:
    """Return weights of the columns, a constant, and the mean log loss."""
    x = np.column_stack([*columns, np.ones(len(gold))])
    pull = np.array([_SHRINK] * len(columns) + [0.0])

    def cost(weights: FloatArray) -> float:
        z = x @ weights
        return float((np.logaddexp(0, z) - gold * z).mean() + (pull * weights**2).sum() / 2)

    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (p - gold) / len(gold) + pull * weights
        bend = (x.T * (p * (1 - p))) @ x / len(gold) + np.diag(pull + _LEAST)
        step = np.linalg.solve(bend, slope)
        for _halving in range(_HALVINGS):
            if cost(weights - step) < cost(weights):
                break
            step = step / 2
        else:
            break
        weights = weights - step
    p = 1 / (1 + np.exp(-(x @ weights)))
    return tuple(map(float, weights)), _loss(p, gold)


def _loss(told: FloatArray, gold: FloatArray) -> float:
    return round(float(-(gold * np.log(told) + (1 - gold) * np.log(1 - told)).mean()), 6)
