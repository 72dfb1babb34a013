"""Lessons of a workspace: what several documents ask for is tried on every solved query first."""

from __future__ import annotations

from collections.abc import Sequence

from abstrag.engine.refinement import packaged_evaluator
from abstrag.errors import UnknownDocument
from abstrag.language.keys import key
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import StepPrice
from abstrag.policy.audit import AuditEntry
from abstrag.refine.episode import Episode
from abstrag.refine.evaluator import Evaluator, reach_of
from abstrag.refine.ledger import text_hash
from abstrag.refine.lessons import Lesson
from abstrag.refine.router import replayed, route
from abstrag.search.document_words import forms
from abstrag.workspace.precedents import learn_precedents
from abstrag.workspace.refining import RefineOptions, refiner_of
from abstrag.workspace.replay import gold_evaluator
from abstrag.workspace.workspace import Workspace


def learn(workspace: Workspace, *, evaluator: Evaluator | None = None) -> tuple[AuditEntry, ...]:
    """Promote what has its votes and costs no solved query of its genre its evidence.

    Args:
        workspace: Whose documents and policy.
        evaluator: Who says what is evidence where there is no gold; else the shipped judge.
    """
    with workspace.refining:
        return (
            *_learn_steps(workspace, evaluator),
            *learn_precedents(workspace, evaluator=evaluator),
        )


def _learn_steps(workspace: Workspace, evaluator: Evaluator | None) -> tuple[AuditEntry, ...]:
    ledger = workspace.patches.ledger
    if not any(lesson.due for lesson in ledger.lessons()):
        return ()
    solved = _solved(workspace)

    def worse(genre: str, step: StepPrice) -> Sequence[str]:
        lost: list[str] = []
        for document, episodes in solved:
            if document.genre.value == genre:
                lost += _worse(workspace, document, episodes, step, evaluator)
        return lost

    return ledger.promote(worse)


def _solved(workspace: Workspace) -> list[tuple[DocumentIndex, tuple[Episode, ...]]]:
    """Return the documents with solved queries that are still in the store as they were."""
    ledger = workspace.patches.ledger
    found = []
    for name, text in ledger.documents():
        try:
            document = workspace.edited(name)
        except UnknownDocument:
            continue
        if text_hash(document) == text:
            found.append((document, ledger.solved(text)))
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
    own = [kept.patch for kept in workspace.patches.ledger.kept(text_hash(document))]
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
