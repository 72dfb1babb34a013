"""Promotion: a prompt edit that has its votes is tried on every solved query before it counts.

A changed program changes what a model makes of a document, so each document with solved queries
is indexed once with the program as it is and once as it would be, and the evaluator looks whether
a query loses its evidence. Calls that stay the same come from the log and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from abstrag.config import Settings
from abstrag.engine.prompting import Prompting
from abstrag.engine.refinement import packaged_evaluator
from abstrag.errors import NeedsModel, UnknownDocument
from abstrag.indexing.pipeline import index
from abstrag.llm.program import Program
from abstrag.model.index import DocumentIndex
from abstrag.policy.audit import AuditEntry
from abstrag.policy.store import PolicyStore
from abstrag.refine.episode import Episode
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.ledger import PatchLedger, text_hash
from abstrag.workspace.workspace import Workspace


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
        ledger = PatchLedger(self.policy)
        found = []
        for name, text in ledger.documents():
            if not ledger.solved(text):
                continue
            try:
                document = self.workspace.store.get(name)
            except UnknownDocument:
                continue
            if text_hash(document) == text:
                found.append((document, ledger.solved(text)))
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
