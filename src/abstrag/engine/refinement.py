"""Refinement wired up: one document's searcher, its evaluator, and the log of its patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.config import JUDGE_SAMPLES, TAU
from abstrag.engine.searcher import DEFAULT_K, Searcher
from abstrag.errors import InputError
from abstrag.llm.budget import Estimate
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.model.patch import Precedent, Stage
from abstrag.model.ranking import Ranking
from abstrag.neural.judge import default_judge
from abstrag.policy.load import base_hash, canonical, content_hash, load_program
from abstrag.refine.critic import CalibratedCritic, PromptedCritic
from abstrag.refine.evaluator import EVIDENCE, Evaluator, K, reach_of
from abstrag.refine.explain import LocalExplainer, PromptedExplainer, PromptedLocalizer
from abstrag.refine.feedback import Episode
from abstrag.refine.licensing import Licensing
from abstrag.refine.limits import RefineBudget
from abstrag.refine.loop import Loop, RefinementRoles
from abstrag.refine.outcome import Refinement, Run
from abstrag.refine.overlay import Overlay
from abstrag.refine.patch_log import PatchInForce, PatchLog, text_hash
from abstrag.refine.propose import ChainedProposer, LocalProposer, PromptedProposer
from abstrag.refine.state import Programs, State, replayed
from abstrag.refine.sufficiency import sufficiency
from abstrag.search.judging import Judge
from abstrag.search.precedents import RIVALS, direction, opened, packed, together, wording

SURE: Final = 0.5  # the critic's doubt below which the first hit is taken for evidence


def precedent_of(searcher: Searcher, query: str, good: Sequence[str]) -> Precedent | None:
    """Return the precedent that evidence shows; without evidence, one that withdraws it.

    None where the preset compares no vectors, or where all of the document is evidence.
    """
    alignment = searcher.scoring(query).alignment
    if alignment is None:
        return None
    names, segments = set(good), searcher.index.segments
    at = [p for p, segment in enumerate(segments) if names & {segment.id, segment.text}]
    rivals = _rivals(searcher, query, at) if at else []
    told = direction(np.asarray(alignment.words.gists, np.float32), at, rivals)
    if told is None and at:
        return None
    words: list[list[str]] = [[] for _ in segments]
    bases, owners, numbers = alignment.words.bases
    for owner, number in zip(owners.tolist(), numbers.tolist(), strict=True):
        words[owner].append(bases[number])
    return Precedent(
        query,
        text_hash(searcher.index),
        tuple(segments[p].id for p in at),
        alignment.words.model,
        packed(alignment.asked.gist),
        "" if told is None else packed(told),
        wording(words, at, rivals),
        round(together(at), 3),
        opened(at, alignment.words.openings),
    )


def _rivals(searcher: Searcher, query: str, evidence: Sequence[int]) -> list[int]:
    """Return the best-ranked segments that are no evidence, without judge and lessons."""
    scoring = searcher.scoring(query, preset=searcher.preset.unjudged)
    assert scoring.alignment is not None
    plain = replace(scoring.alignment, steps=(), precedents=())
    known = frozenset(evidence)
    order = replace(scoring, alignment=plain).order
    return [position for position in order if position not in known][:RIVALS]


def presumed(searcher: Searcher, query: str) -> Precedent | None:
    """Return the precedent of the first hits if the critic is sure of the ranking; else None.

    The first is taken for evidence, and of the others what the judge takes for it.
    """
    ranking = searcher.search(query, k=reach_of(len(searcher.index.segments)))
    expected = sufficiency(ranking, searcher.index.genre.value)
    if expected is None or expected.missed >= SURE:
        return None
    first, *others = ranking.hits
    taken = [hit.segment for hit in others if (hit.judgement or 0.0) >= EVIDENCE]
    return precedent_of(searcher, query, [first.segment, *taken])


class Refiner:
    """Searches one document under the patches in force for it, and refines them.

    Without a patch log nothing outlives the refiner. With one, what is accepted holds for every
    later search of the same text, and every attempt is in the log. A refiner that may not write,
    such as one in a worker, is given the patches in force instead.
    """

    def __init__(
        self,
        searcher: Searcher,
        judges: RefinementRoles,
        *,
        patch_log: PatchLog | None = None,
        tau: float = TAU,
        carried: Sequence[PatchInForce] = (),
    ) -> None:
        self.searcher = searcher
        self.judges = judges
        self.tau = tau
        self._patch_log = patch_log
        self._own: State | None = None  # where it has got to without a patch log
        self._carried = tuple(carried)  # what was in force before, for one without a patch log

    @cached_property
    def system(self) -> Overlay:
        """The document, searchable under any state."""
        return Overlay(lambda query: self.searcher.scoring(query, tau=self.tau))

    @property
    def initial(self) -> State:
        """The state before any patch."""
        return State(
            operators=self.searcher.index.fingerprint,
            programs=Programs(base=self.judges.programs),
            judges=self.judges.evaluator.fingerprint,
        )

    @property
    def state(self) -> State:
        """The state in force."""
        if self._patch_log is None and self._own is not None:
            return self._own
        return replayed(self.initial, (each.patch for each in self._kept()))

    def search(self, query: str, *, k: int = DEFAULT_K) -> Ranking:
        """Search with the patches in force; nothing is refined."""
        return self.system.scoring(query, self.state).ranking(k)

    def refine(self, query: str, *, gold: Sequence[str] = ()) -> Refinement:
        """Refine on one query; queries solved earlier have to stay solved."""
        trigger = Episode(self.searcher.index.document.id, query, tuple(gold))
        self._check([trigger])
        known = self._patch_log and self._patch_log.episodes(text_hash(self.searcher.index))
        # a document that was cut otherwise since has lost the segments some gold names
        before = [e for e in known or () if not self._unknown(e)]
        if not gold:  # what a person said of this query before still counts
            said = next((e for e in before if e.query == query), trigger)
            trigger = replace(trigger, gold=said.gold, bad=said.bad)
        others = [e for e in before if e.query != query]
        loop = self._loop((trigger, *others))
        made = loop.refine(trigger)
        self._own = loop.state
        self._note([(made, trigger)], [trigger] if made.sufficient else [])
        self._show([trigger])
        return made

    def run(self, episodes: Sequence[Episode]) -> Run:
        """Refine on several queries until none of them gains from another patch."""
        self._check(episodes)
        loop = self._loop(episodes)
        made = loop.run()
        self._own = loop.state
        self.note(made, episodes)
        return made

    def note(self, made: Run, episodes: Sequence[Episode]) -> None:
        """Write a run into the patch log."""
        by_query = {episode.query: episode for episode in episodes}
        refined = [(each, by_query[each.query]) for each in made.refinements]
        self._note(refined, [by_query[query] for query in made.solved])
        self._show(episodes)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Return the names by which gold may refer to a segment: its id and its words."""
        return frozenset(name for s in self.searcher.index.segments for name in (s.id, s.text))

    def _unknown(self, episode: Episode) -> list[str]:
        return [name for name in episode.gold if name not in self._names]

    def _check(self, episodes: Sequence[Episode]) -> None:
        for episode in episodes:
            if unknown := self._unknown(episode):
                document = self.searcher.index.document.id
                raise InputError(
                    f"{document!r} has no segment {unknown[0]!r}, which the gold of "
                    f"{episode.query!r} names",
                    hint=f"abstrag show {document}",
                )

    def _loop(self, episodes: Sequence[Episode]) -> Loop:
        document = text_hash(self.searcher.index)
        own = self._carried if self._patch_log is None else self._patch_log.kept(document)
        return Loop(self.system, self.judges, self.state, episodes, carried=len(own))

    def _kept(self) -> tuple[PatchInForce, ...]:
        if self._patch_log is None:
            return self._carried
        return self._patch_log.in_force(self.searcher.index)

    def _show(self, episodes: Sequence[Episode]) -> None:
        """Log the precedent that gold, or a critic that is sure, gives documents of the genre."""
        for episode in episodes if self._patch_log is not None else ():
            if episode.gold:
                shown = precedent_of(self.searcher, episode.query, episode.gold)
                reason = "gold names it"
            else:
                shown = presumed(self.searcher, episode.query)
                reason = "the critic is sure of the first hits"
            if shown is not None and self._patch_log is not None:
                self._patch_log.note_precedent(shown, self.searcher.index, reason)

    def _note(self, made: Sequence[tuple[Refinement, Episode]], solved: Sequence[Episode]) -> None:
        if self._patch_log is not None:
            for refinement, episode in made:
                self._patch_log.note(refinement, self.searcher.index, episode)
            for episode in solved:
                self._patch_log.note_solved(episode, self.searcher.index)


