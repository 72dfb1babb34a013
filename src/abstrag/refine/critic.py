"""θ_critic: does what was retrieved satisfy the query? A rule, or the votes of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from abstrag.config import JUDGE_SAMPLES, JUDGE_TEMPERATURE
from abstrag.errors import BadReply, ModelError
from abstrag.llm.ask import ask
from abstrag.llm.model import LanguageModel, Role
from abstrag.llm.program import Program
from abstrag.model.ranking import Ranking
from abstrag.model.record import record
from abstrag.refine.episode import Episode
from abstrag.refine.evaluator import Evaluator, K
from abstrag.refine.sufficiency import Calibrations, sufficiency
from abstrag.search.scoring import Scoring


@record
class Criticism:
    """The verdict on one retrieval, and the share of votes that went against it."""

    accepted: bool
    reason: str
    dissent: float = 0.0
    calls: tuple[str, ...] = ()  # of a model, in the log


class Critic(Protocol):
    """Looks at the first K hits of a query."""

    def __call__(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> Criticism:
        """Accept a retrieval, or reject it."""
        ...


@dataclass(frozen=True, slots=True)
class LocalCritic:
    """Accepts when the evaluator finds the evidence among the first K."""

    evaluator: Evaluator

    def __call__(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> Criticism:
        """Ask the evaluator."""
        found = self.evaluator.signals(episode, ranking, scoring.document.segments)
        shown = min(self.evaluator.k, len(ranking.hits))
        if found.sufficient:
            return Criticism(True, f"evidence: {', '.join(found.evidence)}", found.dissent)
        wanted = "all of the gold evidence" if episode.gold else "evidence"
        said = f"the first {shown} hits do not hold {wanted}" if shown else "nothing was found"
        return Criticism(False, said, found.dissent)


@dataclass(frozen=True, slots=True)
class CalibratedCritic:
    """Accepts by what rankings like this one turned out to hold; gold, where there is any, decides.

    It says what to try to mend. It reads traces, which a patch changes, so it has no say in
    whether a patch is kept. Where the preset was not fitted the evaluator decides.
    """

    evaluator: Evaluator
    genre: str
    known: Calibrations | None = None
    limit: float = 0.5

    def __call__(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> Criticism:
        """Ask gold, then what was fitted."""
        local = LocalCritic(self.evaluator)(episode, scoring, ranking)
        expected = None if episode.gold else sufficiency(ranking, self.genre, self.known)
        if expected is None:
            return local
        said = f"of rankings like this one {expected.missed:.0%} miss evidence"
        return Criticism(expected.missed < self.limit, said, local.dissent)


@dataclass(frozen=True, slots=True)
class PromptedCritic:
    """Asks a model several times; the majority decides, and who dissents is counted."""

    model: LanguageModel
    program: Program
    samples: int = JUDGE_SAMPLES
    k: int = K

    def __call__(
        self,
        episode: Episode,
        scoring: Scoring,  # noqa: ARG002
        ranking: Ranking,
    ) -> Criticism:
        """Vote; a reply that cannot be used is no vote, and no vote at all is an error."""
        inputs = {"query": episode.query, "segments": shown(ranking, self.k)}
        votes: list[tuple[bool, str, str]] = []
        failed: ModelError | None = None
        for sample in range(self.samples):
            try:
                said = ask(
                    self.model,
                    self.program,
                    dict[str, Any],
                    inputs,
                    role=Role.CRITIC,
                    sample=sample,
                    temperature=JUDGE_TEMPERATURE if self.samples > 1 else 0.0,
                )
            except BadReply as error:
                failed = error
                continue
            failure = said.value.get("failure") or {}
            votes.append((bool(said.value["sufficient"]), failure.get("reading", ""), said.call))
        if not votes:
            assert failed is not None
            raise failed
        yes = sum(vote for vote, _, _ in votes)
        accepted = 2 * yes > len(votes)  # a tie is a doubt, and doubt rejects
        against = len(votes) - yes if accepted else yes
        readings = [text for vote, text, _ in votes if vote is accepted and text]
        reason = readings[0] if readings else f"{yes} of {len(votes)} votes call it sufficient"
        calls = tuple(call for _, _, call in votes)
        return Criticism(accepted, reason, against / len(votes), calls)


def shown(ranking: Ranking, k: int) -> Sequence[dict[str, Any]]:
    """Return the first k hits as a model is shown them: the raw text and where it stands."""
    return [
        {"segment": hit.segment, "text": hit.text, "section": " > ".join(hit.section)}
        for hit in ranking.hits[:k]
    ]
