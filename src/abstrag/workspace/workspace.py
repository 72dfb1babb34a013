"""The workspace: the one way to open anything.

It owns the store, what models said, the Background, the models, the policy, the edits made by hand
and the defaults. One process opens it once; threads share it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Self

from abstrag.collection.filters import Filters
from abstrag.config import PRIOR_POWER, SHORTLIST
from abstrag.documents.readers import DocumentReader
from abstrag.engine.library import Library, Quarantine
from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError, PolicyError
from abstrag.files import is_folder
from abstrag.indexing.pipeline import OnShortfall, OnStep
from abstrag.memory import LruCache
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.neural.encoder import TextEncoder
from abstrag.policy.location import DEFAULT_FAMILY, LOG_NAME, policy_root
from abstrag.search.judging import Judge
from abstrag.stores.memory import BestEffortMemory
from abstrag.stores.open import beside, is_address, open_store, resolved, shown
from abstrag.stores.protocol import DocumentInfo, Store
from abstrag.stores.sqlite import in_memory, is_store
from abstrag.workspace.document import Searchable, SearchableDocument
from abstrag.workspace.options import EditStore, SearchOptions, WorkspaceConfig, applied

if TYPE_CHECKING:
    from abstrag.answers.generator import Generator
    from abstrag.answers.verdicts import Verdicts
    from abstrag.collection.card_table import CollectionCards
    from abstrag.collection.map import CollectionMap
    from abstrag.engine.library import Knowledge
    from abstrag.engine.prompting import Prompting
    from abstrag.llm.budget import Estimate
    from abstrag.llm.connect import Models
    from abstrag.llm.prompt import Program
    from abstrag.policy.audit import AuditEntry
    from abstrag.policy.store import PolicyStore
    from abstrag.refine.patch_log import PatchInForce as KeptPatch
    from abstrag.refine.patch_log import PatchLog
    from abstrag.workspace.collection import SearchableCollection

_DOCUMENTS: Final = 256  # whose patches are at hand


class Patches:
    """The patches of one family in one policy folder, by the text they are for.

    The log is read again only when it has changed, for every search asks what is in force.
    """

    def __init__(self, root: Path | None = None, family: str = DEFAULT_FAMILY) -> None:
        self.root = policy_root(root)
        self.family = family  # whose patches these are
        self._kept: LruCache[tuple[KeptPatch, ...]] = LruCache(_DOCUMENTS)
        self._writing = Lock()

    @property
    def policy(self) -> PolicyStore:
        """The policy store behind them."""
        from abstrag.policy.store import PolicyStore

        return PolicyStore.open(self.root, self.family)

    @property
    def patch_log(self) -> PatchLog:
        """The patch log that refinement reads and writes."""
        from abstrag.refine.patch_log import PatchLog

        return PatchLog(self.policy)

    def in_force(self, index: DocumentIndex) -> tuple[KeptPatch, ...]:
        """Return the patches that were accepted for a document's text and not taken back.

        Raises:
            PolicyError: The log cannot be read.
        """
        version = self._version()
        if version is None:
            return ()
        from abstrag.refine.patch_log import text_hash

        place = version, text_hash(index), index.genre
        try:
            return self._kept.get(place, lambda: self.patch_log.in_force(index))
        except PolicyError as error:
            hint = "--no-patches searches without what refinement has kept"
            raise type(error)(
                str(error), hint=f"{error.hint}; {hint}" if error.hint else hint
            ) from error

    def log(self) -> tuple[AuditEntry, ...]:
        """Return everything that was tried, oldest first."""
        return self.policy.entries()

    def revert(self, name: str) -> AuditEntry:
        """Take back a patch, or a promoted edit of a program."""
        with self._writing:
            store = self.policy
            if any(entry.payload["id"] == name for entry in store.changes()):
                return store.revert(name)
            return self.patch_log.revert(name)

    def _version(self) -> Hashable | None:
        try:
            seen = (self.root / LOG_NAME).stat()
        except OSError:
            return None
        return seen.st_mtime_ns, seen.st_size


# What a workspace needs to tell versions of documents apart, and to name what it is asked for.


def loaded(background: Knowledge | str | Path | None) -> Knowledge | None:
    """Return a Background that was given by its path or as it is."""
    if background is None or not isinstance(background, str | Path):
        return background
    from abstrag.backgrounds.compiled import load

    return load(background)


def version(info: DocumentInfo) -> tuple[str, str, str, str]:
    """Name a document as it is now; indexing it again makes another version."""
    return info.id, info.content_hash, info.fingerprint, info.indexed_at


def called(index: DocumentIndex, name: str) -> DocumentIndex:
    """Return an index whose document has the id that the store uses, so that hits name it."""
    if index.document.id == name:
        return index
    return replace(index, document=replace(index.document, id=name))


def named(target: object) -> str:
    """Describe a target for an error message."""
    if isinstance(target, Document):
        return target.id
    return target.document.id if isinstance(target, DocumentIndex) else str(target)


OnMade = Callable[[int, int], None]  # told how many are done, of how many

_VARIANTS = 3  # searchers kept for each document: presets, edits being tried out
_SHELVES = 2  # with embeddings and without


class Workspace:
    """Opens documents and collections of one store; safe to share between threads.

    with Workspace(WorkspaceConfig("library.db")) as workspace:
        workspace.open("report.pdf").search("Who bought the company?")
    """

    def __init__(
        self,
        config: WorkspaceConfig | None = None,
        *,
        models: Models | None = None,
        judge: Judge | None = None,
        verdicts: Verdicts | None = None,
        encoder: TextEncoder | None = None,
        readers: Mapping[str, DocumentReader] | None = None,
        store: Store | None = None,
        on_step: OnStep = lambda _name: None,
    ) -> None:
        """Open the store.

        Args:
            config: Which store, Background, policy and defaults.
            models: Language models; they index, read queries, judge and write where they have the
                role.
            judge: Asked instead of the shipped judge, also about what is evidence in refinement.
            verdicts: Asked instead of the shipped judge of claims.
            encoder: Embeds texts instead of the shipped embedder, in search and in shortlists.
            readers: Read files by suffix, before those of ours.
            store: An open store, in place of the one that `config` names; it is closed with us.
            on_step: Told each step of indexing a document that is new, changed, or was indexed by
                an older release.
        """
        self.config = config or WorkspaceConfig()
        self.models = models
        self.judge = judge
        self.verdicts = verdicts
        self.encoder = encoder
        self._on_step = on_step
        self.defaults = self.config.defaults
        self.target = self.config.target
        self.patches = Patches(self.config.policy, self.config.family)
        self.refining = Lock()
        background = loaded(self.config.background)
        self.store = store or open_store(self.target, create=self.config.create)
        folder = None if in_memory(self.target) else beside(self.target, ".studio")
        self.edits = EditStore(folder and folder / "edits")
        aside = Quarantine(folder and folder / "quarantine")
        own = {suffix.casefold(): read for suffix, read in (readers or {}).items()}
        self.library = Library(
            self.store, background, self.config.settings, quarantine=aside, readers=own
        )
        self._indexes: LruCache[DocumentIndex] = LruCache(self.config.keep)
        self._searchers: LruCache[Searcher] = LruCache(self.config.keep * _VARIANTS)
        self._shelves: LruCache[CollectionCards] = LruCache(_SHELVES)
        self._on_server: dict[bool, CollectionCards] = {}

    @cached_property
    def prompting(self) -> Prompting | None:
        """How the language models take part in indexing and search; None without models."""
        if self.models is None:
            return None
        from abstrag.engine.prompting import Prompting

        return Prompting.of(self.models, programs=self.programs, encoder=self.encoder)

    @cached_property
    def programs(self) -> Mapping[str, Program]:
        """The prompt programs of the family, by name."""
        from abstrag.policy.load import load_programs

        return load_programs(family=self.patches.family, root=self.patches.root)

    @cached_property
    def generator(self) -> Generator | None:
        """What writes answers; None when no model has the role."""
        from abstrag.llm.model import CallRole

        model = self.models.get(CallRole.ANSWER) if self.models else None
        if model is None:
            return None
        from abstrag.answers.generator import Generator

        return Generator(model, self.programs)

    def indexing(
        self,
        on_step: OnStep | None = None,
        on_shortfall: OnShortfall = lambda _shortfall: None,
    ) -> Library:
        """Return the library that indexes files into the store and reports its progress."""
        prompts = self.prompting.index if self.prompting else None
        return replace(
            self.library,
            prompts=prompts,
            on_step=on_step or self._on_step,
            on_shortfall=on_shortfall,
        )

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe every document of the store."""
        return self.store.documents()

    def open(
        self,
        target: str | Path | Document | DocumentIndex | None = None,
        options: SearchOptions | None = None,
        *,
        filters: Filters | None = None,
    ) -> Searchable:
        """Open what a target names.

        A file, which is indexed first when it is new or changed, a document's id, a `Document`,
        which is indexed and kept, and a `DocumentIndex` are one document. The store itself, None
        and a folder that was indexed are a collection.
        """
        if target is None or self.is_collection(target):
            if target is not None and is_folder(Path(str(target))):
                folder = str(Path(str(target)).resolve())
                filters = replace(filters or Filters(), folder=folder)
            return self.collection(filters, options)
        if filters is not None and filters.any:
            raise InputError(
                f"a filter chooses among documents, and {named(target)!r} is one document",
                hint="name a store or an indexed folder",
            )
        return self.document(target, options)

    def is_collection(self, target: object) -> bool:
        """Tell whether a target names many documents: this store, or a folder."""
        if not isinstance(target, str | Path):
            return False
        if is_address(str(target)) or is_store(target):
            if resolved(target) != resolved(self.target):
                raise InputError(
                    f"{shown(target)!r} is another store than {shown(self.target)!r}",
                    hint="open it by itself",
                )
            return True
        return is_folder(Path(target))

    def document(
        self,
        target: str | Path | Document | DocumentIndex,
        options: SearchOptions | None = None,
    ) -> SearchableDocument:
        """Open one document: a file, an id, a document or an index."""
        options = options or self.defaults
        if isinstance(target, DocumentIndex):
            kept = self._kept(target, options)
            edited = applied(target, self.edits.read(target.document.id) | options.edits)
            return SearchableDocument(self, options, self._searcher(edited, kept, options), kept)
        if isinstance(target, Document):
            target = self.indexing().index_document(target).document.id
        return self._stored(self.indexing().locate(str(target)), options)

    def stored(
        self, document: str | DocumentInfo, options: SearchOptions | None = None
    ) -> SearchableDocument:
        """Open a document of the store, by its id or as the store has described it.

        Whatever the id says, no file is read: this is for whoever is asked by others, who may name
        any path.
        """
        info = self.store.find(document) if isinstance(document, str) else document
        return self._stored(info, options or self.defaults)

    def unpatched(self, document: SearchableDocument) -> SearchableDocument:
        """Open the same document without its patches; edits stay."""
        options = replace(document.options, patched=False)
        searcher = self._searcher(document.index, (), options)
        return SearchableDocument(self, options, searcher, ())

    def local_document(self, target: str | Path) -> SearchableDocument:
        """Open one document without models, to estimate what they would be shown."""
        index = self.library.open(str(target))
        made = Searcher(index, preset=self.defaults.preset, memory=BestEffortMemory(self.store))
        return SearchableDocument(self, self.defaults, made)

    def map(self) -> CollectionMap:
        """Return the map of all documents: what they name, and what may be merged."""
        from abstrag.collection.map import collection_map

        return collection_map(self.store)

    def index(self, document: str | DocumentInfo) -> DocumentIndex:
        """Return the index of a document as the chain made it, under its name in the store."""
        info = self.store.find(document) if isinstance(document, str) else document
        return self._indexes.get(version(info), lambda: called(self.store.get(info.id), info.id))

    def read(self, target: str | Path) -> DocumentIndex:
        """Return the index of a file or an id with the person's edits, for display.

        A file is indexed first when it is new or changed; nothing is made ready to be searched.
        """
        return self.edited(self.indexing().locate(str(target)).id)

    def edited(self, document: str) -> DocumentIndex:
        """Return the index of a document with the person's edits of its map."""
        index = self.index(document)
        return applied(index, self.edits.read(index.document.id))

    def remove(self, document: str) -> DocumentInfo:
        """Remove a document and its edits, and return its description."""
        info = self.store.find(document)
        self.store.remove(info.id)
        self.edits.forget(info.id)
        return info

    def collection(
        self,
        filters: Filters | None = None,
        options: SearchOptions | None = None,
        *,
        embeddings: bool = True,
        shortlist: int = SHORTLIST,
        prior_power: float = PRIOR_POWER,
        card_table: CollectionCards | None = None,
        on_made: OnMade = lambda _done, _all: None,
    ) -> SearchableCollection:
        """Open the documents of the store that pass some filters.

        Args:
            filters: Which documents.
            options: How they are searched.
            embeddings: False shortlists documents by words and terms alone.
            shortlist: How many documents are opened for a query.
            prior_power: How much a document's own score counts for its hits.
            card_table: The cards to choose from, if not those of all documents.
            on_made: Told how many missing cards of documents are made, of how many.
        """
        from abstrag.workspace.collection import open_collection

        return open_collection(
            self,
            filters or Filters(),
            options or self.defaults,
            embeddings=embeddings,
            shortlist=shortlist,
            prior_power=prior_power,
            card_table=card_table or self._card_table(embeddings, on_made),
        )

    def estimate(self, target: str, *, singly: bool = False) -> tuple[Estimate, Estimate]:
        """Estimate indexing a target, if that is due, and at most one search of it.

        `singly` tells that segments may be judged one at a time.
        """
        from abstrag.llm.budget import Estimate

        prompting = self.prompting
        if prompting is None:
            return Estimate(), Estimate(most=True)
        plans = self.indexing().plan_file(Path(target)) if Path(target).is_file() else ()
        found = self.library.open(target)  # local mode tells how many segments there are
        return prompting.estimate(plans), prompting.estimate_search(found, singly=singly)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stored(self, info: DocumentInfo, options: SearchOptions) -> SearchableDocument:
        kept = self._kept(self.index(info), options)
        searcher = self._kept_searcher(info, kept, options)
        return SearchableDocument(self, options, searcher, kept)

    def _kept(self, index: DocumentIndex, options: SearchOptions) -> tuple[KeptPatch, ...]:
        return self.patches.in_force(index) if options.patched else ()

    def _kept_searcher(
        self, info: DocumentInfo, kept: tuple[KeptPatch, ...], options: SearchOptions
    ) -> Searcher:
        edits = self.edits.read(info.id) | options.edits
        names = tuple((each.id, each.when) for each in kept)
        key: Hashable = (version(info), edits, names, replace(options, tau=0.0, edits=edits))
        return self._searchers.get(
            key,
            lambda: self._searcher(applied(self.index(info), edits), kept, options),
        )

    def _searcher(
        self, index: DocumentIndex, kept: tuple[KeptPatch, ...], options: SearchOptions
    ) -> Searcher:
        """Build a searcher of an index, with everything prepared for use by several threads."""
        patches = () if options.idle else tuple(each.patch for each in kept)
        if self.prompting is not None and self.judge is None:
            made = self.prompting.searcher(
                index,
                preset=options.preset,
                without=options.without,
                memory=BestEffortMemory(self.store),
                patches=patches,
                judge=options.judge,
            )
        else:
            made = Searcher(
                index,
                preset=options.preset,
                without=options.without,
                judge=self.judge if options.preset.judge_weight else None,
                encoder=self.encoder,
                memory=BestEffortMemory(self.store),
                patches=patches,
                reprice=options.reprice,
            )
        made.prepare()
        return made

    @property
    def embedder(self) -> TextEncoder:
        """What embeds documents and queries."""
        from abstrag.neural.whole_text import default_encoder

        return self.encoder or default_encoder()

    def _card_table(self, embeddings: bool, on_made: OnMade) -> CollectionCards:
        """Return the cards of all documents, read again when the documents have changed.

        A server that has them notices that by itself.
        """
        from abstrag.collection.card_table import CardTable
        from abstrag.collection.card_table_file import open_cards

        kept = self._on_server.get(embeddings)
        if kept is not None:
            return kept
        encoder = self.embedder if embeddings else None
        key = self.store.version(), embeddings
        found = self._shelves.get(
            key, lambda: open_cards(self.store, encoder=encoder, on_made=on_made)
        )
        if not isinstance(found, CardTable):
            self._on_server[embeddings] = found
        return found