def packaged_evaluator(
    judge: Judge | None = None,
    *,
    title: str = "",
    k: int = K,
    compression: str = "distractors",
) -> Evaluator:
    """Return the fixed evaluator: the judge given, or the shipped one under a document's title."""
    chosen = judge or default_judge().reading(title)
    name = getattr(chosen, "fingerprint", type(chosen).__name__)  # the same in every process
    return Evaluator(chosen, k=k, compression=compression, name=name)


def local_judges(searcher: Searcher, evaluator: Evaluator) -> RefinementRoles:
    """Return the rule-based critic, localizer and proposer for one document."""
    licensing = Licensing(searcher.index.background)
    made = RefinementRoles.local(evaluator, LocalProposer(licensing))
    critic = CalibratedCritic(evaluator, searcher.index.genre.value)
    return replace(made, critic=critic)


def prompted_judges(
    models: Models,
    searcher: Searcher,
    evaluator: Evaluator,
    *,
    family: str | None = None,
    root: Path | None = None,
) -> RefinementRoles:
    """Return the roles of refinement: prompted where there is a model, rules elsewhere.

    The evaluator that the gate trusts is the fixed one either way.
    """
    program = partial(load_program, family=family, root=root)
    names = [base_hash(program(stage)) for stage in ("critic", "explain", "localize", "refine")]
    asked = content_hash(canonical(names))
    made = replace(local_judges(searcher, evaluator), programs=asked)
    if (critic := models.get(CallRole.CRITIC)) is not None:
        made = replace(
            made,
            critic=PromptedCritic(critic, program("critic"), k=evaluator.k),
            explainer=PromptedExplainer(critic, program("explain"), LocalExplainer(evaluator)),
        )
    if (refiner := models.get(CallRole.REFINE)) is not None:
        made = replace(
            made,
            localizer=PromptedLocalizer(refiner, program("localize")),
            proposer=ChainedProposer((PromptedProposer(refiner, program("refine")), made.proposer)),
        )
    return made


def refinement_estimate(models: Models, cycles: int) -> Estimate:
    """Estimate what a number of cycles takes at most.

    A cycle criticizes before and after every attempt, explains once, and asks for a stage and for
    patches of each of the four; a program and ten passages are about 3,000 tokens.
    """
    total = Estimate(most=True)
    attempts = RefineBudget().attempts
    for role, calls in (
        (CallRole.CRITIC, cycles * (JUDGE_SAMPLES * (attempts + 1) + 1)),
        (CallRole.REFINE, cycles * (len(Stage) + 1)),
    ):
        if role in models:
            total += models.guess(role, calls, 3_000 * calls, 1_024 * calls, most=True)
    return total
