"""θ_critic: does what was retrieved satisfy the query? A rule, or the votes of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abstrag.config import JUDGE_SAMPLES, JUDGE_TEMPERATURE
from abstrag.errors import BadReply, ModelError
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program, ask
from abstrag.model.ranking import Hit, LiteralTrace, Ranking
from abstrag.model.record import record
from abstrag.model.term import LicenceKind
from abstrag.refine.evaluator import Evaluator, K
from abstrag.refine.feedback import Episode
from abstrag.refine.sufficiency import Calibrations, sufficiency
from abstrag.search.scoring import Scoring

_MOST_CHANGES: Final = 40  # patches a model is told of


@record
class Criticism:
    """The verdict on one retrieval, and the share of votes that went against it."""

    accepted: bool
    reason: str
    dissent: float = 0.0
    calls: tuple[str, ...] = ()  # of a model, in the log


# looks at the first K hits of a query, and accepts or rejects them
Critic = Callable[[Episode, Scoring, Ranking], Criticism]


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
    """Accepts by calibrated probabilities of the ranking; gold decides where there is any.

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
    """Asks a model several times; the majority decides, and dissent is counted."""

    model: LanguageModel
    program: Program
    samples: int = JUDGE_SAMPLES
    k: int = K

    def __call__(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> Criticism:
        """Vote; a reply that cannot be used is no vote, and no vote at all is an error."""
        inputs = {
            "query": episode.query,
            "conditions": [f"{each.kind.value} {each.label}" for each in ranking.query.literals],
            "budget": scoring.tau,
            "state": in_force(scoring),
            "segments": [
                {**seen, "trace": traced(hit)}
                for seen, hit in zip(shown(ranking, self.k), ranking.hits, strict=False)
            ],
        }
        votes: list[tuple[bool, str, str]] = []
        failed: ModelError | None = None
        for sample in range(self.samples):
            try:
                said = ask(
                    self.model,
                    self.program,
                    dict[str, Any],
                    inputs,
                    role=CallRole.CRITIC,
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


def traced(hit: Hit) -> list[str]:
    """Return how a hit meets each condition, as a model is shown it: by what, at what cost."""
    return [_met(each) for each in hit.trace.literals]


def _met(each: LiteralTrace) -> str:
    if not each.met:
        return f"{each.literal.label}: not met"
    ways = ", ".join(f"{b.source} → {b.target} ({b.family.value})" for b in each.bridges)
    return f"{each.literal.label}: {ways or each.via}, {each.distance or 0.0:.2f}"


def in_force(scoring: Scoring) -> list[str]:
    """Return what refinement has changed about a search, as a model is shown it."""
    edges = [e for e in scoring.index.edges if e.licence.kind is LicenceKind.PATCH]
    told = [f"{e.source} may stand for {e.target}" for e in edges]
    for step in scoring.alignment.steps if scoring.alignment else ():
        limit = f"at least {step.at_least:g}" if step.refuses else f"at most {step.at_most:g}"
        told.append(f"“{step.said}” for “{step.asked}” costs {limit}")
    if scoring.alignment and (elsewhere := scoring.alignment.elsewhere):
        told.insert(0, f"{elsewhere} documents have shown where the answer to this stands")
    return told[:_MOST_CHANGES]
