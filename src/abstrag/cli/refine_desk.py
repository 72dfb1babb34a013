"""What a refinement is done with, for one document here or for many in workers.

State carries over from one case of a document to the next, so the cases of one document are refined
in order by one worker. Documents with the same text share their patches; all but the first of them
wait for their turn in this process. So a run with workers ends with the log of a run without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from socket import gethostname
from typing import Final

from abstrag.cli.options import SearchOptions
from abstrag.engine.many_files import FEW, check_reach, index_many
from abstrag.engine.refinement import Refiner, local_judges, packaged_evaluator, prompted_judges
from abstrag.engine.searcher import Searcher
from abstrag.errors import AbstragError
from abstrag.llm.connect import Models
from abstrag.model.index import DocumentIndex
from abstrag.rank.judging import Judge
from abstrag.refine.episode import Episode
from abstrag.refine.ledger import Kept, Ledger, text_hash
from abstrag.refine.limits import Budget
from abstrag.refine.outcome import Run
from abstrag.stores.open import resolved
from abstrag.workers.protocol import Engine, Lost

WINDOW: Final = 4  # documents per worker that may be under way


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything a refinement is done with."""

    options: SearchOptions
    models: Models | None
    judge: Judge | None  # None: the packaged one
    compression: str
    ledger: Ledger | None
    budget: Budget
    policy: Path | None
    family: str

    def refiner(self, target: str) -> Refiner:
        """Open a document."""
        return self.over(self.options.open(target, self.models), ledger=self.ledger)

    def over(
        self, searcher: Searcher, *, ledger: Ledger | None, carried: Sequence[Kept] = ()
    ) -> Refiner:
        """Return what refines the search of a document."""
        evaluator = packaged_evaluator(
            self.judge, title=searcher.index.document.title, compression=self.compression
        )
        judges = local_judges(searcher, evaluator)
        if self.models is not None:
            judges = prompted_judges(
                self.models, searcher, evaluator, family=self.family, root=self.policy
            )
        judges = replace(judges, budget=self.budget)
        return Refiner(searcher, judges, ledger=ledger, tau=self.options.tau, carried=carried)

    def run(self, episodes: Sequence[Episode]) -> tuple[Run, DocumentIndex]:
        """Refine on all the queries about one document."""
        refiner = self.refiner(episodes[0].target)
        return refiner.run(episodes), refiner.searcher.index

    def abroad(self) -> Desk:
        """Return the desk of a worker: it finds the store from anywhere, and writes no log."""
        library = self.options.library
        there = replace(library, store_path=resolved(library.store_file), background=None)
        return replace(self, options=replace(self.options, library=there), ledger=None)


@dataclass(frozen=True, slots=True)
class Case:
    """The queries about one document of the store, and the patches in force for it."""

    document: str
    episodes: tuple[Episode, ...]
    carried: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class Refining:
    """The `Task` of a worker: refine on all the queries about a document."""

    desk: Desk
    host: str

    def start(self) -> Callable[[Case], Run]:
        """See that the store can be reached; models load with the first document."""
        check_reach(self.desk.options.library.store_file, self.host)

        def perform(case: Case) -> Run:
            with self.desk.options.library.open() as library:
                index = library.store.get(case.document)
            searcher = self.desk.options.over(index)
            return self.desk.over(searcher, ledger=None, carried=case.carried).run(case.episodes)

        return perform


def by_target(episodes: Sequence[Episode]) -> list[tuple[Episode, ...]]:
    """Group queries by the document they are about, in the order of the file."""
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(episode.target, []).append(episode)
    return [tuple(group) for group in found.values()]


def side_by_side(
    desk: Desk, episodes: Sequence[Episode], engine: Engine, lost: list[str]
) -> Iterator[tuple[Run, DocumentIndex]]:
    """Refine documents with workers; runs come, and are logged, in the order of the file.

    What is said about documents that had to be given up goes to `lost`.
    """
    groups = by_target(episodes)
    _index(desk, [group[0].target for group in groups], engine)
    order: deque[tuple[Episode, ...]] = deque()
    cases = _cases(desk, groups, order)
    with closing(engine.run(Refining(desk.abroad(), gethostname()), cases)) as results:
        for case, run in results:
            while order[0] != case.episodes:
                yield desk.run(order.popleft())
            order.popleft()
            if isinstance(run, Lost):
                lost.append(f"{case.episodes[0].target}: {run.error}")
                continue
            refiner = desk.refiner(case.episodes[0].target)
            refiner.note(run, case.episodes)
            yield run, refiner.searcher.index
    yield from map(desk.run, order)


def _index(desk: Desk, targets: Sequence[str], engine: Engine) -> None:
    """Index the files among the targets that are new or changed."""
    files = [Path(target) for target in targets if Path(target).is_file()]
    with desk.options.library.open() as library:
        store = desk.options.library.store_file
        for outcome in index_many(library, store, files, engine, few=FEW):
            if outcome.status == "failed":
                error = AbstragError(outcome.error or "", hint=outcome.hint)
                error.exit_code = outcome.exit_code
                raise error


def _cases(
    desk: Desk, groups: Sequence[tuple[Episode, ...]], order: deque[tuple[Episode, ...]]
) -> Iterator[Case]:
    """Go through the documents that workers may do, and note the place of all."""
    seen: set[str] = set()
    for group in groups:
        order.append(group)
        with desk.options.library.open() as library:
            index = library.open(group[0].target)
        text = text_hash(index)
        if text not in seen:
            seen.add(text)
            carried = () if desk.ledger is None else desk.ledger.kept(text)
            yield Case(index.document.id, group, carried)
