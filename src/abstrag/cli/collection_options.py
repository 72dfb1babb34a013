"""Options of commands that take a whole collection where they take a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from abstrag.cli.document_target import DocumentTarget
from abstrag.cli.opened import opened
from abstrag.cli.output import progress
from abstrag.collection.filters import Filters
from abstrag.config import SHORTLIST
from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.neural.preload import preload
from abstrag.stores.location import is_store
from abstrag.stores.postgres.address import is_address
from abstrag.workspace.options import WorkspaceConfig

if TYPE_CHECKING:
    from abstrag.cli.llm_options import LlmOptions
    from abstrag.workspace.collection import SearchableCollection

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
        "--title", metavar="WORDS", help="Of a collection: only where the title has these."
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
    title: str | None
    embeddings: bool
    shortlist: int

    def place(self, config: WorkspaceConfig, target: str | None) -> CollectionChoice | None:
        """Return the collection that a target names; None when it names one document."""
        folder = None
        if target is not None:
            if is_address(target) or is_store(target):
                config = replace(config, store=target if is_address(target) else Path(target))
            elif Path(target).is_dir():
                folder = str(Path(target).resolve())
            else:
                self._refuse_filters(target)
                return None
        genre = Genre(config.settings.genre) if config.settings.genre else None
        filters = Filters(self.since, self.until, self.source, genre, folder, self.title)
        return CollectionChoice(replace(config, create=False), filters, self)

    def _refuse_filters(self, target: str) -> None:
        """A filter chooses among documents, and there is one."""
        for name in ("since", "until", "source", "title"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"--{name} chooses among documents, and {target!r} is one document",
                    hint="name a store or an indexed folder, or --all for the whole store",
                )


@dataclass(frozen=True, slots=True)
class CollectionChoice:
    """A collection that options name: a store, and what its documents must be."""

    config: WorkspaceConfig
    filters: Filters
    options: CollectionOptions

    @contextmanager
    def open(self, models: LlmOptions, *, as_json: bool) -> Iterator[SearchableCollection]:
        """Open the collection; a bar shows how missing cards are made."""
        if models.settings() is not None or models.dry_run:
            raise InputError(
                "a collection is searched without a language model",
                hint="leave --llm and --dry-run out, or name one document",
            )
        if self.config.background is not None or self.config.settings.granularity is not None:
            raise InputError(
                "a collection is searched as it was indexed",
                hint="give --background and --granularity to abstrag index",
            )
        with opened(self.config) as workspace:
            # the models load while the cards are read, and a first question waits for less
            judged = workspace.defaults.preset.judge_weight > 0
            preload(aligner=self.options.embeddings, judge=judged)
            with progress(None, quiet=as_json) as bar:
                task = bar.task_ids[0]

                def on_made(done: int, total: int) -> None:
                    what = "making cards of documents"
                    bar.update(task, total=total, completed=done, description=what)

                collection = workspace.collection(
                    self.filters,
                    embeddings=self.options.embeddings,
                    shortlist=self.options.shortlist,
                    on_made=on_made,
                )
            yield collection


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
            title: str | None,
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
            options = CollectionOptions(
                whole, since, until, source, title, not no_embeddings, shortlist
            )
            named = dict(zip(arguments, given, strict=True))
            return command(collection=options, **named, **rest)

        for option in reversed(_OPTIONS):
            called = option(called)
        for name in reversed(arguments):
            first = name == arguments[0]
            kind = DocumentTarget() if first else None
            called = click.argument(name, required=first, type=kind)(called)
        return called

    return decorated
