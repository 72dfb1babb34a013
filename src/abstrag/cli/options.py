"""Options that several commands share, handed to a command as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from abstrag.config import MAX_FILE_BYTES, TAU, Settings
from abstrag.engine.library import Library
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import OnStep
from abstrag.model.background import Background
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag.query.operators import OPERATORS
from abstrag.rank.relevance import DEFAULT_PRESET, PRESETS
from abstrag.stores.location import default_store_path
from abstrag.stores.sqlite import SqliteStore

_Command = Callable[..., Any]
_MIB: Final = 1024 * 1024

store_option = click.option(
    "--store",
    "store_path",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="ABSTRAG_STORE",
    help="The store file.  [default: in your data folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")

_LIBRARY: Final = (
    store_option,
    click.option(
        "--background",
        type=click.Path(dir_okay=False, path_type=Path),
        help="TOML or JSON file of what you know and the document does not say.",
    ),
    click.option("--genre", type=click.Choice([g.value for g in Genre]), help="Skip detection."),
    click.option(
        "--granularity",
        type=click.Choice([g.value for g in Granularity]),
        help="How finely to cut.  [default: by genre]",
    ),
    click.option(
        "--max-mb",
        type=click.FloatRange(min=0, min_open=True),
        default=MAX_FILE_BYTES / _MIB,
        show_default=True,
        help="Refuse larger files.",
    ),
)
_RANKING: Final = (
    click.option(
        "--preset",
        type=click.Choice(sorted(PRESETS)),
        default=DEFAULT_PRESET.name,
        show_default=True,
        help="How Match, utility and gap are weighed.",
    ),
    click.option(
        "--without",
        multiple=True,
        type=click.Choice(OPERATORS),
        help="Leave a query operator out; may be given several times.",
    ),
    click.option(
        "--tau", type=float, default=TAU, show_default=True, help="Budget for bridges, 0 to 4."
    ),
)


@dataclass(frozen=True, slots=True)
class LibraryOptions:
    """Which store, which Background, which settings."""

    store_path: Path | None
    background: Path | None
    genre: str | None
    granularity: str | None
    max_mb: float

    @contextmanager
    def open(self, on_step: OnStep = lambda _name: None) -> Iterator[Library]:
        """Open the library, and close its store afterwards."""
        settings = Settings(
            granularity=self.granularity,
            genre=self.genre,
            max_file_bytes=round(self.max_mb * _MIB),
        )
        known = Background.load(self.background) if self.background else None
        with SqliteStore.open(self.store_path or default_store_path()) as store:
            yield Library(store, known, settings, on_step)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to rank, and in which library."""

    library: LibraryOptions
    preset: str
    without: tuple[str, ...]
    tau: float

    def open(self, target: str) -> Searcher:
        """Open one document to be searched; it is indexed first when it is new or changed."""
        with self.library.open() as library:
            index = library.open(target)
        return Searcher(index, preset=PRESETS[self.preset], without=frozenset(self.without))


def library_options(command: _Command) -> _Command:
    """Hand a command its `options` as `LibraryOptions`."""

    @wraps(command)
    def called(
        store_path: Path | None,
        background: Path | None,
        genre: str | None,
        granularity: str | None,
        max_mb: float,
        **rest: Any,
    ) -> Any:
        options = LibraryOptions(store_path, background, genre, granularity, max_mb)
        return command(options=options, **rest)

    return _with(called, _LIBRARY)


def search_options(command: _Command) -> _Command:
    """Hand a command its `options` as `SearchOptions`."""

    @wraps(command)
    def called(
        options: LibraryOptions, preset: str, without: tuple[str, ...], tau: float, **rest: Any
    ) -> Any:
        return command(options=SearchOptions(options, preset, without, tau), **rest)

    return library_options(_with(called, _RANKING))


def _with(command: _Command, options: tuple[Callable[[_Command], _Command], ...]) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command
