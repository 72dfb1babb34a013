"""What a refinement leaves behind: every step of it, as records that a person can follow."""

from __future__ import annotations

from enum import StrEnum

from abstrag.model.patch import EffectKind, Failure, Patch
from abstrag.model.ranking import Ranking
from abstrag.model.record import Result, record, to_json
from abstrag.refine.critic import Criticism
from abstrag.refine.explain import Localization
from abstrag.refine.gate import GateVerdict


class End(StrEnum):
    """Why a loop ended."""

    ACCEPTED = "the critic accepts"
    FIXED_POINT = "fixed point: no admissible patch improves on this"
    BUDGET = "the budget is spent"


@record
class PlacedSegment:
    """A segment in a ranking, and whether the evaluator takes it as evidence."""

    segment: str
    relevance: float
    evidence: bool


@record
class Attempt:
    """One proposal: the patch, what it would do, the gate's word, and, if it passed, its ranking.

    `patch` is None when what was proposed is no patch; `said` then tells what it was.
    """

    patch: Patch | None
    effect: EffectKind
    verdict: GateVerdict
    after: tuple[PlacedSegment, ...] = ()
    said: str = ""
    controls: tuple[str, ...] = ()  # solved queries it was held against

    @property
    def refusal(self) -> str:
        """The proposal and why it was refused, in one line, for the next proposer."""
        said = self.said
        if self.patch is not None:
            what = self.patch.delta or self.patch.edit
            said = f"{self.patch.stage.value}: {to_json(what)}"
        return f"{said}: {'; '.join(self.verdict.reasons)}"


@record
class RefineStep:
    """One cycle: the failure, the stage it was put down to, and what was tried."""

    cycle: int
    criticism: Criticism
    failure: Failure
    localization: Localization
    before: tuple[PlacedSegment, ...]
    attempts: tuple[Attempt, ...]
    controls: tuple[str, ...]  # questions of the solved cases that had to stay solved


@record
class Refinement(Result):
    """A query refined: ranking before and after, every step, and why it ended."""

    query: str
    document: str
    steps: tuple[RefineStep, ...]
    before: Ranking
    after: Ranking
    sufficient_before: bool
    sufficient: bool
    accepted: bool  # some patch was kept
    patches: tuple[Patch, ...]  # those that were
    end: End
    reason: str
    state_before: str
    state_after: str


@record
class Run:
    """A file of episodes refined until nothing improves; Φ is (sufficient cases, gold found)."""

    document: str
    episodes: int
    refinements: tuple[Refinement, ...]
    potential_before: tuple[int, int]
    potential_after: tuple[int, int]
    solved: tuple[str, ...]  # the queries that are sufficient in the end
    patches: tuple[Patch, ...]
    end: End
    state_before: str
    state_after: str
