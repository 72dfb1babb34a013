"""A proposer that guesses: what the gate has to cope with when nothing licenses a patch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from abstrag.model.patch import Alias, EventMapping, Failure, Patch, Stage
from abstrag.model.query import LiteralKind
from abstrag.model.term import Licence, LicenceKind
from abstrag.rank.scoring import Scoring
from abstrag.rank.why_not import KINDS
from abstrag.refine.propose import nearest, patch_cost, unmet_literals


@dataclass(frozen=True, slots=True)
class GuessingProposer:
    """Takes any term of the missed segment for the unmet literal, the most widespread first.

    It stands for a careless model: its patches do lift the segment, and whatever else holds the
    term. Only the stress slice uses it.
    """

    def __call__(self, failure: Failure, stage: Stage, scoring: Scoring) -> Iterable[Patch]:
        """Propose an edge from each term that could stand for a literal by its kind."""
        hit = nearest(failure, scoring)
        if hit is None or stage not in (Stage.MAP, Stage.EVENT):
            return
        here = scoring.index.terms_of(hit.position)
        guessed = Licence(LicenceKind.MODEL, "guessed")
        for literal in unmet_literals(failure):
            event = literal.kind is LiteralKind.EVENT
            if event != (stage is Stage.EVENT):
                continue
            prefixes = tuple(f"{kind.value}:" for kind in KINDS[literal.kind])
            fitting = [t for t in here if t.startswith(prefixes) and "." not in t]
            spread = {term: len(scoring.index.told(term, literal)[0]) for term in fitting}
            for term in sorted(fitting, key=lambda t: (-spread[t], t)):
                if term not in literal.terms:
                    kind = EventMapping if event else Alias
                    delta = kind(term, literal.terms[0], 0.0)
                    yield Patch(stage, delta, guessed, patch_cost(delta))
