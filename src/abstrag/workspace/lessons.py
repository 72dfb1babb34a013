"""Lessons of a workspace: what several documents ask for is tried on every solved query first."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from abstrag.config import Settings
from abstrag.engine.prompting import Prompting
from abstrag.engine.refinement import Refiner, packaged_evaluator
from abstrag.errors import InputError, NeedsModel, UnknownDocument
from abstrag.indexing.pipeline import index
from abstrag.language.words import key
from abstrag.llm.prompt import Program
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import StepPrice
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.neural.aligner import default_aligner
from abstrag.policy.audit import AuditEntry
from abstrag.policy.store import PolicyStore
from abstrag.refine.evaluator import Evaluator, K, Signals, reach_of
from abstrag.refine.feedback import Episode, read_episodes
from abstrag.refine.gate import ReplayedCase, ReplayReport, replay
from abstrag.refine.lessons import CandidatePrecedent, Lesson, PrecedentReplay, due, sifted
from abstrag.refine.patch_log import PatchLog, text_hash
from abstrag.refine.state import State, replayed, route
from abstrag.search.document_words import forms
from abstrag.search.precedents import nearness, unpacked
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.refining import RefineOptions, refiner_of
from abstrag.workspace.workspace import Workspace


def replay_file(
    path: Path, workspace: Workspace, *, evaluator: Evaluator | None = None
) -> ReplayReport:
    """Judge the episodes of a file without any patch and with those in force.

    The file has JSON lines of target, query and, where known, gold; targets that are files are
    indexed into the workspace's store. The packaged judge is not even loaded when every episode has
    gold.
    """
    episodes = read_episodes(path)
    cases: list[ReplayedCase] = []
    for target in dict.fromkeys(episode.target for episode in episodes):
        document = workspace.document(target)
        own = [episode for episode in episodes if episode.target == target]
        refiner = refiner_of(document)
        cases += replay(
            refiner.system,
            own,
            evaluator or _evaluator(own, document),
            before=refiner.initial,
            after=refiner.state,
            patches=len(document.patches),
        )
    return ReplayReport(tuple(cases))


def gold_evaluator(*, k: int = K, compression: str = "distractors") -> Evaluator:
    """Return an evaluator for episodes that all have gold: nothing else is evidence."""
    return Evaluator(_takes_nothing, k=k, compression=compression, name="gold")


def _evaluator(episodes: Sequence[Episode], document: SearchableDocument) -> Evaluator:
    if all(episode.gold for episode in episodes):
        return gold_evaluator()
    return packaged_evaluator(title=document.index.document.title)


def _takes_nothing(query: Query, segments: Sequence[Segment]) -> list[float]:  # noqa: ARG001
    return [0.0] * len(segments)


def pack_lines(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """Go through the lines of a pack: every document with feedback on hits, then its cases.

    A case needs a segment that a person called evidence. Documents that are no longer in the store,
    and segments that a document no longer has, are left out.
    """
    by_document: dict[str, list[tuple[str, tuple[str, ...], tuple[str, ...]]]] = {}
    for episode in workspace.patches.patch_log.feedback():
        said = episode.query, episode.gold, episode.bad
        by_document.setdefault(episode.target, []).append(said)
    number = 0
    for name, given in by_document.items():
        try:
            index = workspace.edited(name)
        except UnknownDocument:
            continue
        places = {s.id: i for i, s in enumerate(index.segments)}
        places |= {s.text: i for i, s in enumerate(index.segments)}
        cases = []
        for query, good, bad in given:
            gold = sorted({places[one] for one in good if one in places})
            wrong = sorted({places[one] for one in bad if one in places})
            if gold:
                number += 1
                cases.append(
                    {"doc": name, "id": number, "query": query, "gold": gold, "bad": wrong}
                )
        if cases:
            texts = [segment.text for segment in index.segments]
            yield {"doc": name, "title": index.document.title, "segments": texts}
            yield from cases


def export_packs(workspace: Workspace, path: Path) -> int:
    """Write feedback as a pack that `abstrag bench --dataset packs` reads; returns the cases.

    Raises:
        InputError: There is no feedback on hits, or the file cannot be written.
    """
    lines = list(pack_lines(workspace))
    cases = sum("query" in line for line in lines)
    if not cases:
        raise InputError(
            "no feedback names a segment that is evidence",
            hint='abstrag feedback report.pdf "Who paid?" --good s12',
        )
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error}") from error
    return cases


# Promotion: a prompt edit that has its votes is tried on every solved query before it counts.
#
# A changed program changes what a model makes of a document, so each document with solved queries
# is indexed once with the program as it is and once as it would be, and the evaluator looks
# whether a query loses its evidence. Calls that stay the same come from the log and cost nothing.


@dataclass(frozen=True)
class Promoter:
    """Replays solved queries under a changed program, with the models that will run it.

    Without an evaluator the shipped judge says what is evidence.
    """

    policy: PolicyStore
    workspace: Workspace
    prompting: Prompting
    evaluator: Evaluator | None = None

    @classmethod
    def of(cls, workspace: Workspace, evaluator: Evaluator | None = None) -> Promoter:
        """Return the promoter of a workspace that has models."""
        if workspace.prompting is None:
            raise NeedsModel(
                "solved queries are replayed under the changed program, which takes a model",
                hint="--llm MODEL, with --base-url URL for a local one",
            )
        return cls(workspace.patches.policy, workspace, workspace.prompting, evaluator)

    def promote(self) -> tuple[AuditEntry, ...]:
        """Promote every edit that has its votes and costs no solved query its evidence."""
        return self.policy.promote(self.worse)

    def worse(self, program: Program) -> tuple[str, ...]:
        """Return the ids of the solved queries that lose their evidence under a program."""
        changed = {**self.prompting.programs, program.stage: program}
        found: list[str] = []
        for document, episodes in self._solved():
            before = self._sufficient(document, episodes, self.prompting.programs)
            after = self._sufficient(document, episodes, changed)
            found += [case for case, met in before.items() if met and not after[case]]
        return tuple(found)

    def _solved(self) -> list[tuple[DocumentIndex, tuple[Episode, ...]]]:
        """Return the documents that have solved queries and are still in the store as they were."""
        patch_log = PatchLog(self.policy)
        found = []
        for name, text in patch_log.documents():
            if not patch_log.solved(text):
                continue
            try:
                document = self.workspace.store.get(name)
            except UnknownDocument:
                continue
            if text_hash(document) == text:
                found.append((document, patch_log.solved(text)))
        return found

    def _sufficient(
        self,
        known: DocumentIndex,
        episodes: tuple[Episode, ...],
        programs: Mapping[str, Program],
    ) -> dict[str, bool]:
        """Tell which queries have their evidence when a document is indexed by some programs."""
        prompting = replace(self.prompting, programs=programs)
        settings = Settings(granularity=known.granularity.value, genre=known.genre.value)
        made = index(
            known.document,
            background=known.background,
            settings=settings,
            prompts=prompting.index,
        )
        searcher = prompting.searcher(made, preset=self.workspace.defaults.preset)
        judge = self.evaluator or packaged_evaluator(title=known.document.title)
        return {
            episode.id: judge.signals(
                episode, searcher.search(episode.query, k=judge.k), made.segments
            ).sufficient
            for episode in episodes
        }


# Precedents of a workspace: put to every solved query that they would move, then in force.


@dataclass(frozen=True)
class _Case:
    """A query that has its evidence, and the vector of its question."""

    taught: CandidatePrecedent
    episode: Episode

    @property
    def name(self) -> str:
        one = self.taught.precedent
        return f"{one.document} {one.asked}"


def learn_precedents(
    workspace: Workspace, *, evaluator: Evaluator | None = None
) -> tuple[AuditEntry, ...]:
    """Promote the precedents that enough documents speak for and no solved query loses by."""
    patch_log = workspace.patches.patch_log
    known = patch_log.precedents()
    candidates = due(known, default_aligner().fingerprint)
    if not candidates:
        return ()
    done = []
    for genre in sorted({one.genre for one in candidates}):
        own = [one for one in candidates if one.genre == genre]
        all_of_genre = [one for one in known if one.genre == genre]
        replay = _Replay(workspace, all_of_genre, evaluator)
        _, refused = sifted(own, replay)
        done += [patch_log.promote_precedent(one, all_of_genre, refused.get(one.id)) for one in own]
    return tuple(done)


@dataclass(frozen=True)
class _Replay:
    """Searches solved queries with and without some precedents, those of their own document out."""

    workspace: Workspace
    known: Sequence[CandidatePrecedent]
    evaluator: Evaluator | None
    without: dict[str, Signals] = field(default_factory=dict)  # by case: the same in every round

    @cached_property
    def _cases(self) -> dict[str, list[_Case]]:
        """The queries with evidence, by the hash of their document's text."""
        patch_log = self.workspace.patches.patch_log
        found: dict[str, list[_Case]] = {}
        said: dict[str, dict[str, Episode]] = {}
        for one in self.known:
            text = one.precedent.document
            if text not in said:
                said[text] = {key(e.query): e for e in patch_log.episodes(text)}
            shown = Episode(one.name, one.precedent.question, one.precedent.segments)
            episode = said[text].get(key(shown.query), shown)
            found.setdefault(text, []).append(_Case(one, episode))
        return found

    def __call__(self, candidates: tuple[CandidatePrecedent, ...]) -> PrecedentReplay:
        """Search every case that some precedents of other documents move, with and without them."""
        lost: dict[str, str] = {}
        gained: dict[str, str] = {}
        for text, cases in self._cases.items():
            others = [one for one in candidates if one.precedent.document != text]
            moved = [case for case in cases if _touches(others, case.taught)]
            if moved and (opened := self._opened(moved[0].taught)) is not None:
                for case, old, new in self._searched(opened, moved, others):
                    if not old.survives(new):
                        lost[case.name] = case.episode.query
                    if new.found > old.found:
                        gained[case.name] = case.episode.query
        return PrecedentReplay(lost, gained)

    def _opened(self, one: CandidatePrecedent) -> tuple[Refiner, Evaluator] | None:
        try:
            index = self.workspace.edited(one.name)
        except UnknownDocument:
            return None
        if text_hash(index) != one.precedent.document:
            return None
        k = reach_of(len(index.segments))
        evaluator = self.evaluator or gold_evaluator(k=k)
        options = RefineOptions(evaluator=evaluator)
        return refiner_of(self.workspace.document(one.name), options), evaluator

    def _searched(
        self,
        opened: tuple[Refiner, Evaluator],
        cases: Sequence[_Case],
        others: Sequence[CandidatePrecedent],
    ) -> Iterator[tuple[_Case, Signals, Signals]]:
        """Go through cases with what is found before and after, their own document's word out."""
        refiner, evaluator = opened
        text = text_hash(refiner.searcher.index)
        state = refiner.state
        elsewhere = [p for p in state.programs.precedents if p.document != text]
        before = replace(state, programs=replace(state.programs, precedents=tuple(elsewhere)))
        after = before
        for one in others:
            after = route(after, one.patch)
        look = _looking(refiner, evaluator)
        for case in cases:
            if case.name not in self.without:
                self.without[case.name] = look(case.episode, before)
            yield case, self.without[case.name], look(case.episode, after)


