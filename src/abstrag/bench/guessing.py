"""A proposer that guesses: what the gate has to cope with when nothing licenses a patch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, zip_longest
from typing import Final

from abstrag.config import OMEGA, TAU
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EventMapping,
    Failure,
    HypernymRestriction,
    Patch,
    Stage,
)
from abstrag.model.query import LiteralKind
from abstrag.model.term import Family, Licence, LicenceKind
from abstrag.refine.evaluator import K
from abstrag.refine.explain import assumed
from abstrag.refine.propose import Delta, nearest, patch_cost, unmet_literals
from abstrag.search.scoring import Scoring
from abstrag.search.why_not import KINDS

_GUESSED: Final = Licence(LicenceKind.MODEL, "guessed")
_STEP: Final = 0.01  # what keeps a price on its side of another
_STAGE: Final = {
    Alias: Stage.MAP,
    EventMapping: Stage.EVENT,
    HypernymRestriction: Stage.QUERY,
    ClauseCost: Stage.QUERY,
}


@dataclass(frozen=True, slots=True)
class GuessingProposer:
    """Guesses what to let in and what to keep out by turns, the most far-reaching first.

    It stands for a careless model, which does not care for the stage it is asked about either. To
    let something in, it takes any term of the missed segment for an unmet literal: the segment
    rises, and so does whatever else holds the term. To keep something out, it prices a family of
    bridges out of the budget or bars a step to a broader concept: distractors go, and so does
    evidence of other queries that hangs on them. Which it begins with hangs on the failure. Only
    the stress slice uses it.
    """

    k: int = K

    def __call__(
        self,
        failure: Failure,
        stage: Stage,  # noqa: ARG002
        scoring: Scoring,
    ) -> Iterable[Patch]:
        """Go through the guesses, each at the stage its kind belongs to."""
        turns = [_let_in(failure, scoring), self._keep_out(scoring)]
        if sha256(f"{failure.query} {failure.gap:.6f}".encode()).digest()[0] % 2:
            turns.reverse()
        for delta in chain.from_iterable(zip_longest(*turns)):
            if delta is not None:
                yield Patch(_STAGE[type(delta)], delta, _GUESSED, patch_cost(delta))

    def _keep_out(self, scoring: Scoring) -> Iterator[Delta]:
        """Higher prices of families, then bars on steps, by how many of the first K they serve."""
        hits = scoring.ranking(self.k).hits
        steps = Counter(bridge for hit in hits for bridge in dict.fromkeys(assumed(hit)))
        families: Counter[Family] = Counter()
        for bridge, count in steps.items():
            families[bridge.family] += count
        for family in sorted(families, key=lambda f: (-families[f], f)):
            yield ClauseCost(family=family, weight=_steep(family))
        for bridge in sorted(steps, key=lambda b: (-steps[b], b.source, b.target)):
            if bridge.family is Family.CONCEPT:
                yield HypernymRestriction(bridge.source, bridge.target)


def _let_in(failure: Failure, scoring: Scoring) -> Iterator[Delta]:
    """An edge from each term that could stand for a literal by its kind."""
    hit = nearest(failure, scoring)
    if hit is None:
        return
    here = scoring.index.terms_of(hit.position)
    for literal in unmet_literals(failure):
        prefixes = tuple(f"{kind.value}:" for kind in KINDS[literal.kind])
        fitting = [t for t in here if t.startswith(prefixes) and "." not in t]
        spread = {term: len(scoring.index.told(term, literal)[0]) for term in fitting}
        for term in sorted(fitting, key=lambda t: (-spread[t], t)):
            if term not in literal.terms:
                kind = EventMapping if literal.kind is LiteralKind.EVENT else Alias
                yield kind(term, literal.terms[0], 0.0)


def _steep(family: Family) -> float:
    """Return the highest price the order of ω leaves a family; the dearest is priced out of τ."""
    above = [weight for weight in OMEGA.values() if weight > OMEGA[family]]
    return round(min(above) - _STEP if above else TAU + _STEP, 4)
