"""The loop: criticize, explain, localize, propose, gate; until nothing is left to gain.

Every accepted patch raises Φ over the whole file of episodes, no state is visited twice and each
trigger has a bounded number of cycles, so a run ends, and the record says how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from abstrag.config import GATE_CONTROLS
from abstrag.errors import InputError
from abstrag.language.words import key
from abstrag.model.patch import EffectKind, Failure, Patch
from abstrag.model.ranking import Ranking
from abstrag.refine.critic import CalibratedCritic, Critic, LocalCritic
from abstrag.refine.evaluator import Evaluator, Signals
from abstrag.refine.explain import Explainer, LocalExplainer, Localization, Localizer, localize
from abstrag.refine.feedback import Episode
from abstrag.refine.gate import ALL, Controls, GateVerdict, decide, kept_share, potential
from abstrag.refine.limits import RefineBudget, objection
from abstrag.refine.outcome import Attempt, End, PlacedSegment, Refinement, RefineStep, Run
from abstrag.refine.overlay import StatefulSearch
from abstrag.refine.propose import LocalProposer, Proposer, Unusable
from abstrag.refine.state import State, classify, route
from abstrag.search.document_words import forms


@dataclass(frozen=True, slots=True)
class RefinementRoles:
    """Θ: critic, explainer, localizer and proposer, with evaluator and limits."""

    evaluator: Evaluator
    critic: Critic
    explainer: Explainer
    localizer: Localizer
    proposer: Proposer
    budget: RefineBudget = field(default_factory=RefineBudget)
    enforce: Controls = ALL
    programs: str = ""  # hash of the prompt programs that are asked, if any

    @classmethod
    def local(cls, evaluator: Evaluator, proposer: Proposer | None = None) -> RefinementRoles:
        """Return the rule-based ones, which need no model but the evaluator's."""
        return cls(
            evaluator,
            LocalCritic(evaluator),
            LocalExplainer(evaluator),
            localize,
            proposer or LocalProposer(),
        )