def _touches(candidates: Sequence[CandidatePrecedent], case: CandidatePrecedent) -> bool:
    """Tell whether any of some precedents moves a question at all."""
    if not candidates:
        return False
    asked = np.stack([unpacked(one.precedent.asked) for one in candidates])
    return bool((nearness(unpacked(case.precedent.asked), asked) > 0).any())


def _looking(refiner: Refiner, evaluator: Evaluator) -> Callable[[Episode, State], Signals]:
    """Return what judges an episode under a state; without a judge the order alone will do."""

    def look(episode: Episode, state: State) -> Signals:
        scoring = refiner.system.scoring(episode.query, state)
        segments = scoring.document.segments
        if scoring.judges:
            return evaluator.signals(episode, scoring.ranking(evaluator.k), segments)
        first = [segments[position] for position in scoring.order[: evaluator.k]]
        return evaluator.signals_of(episode, scoring.query, first)

    return look


def learn(workspace: Workspace, *, evaluator: Evaluator | None = None) -> tuple[AuditEntry, ...]:
    """Promote what has its votes and costs no solved query of its genre its evidence.

    Where there is no gold, the evaluator or the shipped judge says what is evidence.
    """
    with workspace.refining:
        return (
            *_learn_steps(workspace, evaluator),
            *learn_precedents(workspace, evaluator=evaluator),
        )


