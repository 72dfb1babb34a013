"""What the first question would have to wait for, made ahead in a thread of its own."""

from __future__ import annotations

from threading import Event, Thread

from abstrag.errors import AbstragError
from abstrag.server.answers import log
from abstrag.workspace.workspace import Workspace


class Ahead:
    """Loads the models, and makes and reads the cards of the documents whenever some are new."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._wanted = Event()
        self._closing = False
        self.made: tuple[int, int] | None = None  # cards so far, of how many that are missing
        self.ready = False  # nothing is left to be made ahead
        self._thread = Thread(target=self._run, name="ahead", daemon=True)

    def start(self) -> None:
        """Begin, with whatever the store has now."""
        self._wanted.set()
        self._thread.start()

    def look_again(self) -> None:
        """See to documents that have come; this does not wait."""
        self.ready = False
        self._wanted.set()

    def close(self) -> None:
        """Begin with nothing more; what is being made is made or fails with the store."""
        self._closing = True
        self._wanted.set()

    def _run(self) -> None:
        try:
            _load_parser()
        except (ImportError, AbstragError) as error:
            log.warning("the language model cannot be loaded: %s", error)
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if self._closing:
                return
            self._prepare()

    def _prepare(self) -> None:
        """Open the collection once, which makes what is missing and keeps what it reads."""
        try:
            if self._workspace.models is not None:
                return  # a collection is searched without one
            if len(self._workspace.documents()) > 1:
                loading = _load_models()
                self._workspace.collection(on_made=self._tell)
                loading.join()
        except AbstragError as error:
            if not self._closing:
                log.warning("the search over all documents cannot be prepared: %s", error)
        finally:
            self.made = None
            self.ready = not self._wanted.is_set()

    def _tell(self, done: int, total: int) -> None:
        self.made = done, total


def _load_models() -> Thread:
    """Begin to load what a search over all asks: the embedder, the judge."""
    from abstrag.neural.preload import preload

    return preload()


def _load_parser() -> None:
    """Load what reads a query."""
    from abstrag.engine.demo import demo_document
    from abstrag.language.parser import parse

    parse([demo_document().title])
