"""Options that several commands share, and what they build."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from abstrag.config import MAX_FILE_BYTES, Settings
from abstrag.engine.library import Library
from abstrag.index.pipeline import OnStep
from abstrag.model.background import Background
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag.stores.location import default_store_path
from abstrag.stores.sqlite import SqliteStore

_Command = TypeVar("_Command", bound=Callable[..., Any])
_MIB: Final = 1024 * 1024


def library_options(command: _Command) -> _Command:
    """Add the options that say which store, which Background and which settings."""
    for option in reversed(
        (
            click.option(
                "--store",
                "store_path",
                type=click.Path(dir_okay=False, path_type=Path),
                envvar="ABSTRAG_STORE",
                help="The store file.  [default: in your data folder]",
            ),
            click.option(
                "--background",
                type=click.Path(dir_okay=False, path_type=Path),
                help="TOML or JSON file of what you know and the document does not say.",
            ),
            click.option(
                "--genre", type=click.Choice([g.value for g in Genre]), help="Skip detection."
            ),
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
    ):
        command = option(command)
    return command


def json_option(command: _Command) -> _Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")(command)


@contextmanager
def open_library(
    store_path: Path | None,
    background: Path | None = None,
    genre: str | None = None,
    granularity: str | None = None,
    max_mb: float = MAX_FILE_BYTES / _MIB,
    on_step: OnStep = lambda _name: None,
) -> Iterator[Library]:
    """Open the library the options describe, and close its store afterwards."""
    settings = Settings(granularity=granularity, genre=genre, max_file_bytes=round(max_mb * _MIB))
    known = Background.load(background) if background else None
    with SqliteStore.open(store_path or default_store_path()) as store:
        yield Library(store, known, settings, on_step)
