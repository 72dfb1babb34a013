"""The studio: everything the routes of a server share, opened at its start, closed at its end."""

from __future__ import annotations

from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from abstrag.engine.kept import Kept
from abstrag.errors import AbstragError
from abstrag.server.aids import Aids
from abstrag.server.answers import log
from abstrag.server.jobs import Jobs
from abstrag.server.lane import Lane
from abstrag.server.refusals import TooBusy
from abstrag.server.settings import ServerSettings
from abstrag.server.shelf import Shelf
from abstrag.server.sources import Sources
from abstrag.server.uploads import Uploads
from abstrag.workspace.edits import EditStore
from abstrag.workspace.patches import Patches

if TYPE_CHECKING:
    from abstrag.baselines.system import System


class Studio:
    """A store with its documents, uploads, edits, jobs, and the lanes work is done in."""

    def __init__(self, settings: ServerSettings, aids: Aids) -> None:
        self.settings = settings
        self.aids = aids
        self.edits = EditStore(settings.data_folder / "edits")
        self.uploads = Uploads(settings.data_folder / "uploads")
        self.sources = Sources()
        self.patches = Patches(settings.policy_root)
        self.refining = Lock()
        self.shelf = Shelf(
            settings.store_path,
            self.edits,
            patches=self.patches,
            keep=settings.documents_kept,
            judge_of=aids.judge_of,
        )
        self.rivals: Kept[dict[str, System]] = Kept(settings.documents_kept)
        self.jobs = Jobs(
            settings.store_path,
            waiting=settings.jobs_waiting,
            max_bytes=settings.max_upload_bytes,
            limit_s=settings.job_limit_s,
            on_failure=self._failed,
        )
        self.searching = Lane(
            "search", threads=settings.search_threads, waiting=settings.searches_waiting
        )
        self.judging = Lane(
            "judged", threads=settings.judged_threads, waiting=settings.judged_waiting
        )
        self.drawing = Lane("page", threads=1, waiting=settings.searches_waiting)
        self.comparing = Lane("compare", threads=1, waiting=settings.judged_waiting)

    def start(self) -> None:
        """Open the store, take up what was left unfinished, and load the engine meanwhile."""
        self.shelf.open_store().close()
        self._resume()
        Thread(target=_warm, name="warming", daemon=True).start()

    def close(self) -> None:
        """End the worker and the lanes; what is finished is in the store."""
        self.jobs.close()
        for lane in (self.searching, self.judging, self.drawing, self.comparing):
            lane.close()

    def _resume(self) -> None:
        """Index uploads that a former server took in and did not get to."""
        with self.shelf.open_store() as store:
            waiting = [p for p in self.uploads.left_over() if store.find_source(str(p)) is None]
        for path in waiting:
            try:
                self.jobs.submit(path)
            except TooBusy:
                return

    def _failed(self, path: Path) -> None:
        """Drop an upload that cannot be indexed, unless a document was made of it before."""
        with self.shelf.open_store() as store:
            known = store.find_source(str(path.resolve()))
        if known is None:
            self.uploads.discard(path)


def _warm() -> None:
    """Load what the first search would have to wait for."""
    try:
        from abstrag.engine.demo import demo_document
        from abstrag.language.parser import parse

        parse([demo_document().title])
    except (ImportError, AbstragError) as error:
        log.warning("the language model cannot be loaded: %s", error)
