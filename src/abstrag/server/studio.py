"""The studio: everything the routes of a server share, started and ended with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from abstrag.engine.kept import Kept
from abstrag.engine.source_files import source_hash
from abstrag.errors import AbstragError
from abstrag.llm.model import Role
from abstrag.neural.bundle import WEIGHTS
from abstrag.server.ahead import Ahead
from abstrag.server.jobs import Jobs, Watcher
from abstrag.server.lane import Lane
from abstrag.server.metrics import Labels, Metrics
from abstrag.server.refusals import TooBusy
from abstrag.server.settings import ServerSettings
from abstrag.server.sources import Sources
from abstrag.server.uploads import Uploads
from abstrag.stores.open import beside
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.workspace import Workspace

if TYPE_CHECKING:
    from abstrag.baselines.system import System

_TRIES: Final = 2  # of an upload that the server did not survive, and it is set aside


class Studio:
    """A workspace with uploads and jobs, and the lanes work is done in.

    Whoever opened the workspace closes it, when the studio is closed.
    """

    def __init__(
        self, settings: ServerSettings, workspace: Workspace, metrics: Metrics | None = None
    ) -> None:
        self.settings = settings
        self.metrics = metrics or Metrics()
        self.workspace = workspace
        self.uploads = Uploads(beside(workspace.target, ".studio") / "uploads")
        self.sources = Sources()
        self.ahead = Ahead(workspace)
        self.rivals: Kept[dict[str, System]] = Kept(workspace.config.keep)
        self.jobs = Jobs(
            workspace.target,
            waiting=settings.jobs_waiting,
            max_bytes=settings.max_upload_bytes,
            budget=settings.budget,
            watcher=Watcher(
                began=self.uploads.begun,
                ended=self._ended,
                failed=self._failed,
                set_aside=self._set_aside,
                over=self.metrics.job,
            ),
        )
        self.searching = Lane(
            "search", threads=settings.search_threads, waiting=settings.searches_waiting
        )
        self.judging = Lane(
            "judged", threads=settings.judged_threads, waiting=settings.judged_waiting
        )
        self.drawing = Lane("page", threads=1, waiting=settings.searches_waiting)
        self.comparing = Lane("compare", threads=1, waiting=settings.judged_waiting)

    @property
    def has_judge(self) -> bool:
        """True when there is a judge to ask: one that was given, a model, or the shipped one."""
        given = self.workspace.judge is not None or self._model(Role.JUDGE) is not None
        return given or (WEIGHTS / "judge").is_dir()

    @property
    def writer(self) -> str | None:
        """What the language model that writes answers is called."""
        return self._model(Role.ANSWER)

    def _model(self, role: Role) -> str | None:
        model = self.workspace.models.get(role) if self.workspace.models else None
        return None if model is None else model.fingerprint

    def ranking(self, options: SearchOptions) -> Lane:
        """Return the lane for what ranks: one of its own where a judge or a model reads."""
        return self.judging if options.preset.judge_weight else self.reading

    @property
    def reading(self) -> Lane:
        """The lane for what only reads a query: a language model may do that."""
        return self.searching if self.workspace.models is None else self.judging

    def start(self) -> None:
        """Take up what was left unfinished, and make ready for questions meanwhile."""
        self._resume()
        self.ahead.start()

    def close(self) -> None:
        """End the worker and the lanes; what is finished is in the store."""
        self.ahead.close()
        self.jobs.close()
        for lane in self._lanes:
            lane.close()

    @property
    def _lanes(self) -> tuple[Lane, ...]:
        return self.searching, self.judging, self.drawing, self.comparing

    def now(self) -> dict[str, tuple[str, dict[Labels, float]]]:
        """Return what holds at this moment, for the metrics."""
        inside: dict[Labels, float] = {
            (("kind", lane.name),): float(lane.inside) for lane in self._lanes
        }
        found: dict[str, tuple[str, dict[Labels, float]]] = {
            "abstrag_documents": (
                "Documents in the store",
                {(): float(len(self.workspace.documents()))},
            ),
            "abstrag_requests_inside": ("Requests being served or waiting", inside),
        }
        if self.workspace.models is not None:
            spent = self.workspace.models.ledger().total
            tokens: dict[Labels, float] = {
                (("kind", "input"),): float(spent.tokens_in),
                (("kind", "output"),): float(spent.tokens_out),
            }
            found["abstrag_model_tokens"] = ("Tokens of language models so far", tokens)
            found["abstrag_model_cost_usd"] = ("What models cost so far", {(): spent.cost})
        return found

    def _resume(self) -> None:
        """Index uploads that a former server took in and did not get to."""
        store = self.workspace.store
        for path in self.uploads.left_over():
            if store.find_source(str(path)) is not None:
                continue
            if self.uploads.tries(path) >= _TRIES:
                self._set_aside(path, f"the server ended {_TRIES} times while it was indexed")
                self._failed(path)
                continue
            try:
                self.jobs.submit(path)
            except TooBusy:
                return

    def _ended(self, path: Path) -> None:
        """Note the end of a job, and prepare the search over all documents for a new one."""
        self.uploads.ended(path)
        self.ahead.look_again()

    def _set_aside(self, path: Path, why: str) -> AbstragError:
        """Note that a content is not to be tried again."""
        library = self.workspace.library
        content = source_hash(path, self.settings.max_upload_bytes)
        return library.quarantine.add(content, str(path), why).error()

    def _failed(self, path: Path) -> None:
        """Drop an upload that cannot be indexed, unless a document was made of it before."""
        if self.workspace.store.find_source(str(path.resolve())) is None:
            self.uploads.discard(path)
