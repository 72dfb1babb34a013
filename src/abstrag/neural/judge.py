"""The evidence judge: a small cross-encoder that reads a query and a passage together.

    judge = default_judge()
    judge.score("Who visited the plant?", ["The minister toured the factory.", "It rained."])

It says how probably a passage is evidence for the query, on the processor and without a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp
from pathlib import Path
from typing import Final

from abstrag.errors import ResourceMissing
from abstrag.neural.bundle import REMEDY, WEIGHTS, Bundle, Judging, ModelTask
from abstrag.neural.cached import ANYWHERE, ValueCache, kept_scores
from abstrag.neural.encoder import Vectors
from abstrag.neural.pairs import PairReader
from abstrag.neural.scorer import SegmentJudge

JUDGE: Final = WEIGHTS / "judge"


class EvidenceJudge(SegmentJudge):
    """Scores pairs of query and passage; implements `PairScorer` and `search.judging.Judge`.

    A score is a probability: the logit is calibrated with the numbers of the manifest. A passage
    longer than the model reads is read in windows that overlap and scores as its best one. Where
    query or passage has no words there is no evidence, and the score is 0.

    With a `memory`, no pair is read twice, whatever document it comes from.
    """

    memory: ValueCache | None = None

    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        if bundle.manifest.judging is None:
            raise ResourceMissing(
                f"the manifest of {str(bundle.folder)!r} does not say how to read a logit",
                hint=REMEDY,
            )
        self.fingerprint = bundle.fingerprint
        self.max_tokens = bundle.manifest.max_tokens
        self._judging: Judging = bundle.manifest.judging
        self._reader = PairReader(bundle, query_tokens=self._judging.query_tokens, threads=threads)

    @classmethod
    def load(
        cls, folder: Path = JUDGE, *, threads: int | None = None, later: bool = False
    ) -> EvidenceJudge:
        """Read a model that `tools.export` wrote; `threads` is every core by default.

        With `later`, only the manifest is read now, and the rest when there is a pair to read.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
            InputError: The folder has a model for something else.
        """
        made = cls(Bundle.open(folder, ModelTask.JUDGE), threads=threads)
        if not later:
            made.prepare()
        return made

    def prepare(self) -> None:
        """Load what is still to be loaded.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        self._reader.load()

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"EvidenceJudge({self.fingerprint!r})"

    @property
    def threads(self) -> int:
        """How many pairs are read side by side."""
        return self._reader.threads

    @property
    def wants_title(self) -> bool:
        """Whether it was trained with the document's title before a passage."""
        return self._judging.title

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""
        if self.memory is None:
            return self._read(query, passages)
        return kept_scores(self.memory, ANYWHERE, self._read, self, query, passages)

    def _read(self, query: str, passages: Sequence[str]) -> list[float]:
        return [
            max((self._probability(logit) for logit in logits), default=0.0)
            for logits in self._reader.read(query, passages)
        ]

    def truncates(self, query: str) -> bool:
        """Say whether only the beginning of a query is read."""
        return self._reader.truncates(query)

    def _probability(self, logit: Vectors) -> float:
        z = self._judging.slope * float(logit[0]) + self._judging.offset
        return 1 / (1 + exp(-z)) if z >= 0 else exp(z) / (1 + exp(z))


@cache
def default_judge() -> EvidenceJudge:
    """Return the packaged judge; its graph is loaded when it first reads a pair."""
    return EvidenceJudge.load(later=True)
