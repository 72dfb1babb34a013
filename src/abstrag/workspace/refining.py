"""Refinement of documents of a workspace: one here, or many side by side in workers.

State carries over from one case of a document to the next, so the cases of one document are refined
in order by one worker. Documents with the same text share their patches; all but the first of them
wait for their turn in this process. So a run with workers ends with the log of a run without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from socket import gethostname
from typing import Final

from abstrag.collection.results import CollectionRanking
from abstrag.engine.refinement import Refiner, local_judges, packaged_evaluator, prompted_judges
from abstrag.errors import AbstragError
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.model.record import Result, record
from abstrag.refine.evaluator import Evaluator, reach_of
from abstrag.refine.feedback import Episode
from abstrag.refine.gate import ALL, Controls
from abstrag.refine.limits import RefineBudget
from abstrag.refine.outcome import Refinement, Run
from abstrag.refine.patch_log import PatchInForce, PatchLog, text_hash
from abstrag.refine.propose import Proposer
from abstrag.search.judging import Judge
from abstrag.workers.protocol import Engine, LostItem
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.many_files import FEW, check_reach, index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

WINDOW: Final = 4  # documents per worker that may be under way


@dataclass(frozen=True, slots=True)
class RefineOptions:
    """Who says what is evidence, what must not fall, how much may be tried, what is kept."""

    judge: Judge | None = None  # None: that of the workspace, or the shipped one
    compression: str = "distractors"
    budget: RefineBudget = field(default_factory=RefineBudget)
    keep: bool = True  # write what is done into the policy log
    # for experiments
    evaluator: Evaluator | None = None  # in place of the one that judge and compression make
    proposer: Proposer | None = None  # in place of the usual one
    controls: Controls = ALL  # what the gate enforces


def refiner_of(
    document: SearchableDocument,
    options: RefineOptions | None = None,
    *,
    carried: Sequence[PatchInForce] | None = None,
) -> Refiner:
    """Return what refines the search of a document; it lays the patches over it by itself.

    `carried` are the patches in force, for a process that must not write the log.
    """
    how = options or RefineOptions()
    workspace = document.workspace
    plain = workspace.unpatched(document).searcher if document.patches else document.searcher
    judge = how.judge or workspace.judge
    title = plain.index.document.title
    evaluator = how.evaluator or packaged_evaluator(
        judge, title=title, k=reach_of(len(plain.index.segments)), compression=how.compression
    )
    judges = local_judges(plain, evaluator)
    if workspace.models is not None:
        judges = prompted_judges(
            workspace.models,
            plain,
            evaluator,
            family=workspace.patches.family,
            root=workspace.patches.root,
        )
    judges = replace(judges, budget=how.budget, enforce=how.controls)
    if how.proposer is not None:
        judges = replace(judges, proposer=how.proposer)
    patch_log = workspace.patches.patch_log if how.keep and carried is None else None
    return Refiner(
        plain, judges, patch_log=patch_log, tau=document.options.tau, carried=tuple(carried or ())
    )


@record
class CollectionRefinement(Result):
    """Many documents refined on one query, and the search over all before and after."""

    query: str
    documents: tuple[Refinement, ...]
    before: CollectionRanking
    after: CollectionRanking

    @property
    def patches(self) -> tuple[Patch, ...]:
        """What was accepted, of all documents."""
        return tuple(patch for one in self.documents for patch in one.patches)


@dataclass(frozen=True, slots=True)
class RefiningCase:
    """The queries about one document of the store, and the patches in force for it."""

    document: str
    episodes: tuple[Episode, ...]
    carried: tuple[PatchInForce, ...]


@dataclass(frozen=True, slots=True)
class RefineTask:
    """The `Task` of a worker: refine on all the queries about a document."""

    config: WorkspaceConfig
    options: RefineOptions
    host: str

    def start(self) -> Callable[[RefiningCase], Run]:
        """Open the store; models load with the first document."""
        check_reach(self.config.target, self.host)
        workspace = Workspace(self.config)

        def perform(case: RefiningCase) -> Run:
            document = workspace.document(case.document)
            return refiner_of(document, self.options, carried=case.carried).run(case.episodes)

        return perform


def by_target(episodes: Sequence[Episode]) -> list[tuple[Episode, ...]]:
    """Group queries by the document they are about, in the order of the file."""
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(episode.target, []).append(episode)
    return [tuple(group) for group in found.values()]


def one_by_one(
    workspace: Workspace, episodes: Sequence[Episode], options: RefineOptions | None = None
) -> Iterator[tuple[Run, DocumentIndex]]:
    """Refine documents in this process, in the order of the file."""
    for group in by_target(episodes):
        document = workspace.document(group[0].target)
        yield document.refine_all(group, options=options), document.index


def side_by_side(
    workspace: Workspace,
    episodes: Sequence[Episode],
    options: RefineOptions,
    engine: Engine,
    lost: list[str],
) -> Iterator[tuple[Run, DocumentIndex]]:
    """Refine documents with workers; runs come, and are logged, in the order of the file.

    What is said about documents that had to be given up goes to `lost`.
    """
    groups = by_target(episodes)
    _index(workspace, [group[0].target for group in groups], engine)
    order: deque[tuple[Episode, ...]] = deque()
    patch_log = workspace.patches.patch_log if options.keep else None
    cases = _cases(workspace, groups, order, patch_log)
    task = RefineTask(workspace.config.elsewhere(), options, gethostname())
    with closing(engine.run(task, cases)) as results:
        for case, run in results:
            while order[0] != case.episodes:
                yield from one_by_one(workspace, order.popleft(), options)
            order.popleft()
            if isinstance(run, LostItem):
                lost.append(f"{case.episodes[0].target}: {run.error}")
                continue
            document = workspace.document(case.document)
            refiner_of(document, options).note(run, case.episodes)
            yield run, document.index
    for group in order:
        yield from one_by_one(workspace, group, options)


def _index(workspace: Workspace, targets: Sequence[str], engine: Engine) -> None:
    """Index the files among the targets that are new or changed."""
    files = [Path(target) for target in targets if Path(target).is_file()]
    for outcome in index_many(workspace, files, engine, few=FEW):
        if outcome.status == "failed":
            error = AbstragError(outcome.error or "", hint=outcome.hint)
            error.exit_code = outcome.exit_code
            raise error


def _cases(
    workspace: Workspace,
    groups: Sequence[tuple[Episode, ...]],
    order: deque[tuple[Episode, ...]],
    patch_log: PatchLog | None,
) -> Iterator[RefiningCase]:
    """Go through the documents that workers may do, and note the place of all."""
    seen: set[str] = set()
    for group in groups:
        order.append(group)
        info = workspace.library.locate(group[0].target)
        text = text_hash(workspace.index(info))
        if text not in seen:
            seen.add(text)
            index = workspace.index(info)
            yield RefiningCase(
                info.id, group, () if patch_log is None else patch_log.in_force(index)
            )