def _learn_steps(workspace: Workspace, evaluator: Evaluator | None) -> tuple[AuditEntry, ...]:
    patch_log = workspace.patches.patch_log
    if not any(lesson.due for lesson in patch_log.lessons()):
        return ()
    solved = _solved(workspace)

    def worse(genre: str, step: StepPrice) -> Sequence[str]:
        lost: list[str] = []
        for document, episodes in solved:
            if document.genre.value == genre:
                lost += _worse(workspace, document, episodes, step, evaluator)
        return lost

    return patch_log.promote(worse)


def _solved(workspace: Workspace) -> list[tuple[DocumentIndex, tuple[Episode, ...]]]:
    """Return the documents with queries that must not get worse, still in the store as they were.

    What somebody called evidence counts like what refinement has found, as far as it is found.
    """
    patch_log = workspace.patches.patch_log
    found = []
    for name, text in patch_log.documents():
        solved = {episode.query for episode in patch_log.solved(text)}
        kept = tuple(e for e in patch_log.episodes(text) if e.gold or e.query in solved)
        if not kept:
            continue
        try:
            document = workspace.edited(name)
        except UnknownDocument:
            continue
        if text_hash(document) == text:
            found.append((document, kept))
    return found


def _worse(
    workspace: Workspace,
    document: DocumentIndex,
    episodes: Sequence[Episode],
    step: StepPrice,
    evaluator: Evaluator | None,
) -> list[str]:
    """Return the queries that lose their evidence; those that do not ask for the word cannot."""
    asked = [e for e in episodes if asks(e.query, step)]
    if not asked:
        return []
    if evaluator is None:
        gold = all(episode.gold for episode in asked)
        title = document.document.title
        k = reach_of(len(document.segments))
        evaluator = gold_evaluator(k=k) if gold else packaged_evaluator(title=title, k=k)
    opened = workspace.document(document.document.id)
    refiner = refiner_of(opened, RefineOptions(evaluator=evaluator))
    before = refiner.state
    after = route(before, Lesson(document.genre.value, step).patch)
    own = [kept.patch for kept in workspace.patches.patch_log.kept(text_hash(document))]
    after = replayed(after, own)  # what a document has settled for itself stands
    lost = []
    for episode in asked:
        old, new = (
            evaluator.signals(
                episode,
                refiner.system.scoring(episode.query, state).ranking(evaluator.k),
                document.segments,
            )
            for state in (before, after)
        )
        if not old.survives(new):
            lost.append(episode.query)
    return lost


def asks(query: str, step: StepPrice) -> bool:
    """Tell whether a query has the word that a step leads to."""
    wanted = set(forms(step.asked))
    return any(not wanted.isdisjoint(forms(word)) for word in key(query).split())
