"""Options that several commands share, handed to a command as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from abstrag.backgrounds.compiled import load as load_background
from abstrag.cli.store_target import StoreTarget
from abstrag.config import MAX_FILE_BYTES, TAU, Settings
from abstrag.engine.library import Library
from abstrag.engine.prompting import Prompting
from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError
from abstrag.indexing.pipeline import OnShortfall, OnStep
from abstrag.llm.connect import Models
from abstrag.llm.estimate import Estimate
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.model.segment import Granularity
from abstrag.query.operators import OPERATORS
from abstrag.rank.relevance import DEFAULT_PRESET, FAST, PRESETS, Preset
from abstrag.stores.open import Target, default_store, open_store
from abstrag.stores.reopened import ReopenedMemory

_Command = Callable[..., Any]
_MIB: Final = 1024 * 1024

store_option = click.option(
    "--store",
    "store_path",
    type=StoreTarget(),
    envvar="ABSTRAG_STORE",
    help="The store: a file or postgresql://USER@HOST/DATABASE.  [default: in your data folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")

_LIBRARY: Final = (
    store_option,
    click.option(
        "--background",
        type=click.Path(dir_okay=False, path_type=Path),
        help="What you know and the document does not say: TOML, JSON, or compiled sources.",
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
        help=f"How Match, utility and gap are weighed.  [default: {DEFAULT_PRESET.name}]",
    ),
    click.option(
        "--no-judge",
        is_flag=True,
        help=f"Rank without the evidence judge: short for --preset {FAST.name}.",
    ),
    click.option(
        "--exact",
        is_flag=True,
        help="Ask the judge about every segment that may still get in, and not about a shortlist.",
    ),
)
_BRIDGING: Final = (
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

    store_path: Target | None
    background: Path | None
    genre: str | None
    granularity: str | None
    max_mb: float

    @property
    def store_file(self) -> Target:
        """The store that is meant."""
        return self.store_path or default_store()

    @contextmanager
    def open(
        self,
        on_step: OnStep = lambda _name: None,
        *,
        prompting: Prompting | None = None,
        on_shortfall: OnShortfall = lambda _shortfall: None,
    ) -> Iterator[Library]:
        """Open the library, and close its store afterwards."""
        settings = Settings(
            granularity=self.granularity,
            genre=self.genre,
            max_file_bytes=round(self.max_mb * _MIB),
        )
        known = load_background(self.background) if self.background else None
        with open_store(self.store_file) as store:
            prompts = prompting.index if prompting else None
            yield Library(store, known, settings, on_step, prompts, on_shortfall)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to rank, and in which library."""

    library: LibraryOptions
    without: tuple[str, ...]
    tau: float
    preset: Preset = DEFAULT_PRESET

    def open(self, target: str, models: Models | None = None) -> Searcher:
        """Open one document to be searched; it is indexed first when it is new or changed."""
        prompting = Prompting.of(models) if models else None
        with self.library.open(prompting=prompting) as library:
            index = library.open(target)
        return self.over(index, prompting)

    def over(
        self,
        index: DocumentIndex,
        prompting: Prompting | None = None,
        patches: Sequence[Patch] = (),
    ) -> Searcher:
        """Return what searches an index that is at hand."""
        settings: dict[str, Any] = {
            "preset": self.preset,
            "without": frozenset(self.without),
            "memory": self.memory,
            "patches": patches,
        }
        if prompting is not None:
            return prompting.searcher(index, **settings)
        return Searcher(index, **settings)

    @property
    def memory(self) -> ReopenedMemory:
        """What the store keeps of the shipped models' answers."""
        return ReopenedMemory(self.library.store_file)

    def estimate(
        self, target: str, models: Models | None, *, singly: bool = False
    ) -> tuple[Estimate, Estimate]:
        """Say what indexing a target will take where that is due, and a search of it at most."""
        if models is None:
            return Estimate(), Estimate(most=True)
        prompting = Prompting.of(models)
        with self.library.open(prompting=prompting) as library:
            plans = library.plan_file(Path(target)) if Path(target).is_file() else ()
        with self.library.open() as library:  # local mode tells how many segments there are
            index = library.open(target)
        return prompting.estimate(plans), prompting.estimate_search(index, singly=singly)


def library_options(command: _Command) -> _Command:
    """Hand a command its `options` as `LibraryOptions`."""

    @wraps(command)
    def called(
        store_path: Target | None,
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
        options: SearchOptions, preset: str | None, no_judge: bool, exact: bool, **rest: Any
    ) -> Any:
        chosen = _preset(preset, no_judge=no_judge, exact=exact)
        return command(options=replace(options, preset=chosen), **rest)

    return bridging_options(_with(called, _RANKING))


def bridging_options(command: _Command) -> _Command:
    """Hand a command that ranks nothing its `options` as `SearchOptions`."""

    @wraps(command)
    def called(options: LibraryOptions, without: tuple[str, ...], tau: float, **rest: Any) -> Any:
        return command(options=SearchOptions(options, without, tau), **rest)

    return library_options(_with(called, _BRIDGING))


def _preset(name: str | None, *, no_judge: bool, exact: bool) -> Preset:
    """Return the preset that options mean together."""
    if no_judge and name not in (None, FAST.name):
        raise InputError(
            f"--no-judge and --preset {name} are two presets", hint="leave one of them out"
        )
    chosen = FAST if no_judge else PRESETS[name] if name else DEFAULT_PRESET
    if exact and not chosen.judge_weight:
        raise InputError(
            f"--exact is about the judge, and preset {chosen.name!r} has none",
            hint=f"leave --exact out, or take --preset {DEFAULT_PRESET.name}",
        )
    return replace(chosen, judged=None) if exact else chosen


def _with(command: _Command, options: tuple[Callable[[_Command], _Command], ...]) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command
