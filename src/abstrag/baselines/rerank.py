"""Retrieve and rerank: BM25, or another, finds candidates; a cross-encoder puts them in order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from abstrag.baselines.bm25 import Bm25
from abstrag.baselines.pool import Pool
from abstrag.baselines.system import Ranked, System
from abstrag.errors import InputError
from abstrag.neural.judge import default_judge
from abstrag.neural.passage import passage
from abstrag.neural.scorer import PairScorer


@dataclass(slots=True)
class Rerank:
    """Ranks the best `candidates` of `first` by the judge alone, everything else behind them.

    The judge is the packaged one unless another is given. What was not judged keeps the order of
    `first` and gets scores below 0, which no judgement reaches.
    """

    judge: PairScorer | None = None
    candidates: int = 32
    name: str = "rerank"
    first: System = field(default_factory=Bm25)
    _texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError(f"candidates is {self.candidates}", hint="at least 1")

    @property
    def fidelity(self) -> str:
        """Which model ranks what."""
        model = f"{self.judge.fingerprint!r}" if self.judge else "shipped as evidence judge"
        finder = "BM25" if isinstance(self.first, Bm25) else self.first.name
        return (
            f"plain retrieve and rerank: {finder}'s best {self.candidates} in the order of the "
            f"cross-encoder {model}, each element after its section's name; nothing else has a say"
        )

    @property
    def state(self) -> str:
        """What the results depend on besides the settings: the judge."""
        return self._judge.fingerprint

    def index(self, document: Pool) -> None:
        """Count the words of every element and keep its text for the judge."""
        title = document.title if self._judge.wants_title else ""
        self._texts = {
            one.id: passage(one.text, section=one.section, headers=one.headers, title=title)
            for one in document.elements
        }
        self.first.index(document)

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        ranked = [name for name, _ in self.first.search(query, len(self._texts))]
        asked, rest = ranked[: self.candidates], ranked[self.candidates :]
        scores = np.array(self._judge.score(query, [self._texts[name] for name in asked]))
        judged = [(asked[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")]
        behind = [(name, -float(place)) for place, name in enumerate(rest, 1)]
        return [*judged, *behind][:k]

    @property
    def _judge(self) -> PairScorer:
        return self.judge or default_judge()
