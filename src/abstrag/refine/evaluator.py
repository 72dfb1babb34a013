"""The fixed evaluator: Suff and Comp of a ranking, judged on the raw text of its first K.

It reads the question and the segments as the document writes them. Bridges, costs and traces are
none of its business, or a patch would approve itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Final

from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.ranking import Ranking
from abstrag.model.record import record
from abstrag.model.segment import Segment
from abstrag.refine.feedback import Episode
from abstrag.search.judging import Judge

K: Final = 10  # how far the critic looks at most
LEAST_K: Final = 3  # and at least: all of an abstract is no retrieval
POOL_SHARE: Final = 4  # one segment in so many
EVIDENCE: Final = 0.5  # the probability from which a judge takes a segment as evidence


def reach_of(segments: int) -> int:
    """Return the K of a document: a quarter of its segments, 3 at least and 10 at most."""
    return min(K, max(LEAST_K, -(-segments // POOL_SHARE)))


@record
class Signals:
    """What one episode looks like under one state.

    `first` are the first K segments, `evidence` those of them that count, `needed` what a complete
    answer rests on (the gold that is there, or, where there is no gold, all evidence), `dissent`
    the largest share of judges that a verdict on which `sufficient` hangs went against.
    """

    sufficient: bool
    compression: float
    evidence: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    dissent: float = 0.0
    found: int = 0  # gold among the first K
    gain: float = 0.0  # of the gold at all ranks that were looked at, as in DCG

    @property
    def certain(self) -> bool:
        """True when all judges agree."""
        return self.dissent == 0.0

    def lost(self, after: Signals) -> tuple[str, ...]:
        """Return the evidence of the earlier answer that is missing now."""
        return tuple(name for name in self.needed if name not in after.needed)

    def survives(self, after: Signals) -> bool:
        """ΔSuff ≥ 0: true unless a solved case loses its verdict or anything that it rests on."""
        return not self.sufficient or (after.sufficient and not self.lost(after))


Comp = Callable[[Sequence[bool], int, float], float]


def distractors(evidence: Sequence[bool], k: int, top: float) -> float:  # noqa: ARG001
    """−distractor_rate@K: less the share of the K places that hold something else than evidence."""
    return -sum(not found for found in evidence) / k


def top1_relevance(evidence: Sequence[bool], k: int, top: float) -> float:  # noqa: ARG001
    """Relevance of the first hit: the paper's other reading, which hardly ever refuses a patch."""
    return top


COMPRESSIONS: Final[Mapping[str, Comp]] = {
    "distractors": distractors,
    "top1_relevance": top1_relevance,
}


class Evaluator:
    """One judge, or several samples of one that vote; each pair is judged once and remembered.

    A segment is evidence when most judges give it at least 0.5, or when the episode's gold names
    it. A ranking is sufficient when its first K hold all gold, or, where there is no gold, any
    evidence.
    """

    def __init__(
        self, *judges: Judge, k: int = K, compression: str = "distractors", name: str = "judge"
    ) -> None:
        if not judges:
            raise InputError("an evaluator needs a judge")
        if compression not in COMPRESSIONS:
            raise InputError(
                f"no compression signal is called {compression!r}",
                hint=f"one of: {', '.join(COMPRESSIONS)}",
            )
        self.k = k
        self.fingerprint = f"{name}×{len(judges)} k={k} {compression}"
        self.reads_relevance = compression == "top1_relevance"
        self._judges = judges
        self._compression = COMPRESSIONS[compression]
        self._said: dict[tuple[str, str, str], tuple[float, ...]] = {}

    def votes(self, query: Query, segments: Sequence[Segment]) -> list[tuple[float, ...]]:
        """Return what each judge says of each segment."""
        new = [s for s in segments if (query.text, s.id, s.text) not in self._said]
        if new:
            rows = [judge(query, new) for judge in self._judges]
            for segment, said in zip(new, zip(*rows, strict=True), strict=True):
                self._said[query.text, segment.id, segment.text] = said
        return [self._said[query.text, s.id, s.text] for s in segments]

    def evidence(self, query: Query, segments: Sequence[Segment]) -> list[bool]:
        """Tell which segments the majority takes as evidence."""
        return [_share(said) > 0.5 for said in self.votes(query, segments)]

    def signals(self, episode: Episode, ranking: Ranking, segments: Sequence[Segment]) -> Signals:
        """Judge a ranking; `segments` are the document's, by position."""
        first = [segments[hit.position] for hit in ranking.hits]
        top = ranking.hits[0].relevance if first else 0.0
        return self.signals_of(episode, ranking.query, first, top=top)

    def signals_of(
        self, episode: Episode, query: Query, ranked: Sequence[Segment], *, top: float = 0.0
    ) -> Signals:
        """Judge segments in order; `top` is what the first one scores, if anybody asks."""
        first = ranked[: self.k]
        votes = self.votes(query, first)
        gold = frozenset(episode.gold)
        bad = frozenset(episode.bad)
        named = [bool(gold & {segment.id, segment.text}) for segment in first]
        barred = [bool(bad & {segment.id, segment.text}) for segment in first]
        taken = [named[i] or (_share(said) > 0.5 and not barred[i]) for i, said in enumerate(votes)]
        evidence = tuple(segment.id for segment, own in zip(first, taken, strict=True) if own)
        found, gain = 0, 0.0
        if gold:
            met = {name for segment in first for name in (segment.id, segment.text) if name in gold}
            sufficient, needed, dissent = met == gold, tuple(sorted(met)), 0.0
            found = len(met)
            gain = sum(
                1.0 / log2(rank + 1)
                for rank, segment in enumerate(ranked, 1)
                if gold & {segment.id, segment.text}
            )
        else:
            sufficient, needed, dissent = any(taken), evidence, _dissent(votes)
        return Signals(
            sufficient=sufficient,
            compression=self._compression(taken, self.k, top),
            evidence=evidence,
            needed=needed,
            first=tuple(segment.id for segment in first),
            dissent=dissent,
            found=found,
            gain=gain,
        )


def _share(said: Sequence[float]) -> float:
    """The share of judges that see evidence."""
    return sum(p >= EVIDENCE for p in said) / len(said)


def _dissent(votes: Sequence[Sequence[float]]) -> float:
    """How far the judges are from agreeing that there is, or is no, evidence.

    One segment that all of them take is enough, and so is none that any of them takes.
    """
    shares = [_share(said) for said in votes]
    best = max(shares, default=0.0)
    return min(best, 1.0 - best)