class Loop:
    """Refines one document's state on its episodes.

    Attributes:
        state: Ξ, as far as it has got.
        patches: those accepted so far, in order.
    """

    def __init__(
        self,
        system: StatefulSearch,
        judges: RefinementRoles,
        state: State,
        episodes: Sequence[Episode],
        *,
        carried: int = 0,
    ) -> None:
        self.system = system
        self.judges = judges
        self.state = state
        self.patches: list[Patch] = []
        self._episodes = {episode.query: episode for episode in episodes}
        self._carried = carried
        self._visited = {state.hash}
        self._cycles: Counter[str] = Counter()
        self._refused: dict[str, list[str]] = {}  # by query: what was tried, and why not
        self._rankings: dict[tuple[str, str], Ranking] = {}
        self._judged: dict[tuple[str, str], Signals] = {}

    def run(self) -> Run:
        """Go over all episodes until a whole pass improves nothing."""
        first, before = self.state.hash, potential(self._signals(self.state))
        done: list[Refinement] = []
        progress, cut = True, False
        while progress:
            progress, cut = False, False
            for episode in self._episodes.values():
                if self._accepts(episode):
                    continue
                if self._cycles[episode.query] >= self.judges.budget.cycles:
                    cut = True
                    continue
                done.append(self.refine(episode))
                progress |= done[-1].accepted
                cut |= done[-1].end is End.BUDGET
        end = End.BUDGET if cut else End.FIXED_POINT
        if all(self._accepts(episode) for episode in self._episodes.values()):
            end = End.ACCEPTED
        any_query, after = next(iter(self._episodes)), self._signals(self.state)
        return Run(
            document=self.system.scoring(any_query, self.state).document.document.id,
            episodes=len(self._episodes),
            refinements=tuple(done),
            potential_before=before,
            potential_after=potential(after),
            solved=tuple(query for query, found in after.items() if found.sufficient),
            patches=tuple(self.patches),
            end=end,
            state_before=first,
            state_after=self.state.hash,
        )

    def refine(self, episode: Episode) -> Refinement:
        """Refine on one trigger, within its cycles."""
        if episode.query not in self._episodes:
            raise InputError(f"{episode.query!r} is not among the episodes of this run")
        first, kept = self.state.hash, len(self.patches)
        before, signals = self._ranking(self.state, episode), self._judge(self.state, episode)
        steps: list[RefineStep] = []
        end = End.BUDGET
        while self._cycles[episode.query] < self.judges.budget.cycles:
            if self._accepts(episode):
                break
            self._cycles[episode.query] += 1
            step, cut = self._cycle(episode)
            steps.append(step)
            if not (step.attempts and step.attempts[-1].verdict.accepted):
                end = End.BUDGET if cut else End.FIXED_POINT
                break
        if self._accepts(episode):
            end = End.ACCEPTED
        after, final = self._ranking(self.state, episode), self._judge(self.state, episode)
        return Refinement(
            query=episode.query,
            document=before.document,
            steps=tuple(steps),
            before=before,
            after=after,
            sufficient_before=signals.sufficient,
            sufficient=final.sufficient,
            accepted=len(self.patches) > kept,
            patches=tuple(self.patches[kept:]),
            end=end,
            reason=end.value,
            state_before=first,
            state_after=self.state.hash,
        )

    def _cycle(self, episode: Episode) -> tuple[RefineStep, bool]:
        """Try patches until one is accepted; the flag says that the attempts ran out."""
        scoring = self.system.scoring(episode.query, self.state)
        ranking = self._ranking(self.state, episode)
        failure = self.judges.explainer(episode, scoring, ranking)
        place = self.judges.localizer(failure)
        before = self._placed(self.state, episode)
        attempts: list[Attempt] = []
        cut = False
        for proposal in self._proposals(failure, place, episode):
            if len(attempts) == self.judges.budget.attempts:
                cut = True
                break
            attempts.append(self._attempt(proposal, episode))
            if attempts[-1].verdict.accepted:
                break
            self._refused.setdefault(episode.query, []).append(attempts[-1].refusal)
        step = RefineStep(
            cycle=self._cycles[episode.query],
            criticism=self.judges.critic(episode, scoring, ranking),
            failure=failure,
            localization=place,
            before=before,
            attempts=tuple(attempts),
            controls=tuple(dict.fromkeys(name for one in attempts for name in one.controls)),
        )
        return step, cut

    def _proposals(
        self, failure: Failure, place: Localization, episode: Episode
    ) -> Iterator[Patch | Unusable]:
        """Yield proposals stage by stage, each only once."""
        scoring = self.system.scoring(episode.query, self.state)
        seen: set[object] = set()
        for stage in (place.stage, *place.others):
            told = replace(failure, refused=tuple(self._refused.get(episode.query, ())))
            for proposal in self.judges.proposer(told, stage, scoring):
                same: object = proposal
                if isinstance(proposal, Patch):  # whoever licenses it
                    same = proposal.stage, proposal.delta, proposal.edit
                if same not in seen:
                    seen.add(same)
                    yield proposal

    def _attempt(self, proposal: Patch | Unusable, episode: Episode) -> Attempt:
        """Test one proposal against limits and gate, and adopt it if it passes both."""
        if isinstance(proposal, Unusable):
            verdict = GateVerdict(False, (f"no patch: {proposal.reason}",))
            return Attempt(None, EffectKind.NO_OP, verdict, said=proposal.said)
        effect, reached = classify(proposal), route(self.state, proposal)
        document = self.system.scoring(episode.query, self.state).document
        reason = objection(
            proposal,
            self.state,
            document,
            budget=self.judges.budget,
            carried=self._carried + len(self.patches),
        )
        if reason is None and reached == self.state:
            reason = "it changes nothing"
        if reason is None and reached.hash in self._visited:
            reason = "it leads back to a state that was left"
        if reason is not None:
            return Attempt(proposal, effect, GateVerdict(False, (reason,)))
        controls = self._controls(reached, episode)
        verdict = self._decide(reached, episode, controls)
        after: tuple[PlacedSegment, ...] = ()
        left = reached
        if verdict.accepted:
            after = self._placed(reached, episode)  # traces take most of the time
            left, self.state = self.state, reached
            self.patches.append(proposal)
            self._visited.add(reached.hash)
        self._forget(left)
        return Attempt(proposal, effect, verdict, after, controls=controls)

    def _decide(self, reached: State, episode: Episode, controls: Sequence[str]) -> GateVerdict:
        before, after = self._signals(self.state), self._signals(reached)
        query = episode.query
        kept = None if controls else kept_share(before[query].first, after[query].first)
        triggers = [query, *self._kin(episode, before)]
        return decide(
            before,
            after,
            triggers=triggers,
            controls=controls,
            kept=kept,
            enforce=self.judges.enforce,
        )

    def _controls(self, reached: State, episode: Episode) -> tuple[str, ...]:
        """Choose the solved cases whose first K a patch changes most; on a tie, others each cycle.

        The evaluator has no say in it, so that the choice does not prejudge the verdict.
        """
        before, after = self._signals(self.state), self._signals(reached)
        turn = f"{episode.query} {self._cycles[episode.query]}"

        def moved(name: str) -> tuple[float, bytes]:
            drawn = sha256(f"{turn} {name}".encode()).digest()
            return kept_share(before[name].first, after[name].first), drawn

        solved = [n for n, one in before.items() if one.sufficient and n != episode.query]
        return tuple(sorted(solved, key=moved)[:GATE_CONTROLS])

    def _kin(self, episode: Episode, before: dict[str, Signals]) -> list[str]:
        """Return the failures that share a condition with the trigger."""
        asked = self._asked(episode)
        return [
            name
            for name, other in self._episodes.items()
            if name != episode.query and not before[name].sufficient and self._asked(other) & asked
        ]

    def _asked(self, episode: Episode) -> frozenset[str]:
        literals = self.system.scoring(episode.query, self.state).query.literals
        return frozenset(term for literal in literals for term in literal.terms)

    def _accepts(self, episode: Episode) -> bool:
        scoring = self.system.scoring(episode.query, self.state)
        return self.judges.critic(episode, scoring, self._ranking(self.state, episode)).accepted

    def _signals(self, state: State) -> dict[str, Signals]:
        return {name: self._judge(state, one) for name, one in self._episodes.items()}

    def _ranking(self, state: State, episode: Episode) -> Ranking:
        """Search under a state, once, with the traces that explain what is found."""
        name = (_concerning(state, episode.query).hash, episode.query)
        if name not in self._rankings:
            scoring = self.system.scoring(episode.query, state)
            self._rankings[name] = scoring.ranking(self.judges.evaluator.k)
        return self._rankings[name]

    def _judge(self, state: State, episode: Episode) -> Signals:
        """Have the evaluator judge what is found under a state, once."""
        name = (_concerning(state, episode.query).hash, episode.query)
        if name not in self._judged:
            found = self._seen(state, episode)
            self._judged[name] = self._voted(found, episode, state)
        return self._judged[name]

    def _seen(self, state: State, episode: Episode) -> Signals:
        """Judge a ranking without traces where they are not needed, because traces are costly."""
        evaluator, scoring = self.judges.evaluator, self.system.scoring(episode.query, state)
        segments = scoring.document.segments
        if scoring.judges or evaluator.reads_relevance:
            return evaluator.signals(episode, self._ranking(state, episode), segments)
        reach = len(segments) if episode.gold else evaluator.k
        first = [segments[position] for position in scoring.order[:reach]]
        return evaluator.signals_of(episode, scoring.query, first)

    def _voted(self, found: Signals, episode: Episode, state: State) -> Signals:
        """With a single episode there are no controls, and the critic decides (corpus mode).

        A critic that reads traces has none, or a patch would approve itself.
        """
        reads_traces = isinstance(self.judges.critic, CalibratedCritic)
        if len(self._episodes) > 1 or episode.gold or reads_traces:
            return found
        scoring, ranking = self.system.scoring(episode.query, state), self._ranking(state, episode)
        said = self.judges.critic(episode, scoring, ranking)
        return replace(found, sufficient=said.accepted, dissent=max(found.dissent, said.dissent))

    def _forget(self, state: State) -> None:
        """Drop the rankings of a state that is not in force, because traces are large."""
        for query in self._episodes:
            name = (_concerning(state, query).hash, query)
            if name != (_concerning(self.state, query).hash, query):
                self._rankings.pop(name, None)
                self._judged.pop(name, None)

    def _placed(self, state: State, episode: Episode) -> tuple[PlacedSegment, ...]:
        ranking, signals = self._ranking(state, episode), self._judge(state, episode)
        return tuple(
            PlacedSegment(hit.segment, hit.relevance, hit.segment in signals.evidence)
            for hit in ranking.hits[: self.judges.evaluator.k]
        )


def _concerning(state: State, query: str) -> State:
    """Return a state less the steps to words that a query does not have: they do not concern it.

    Precedents are the same from the first state of a loop to its last.
    """
    steps = state.programs.steps
    if not (steps or state.programs.precedents):
        return state
    asked = {form for word in key(query).split() for form in forms(word)}
    kept = tuple(step for step in steps if not asked.isdisjoint(forms(step.asked)))
    return replace(state, programs=replace(state.programs, steps=kept, precedents=()))
