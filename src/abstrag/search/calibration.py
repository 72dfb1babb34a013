"""A model judge's answers made probabilities by a curve that is kept under the model's name.

What a prompted judge says is a share of conditions it holds to be met. How often such a segment is
evidence differs from model to model; two numbers, fitted on tuning cases, say it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from math import exp, log
from pathlib import Path
from typing import Final

from abstrag.errors import InputError
from abstrag.llm.prompt import Prompt
from abstrag.model.record import from_json, record, to_json
from abstrag.policy.location import policy_root

FOLDER: Final = "calibration"
_EDGE: Final = 0.01  # shares are kept so far from 0 and 1
_STEPS: Final = 400
_RATE: Final = 0.5
_CHI_SQUARE: Final = 3.841  # of one degree of freedom, at 5 %
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

    @property
    def tells(self) -> bool:
        """True unless the pairs it was fitted on give no sign that the judge's word says anything.

        That is the likelihood ratio test of the slope at 5 %: a curve that is no better than the
        bare share of evidence gives every segment the same probability, and asking is wasted.
        """
        if not self.loss_blind:
            return True  # fitted before this was measured
        return 2 * self.pairs * (self.loss_blind - self.loss_after) > _CHI_SQUARE

    def __call__(self, share: float) -> float:
        """Return the probability that a segment with this share is evidence."""
        return _sigmoid(self.slope * _logit(share) + self.offset)


def fitted(
    model: str, prompt: str, shares: Sequence[float], evidence: Sequence[bool]
) -> ModelCalibration:
    """Fit the curve to what a judge said and what people marked.

    Raises:
        InputError: There is nothing to fit, or only one kind of segment.
    """
    if len(shares) != len(evidence) or len(set(evidence)) < len((True, False)):
        raise InputError(
            "a calibration needs segments that are evidence and some that are not",
            hint="take more cases: --sample 50",
        )
    points = [_logit(share) for share in shares]
    gold = [float(one) for one in evidence]
    slope, offset, n = 1.0, 0.0, len(points)
    for _ in range(_STEPS):  # Newton's method would overshoot where a model says 0 or 1 only
        wrong = [_sigmoid(slope * x + offset) - y for x, y in zip(points, gold, strict=True)]
        slope -= _RATE * (
            sum(w * x for w, x in zip(wrong, points, strict=True)) / n + _SHRINK * slope
        )
        offset -= _RATE * sum(wrong) / n
    made = ModelCalibration(model, prompt, round(max(0.0, slope), 6), round(offset, 6), n)
    before = [min(max(share, _EDGE), 1 - _EDGE) for share in shares]
    return ModelCalibration(
        model,
        prompt,
        made.slope,
        made.offset,
        n,
        round(_loss(before, gold), 6),
        round(_loss([made(share) for share in shares], gold), 6),
        round(_loss([sum(gold) / n] * n, gold), 6),
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


def _loss(told: Sequence[float], gold: Sequence[float]) -> float:
    return -sum(y * log(p) + (1 - y) * log(1 - p) for p, y in zip(told, gold, strict=True)) / len(
        gold
    )
