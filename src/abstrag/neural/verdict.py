"""The verdict model: does the evidence support a claim, refute it, or say too little?

    supports, refutes, not_enough_info = default_verdict()("The drug works.", ["It had no effect."])

It is an opinion of a small model. Whoever shows it says so, and stays silent below `threshold`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import REMEDY, WEIGHTS, Bundle, Deciding, ModelTask
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import PairReader
from abstrag.neural.runtime import BundledModel

VERDICT: Final = WEIGHTS / "verdict"


class VerdictProbabilities(NamedTuple):
    """The probabilities of the three answers; they sum to 1."""

    supports: float
    refutes: float
    not_enough_info: float


_NOTHING: Final = VerdictProbabilities(0.0, 0.0, 1.0)


class VerdictModel(BundledModel):
    """Weighs a claim against its evidence.

    All pieces of evidence are read as one text, so that they can add up; of a long piece only the
    beginning. Without words on either side there is too little for sure.
    """

    task = ModelTask.VERDICT
    home = VERDICT

    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        if bundle.manifest.deciding is None:
            raise ResourceMissing(
                f"the manifest of {str(bundle.folder)!r} does not say how to read the verdict",
                hint=REMEDY,
            )
        self.fingerprint = bundle.fingerprint
        self.max_tokens = bundle.manifest.max_tokens
        self._deciding: Deciding = bundle.manifest.deciding
        self._reader = PairReader(bundle, query_tokens=self._deciding.query_tokens, threads=threads)

    def prepare(self) -> None:
        """Load what is still to be loaded."""
        self._reader.load()

    @property
    def threshold(self) -> float:
        """The probability below which an answer is not worth saying."""
        return self._deciding.threshold

    def __call__(self, claim: str, evidence: Sequence[str]) -> VerdictProbabilities:
        """Return how probable the three answers are, given the pieces of evidence, best first."""
        if isinstance(evidence, str):
            raise InputError("several pieces of evidence are wanted, and got one string")
        logits = self._reader.read_joined(claim, evidence, each=self._deciding.piece_tokens)
        return _NOTHING if logits is None else self._verdict(logits)

    def _verdict(self, logits: Vectors) -> VerdictProbabilities:
        scaled = logits.astype(np.float64) / self._deciding.temperature
        odds = np.exp(scaled - scaled.max())
        return VerdictProbabilities(*(odds / odds.sum()).tolist())


@cache
def default_verdict() -> VerdictModel:
    """Return the packaged model, loaded on the first call."""
    return VerdictModel.load()
