"""Options of commands that take a whole collection where they take a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from abstrag.cli.llm_options import LlmOptions
from abstrag.cli.options import SearchOptions
from abstrag.cli.output import progress
from abstrag.cli.patch_options import PatchOptions
from abstrag.collection.filters import Filters
from abstrag.collection.searcher import SHORTLIST, CollectionSearcher
from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError, UnknownDocument
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.refine.ledger import text_hash
from abstrag.stores.location import is_store
from abstrag.stores.open import Target, open_store, shown
from abstrag.stores.postgres.address import is_address
from abstrag.stores.protocol import Store

_Command = Callable[..., Any]
_OPTIONS: Final = (
    click.option(
        "--all", "whole", is_flag=True, help="All documents of the store; no TARGET then."
    ),
    click.option("--since", metavar="DATE", help="Of a collection: only documents from this day."),
    click.option("--until", metavar="DATE", help="Of a collection: only documents up to this day."),
    click.option(
        "--source", metavar="PATH", help="Of a collection: only from this folder, or like *.pdf."
    ),
    click.option(
        "--no-embeddings",
        is_flag=True,
        help="Of a collection: shortlist documents by words and terms alone.",
    ),
    click.option(
        "--shortlist",
        type=click.IntRange(min=1),
        default=SHORTLIST,
        show_default=True,
        help="Of a collection: documents to open for a query.",
    ),
)


@dataclass(frozen=True, slots=True)
class CollectionOptions:
    """Which collection, which of its documents, and how they are shortlisted."""

    whole: bool
    since: str | None
    until: str | None
    source: str | None
    embeddings: bool
    shortlist: int

    def place(self, options: SearchOptions, target: str | None) -> Place | None:
        """Return the collection that a target names; None when it names one document."""
        store: Target = options.library.store_file
        folder = None
        if target is not None:
            if is_address(target) or is_store(target):
                store = target if is_address(target) else Path(target)
            elif Path(target).is_dir():
                folder = str(Path(target).resolve())
            else:
                self._refuse_filters(target)
                return None
        genre = Genre(options.library.genre) if options.library.genre else None
        filters = Filters(self.since, self.until, self.source, genre, folder)
        return Place(store, filters, self)

    def _refuse_filters(self, target: str) -> None:
        """A filter chooses among documents, and there is one."""
        for name, value in (("since", self.since), ("until", self.until), ("source", self.source)):
            if value is not None:
                raise InputError(
                    f"--{name} chooses among documents, and {target!r} is one document",
                    hint="name a store or an indexed folder, or --all for the whole store",
                )


@dataclass(frozen=True, slots=True)
class Place:
    """A collection: a store, and what its documents must be."""

    store: Target
    filters: Filters
    options: CollectionOptions

    @contextmanager
    def open(
        self,
        options: SearchOptions,
        patches: PatchOptions,
        models: LlmOptions,
        *,
        as_json: bool,
    ) -> Iterator[CollectionSearcher]:
        """Open the collection; a bar shows how missing cards are made."""
        _refuse(options, models)
        with open_store(self.store, create=False) as store:
            self._see_that_there_are_some(store)
            with progress(None, quiet=as_json) as bar:
                task = bar.task_ids[0]

                def on_made(done: int, total: int) -> None:
                    what = "making cards of documents"
                    bar.update(task, total=total, completed=done, description=what)

                searcher = CollectionSearcher(
                    store,
                    preset=options.preset,
                    embeddings=self.options.embeddings,
                    shortlist=self.options.shortlist,
                    on_made=on_made,
                    open_document=_opener(options, patches, store),
                )
                searcher.shelf  # noqa: B018 - read while the bar is there
            yield searcher

    def _see_that_there_are_some(self, store: Store) -> None:
        documents = store.documents()
        if not documents:
            raise UnknownDocument(
                f"the store {shown(self.store)!r} is empty",
                hint="abstrag index FOLDER puts documents into it",
            )
        if self.filters.folder is not None:
            only = Filters(folder=self.filters.folder)
            if all(only.refuses(info) for info in documents):
                raise UnknownDocument(
                    f"no document of the store comes from the folder {self.filters.folder!r}",
                    hint=f"abstrag index {self.filters.folder}",
                )


def _refuse(options: SearchOptions, models: LlmOptions) -> None:
    """Say what only one document at a time can be given."""
    if models.settings() is not None or models.dry_run:
        raise InputError(
            "a collection is searched without a language model",
            hint="leave --llm and --dry-run out, or name one document",
        )
    if options.library.background is not None or options.library.granularity is not None:
        raise InputError(
            "a collection is searched as it was indexed",
            hint="give --background and --granularity to abstrag index",
        )


def _opener(
    options: SearchOptions, patches: PatchOptions, store: Store
) -> Callable[[DocumentIndex], Searcher]:
    """Return what opens a document, under the patches that are kept for its text."""
    kept: defaultdict[str, list[Patch]] = defaultdict(list)
    if patches.wanted and not options.without:
        for each in patches.ledger.kept():
            kept[each.document].append(each.patch)

    def opened(index: DocumentIndex) -> Searcher:
        own = kept.get(text_hash(index)) if kept else None
        if own:
            return Searcher(index, preset=options.preset, memory=store, patches=own)
        without = frozenset(options.without)
        return Searcher(index, preset=options.preset, without=without, memory=store)

    return opened


def collection_options(*arguments: str) -> Callable[[_Command], _Command]:
    """Hand a command its `collection` as `CollectionOptions`.

    `arguments` are the names of its arguments, TARGET first; with --all there is no TARGET and the
    rest move up.
    """

    def decorated(command: _Command) -> _Command:
        @wraps(command)
        def called(
            whole: bool,
            since: str | None,
            until: str | None,
            source: str | None,
            no_embeddings: bool,
            shortlist: int,
            **rest: Any,
        ) -> Any:
            given = [rest.pop(name) for name in arguments]
            if whole:
                if given[-1] is not None:
                    raise click.UsageError("With --all there is no TARGET.")
                given = [None, *given[:-1]]
            missing = [n for n, v in zip(arguments, given, strict=True) if v is None]
            if missing and missing != [arguments[0]] * whole:
                raise click.UsageError(f"Missing argument '{missing[-1].upper()}'.")
            options = CollectionOptions(whole, since, until, source, not no_embeddings, shortlist)
            named = dict(zip(arguments, given, strict=True))
            return command(collection=options, **named, **rest)

        for option in reversed(_OPTIONS):
            called = option(called)
        for name in reversed(arguments):
            called = click.argument(name, required=name == arguments[0])(called)
        return called

    return decorated
