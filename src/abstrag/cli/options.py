"""Options that several commands share, handed to a command as one value: its `config`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from abstrag.cli.output import console
from abstrag.config import MAX_FILE_BYTES, TAU, Settings
from abstrag.errors import AbstragError, InputError
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag.policy.location import DEFAULT_FAMILY
from abstrag.search.query.operators import OPERATORS
from abstrag.search.relevance import DEFAULT_PRESET, FAST, PRESETS
from abstrag.stores.open import STORE_VARIABLE, Target, is_address
from abstrag.workspace.options import SearchOptions, WorkspaceConfig, chosen_preset

if TYPE_CHECKING:
    from abstrag.llm.budget import Estimate
    from abstrag.llm.connect import Models
    from abstrag.llm.settings import LlmSettings
    from abstrag.llm.usage import ModelUsage

_Command = Callable[..., Any]
_FILE: Final = click.Path(dir_okay=False, path_type=Path)
calls_option = click.option(
    "--calls",
    "calls_path",
    type=_FILE,
    help="The log of calls.  [default: calls.db beside the default store]",
)
_OPTIONS: Final = (
    click.option(
        "--llm",
        "llm",
        multiple=True,
        metavar="[ROLE=]MODEL",
        help="Ask this model; with ROLE= (index, judge, critic, refine, answer) for one role "
        "only. none: work without any.",
    ),
    click.option(
        "--base-url",
        "base_url",
        multiple=True,
        metavar="[ROLE=]URL",
        help="The OpenAI-compatible endpoint, up to /v1.",
    ),
    click.option("--llm-config", type=_FILE, help="TOML file with an [llm] table."),
    click.option(
        "--max-calls", type=click.IntRange(min=0), help="Stop before more calls than this."
    ),
    click.option(
        "--max-cost",
        type=click.FloatRange(min=0),
        metavar="DOLLARS",
        help="Stop before this could be overrun.",
    ),
    click.option("--dry-run", is_flag=True, help="Say what the models would cost; ask nothing."),
    click.option("--replay", "replay_path", type=_FILE, help="Answer from this recording only."),
    calls_option,
)


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """Which models, how much they may cost, and whether to ask them at all."""

    llm: tuple[str, ...] = ()
    base_url: tuple[str, ...] = ()
    llm_config: Path | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    dry_run: bool = False
    replay_path: Path | None = None
    calls_path: Path | None = None

    def settings(self) -> LlmSettings | None:
        """Decide on the models; None is local mode."""
        from abstrag.llm.choose import ConfigSource, by_role, choose
        from abstrag.llm.settings import Limits

        return choose(
            ConfigSource(by_role(self.llm, "--llm"), by_role(self.base_url, "--base-url")),
            config=self.llm_config,
            limits=Limits(max_calls=self.max_calls, max_cost=self.max_cost),
        )

    def connect(self) -> Models | None:
        """Return the models, to be used in a `with`; None is local mode."""
        settings = self.settings()
        if settings is None and self.replay_path is None:
            return None
        from abstrag.llm.connect import connect, replay

        if self.replay_path is not None:
            return replay(self.replay_path, settings)
        assert settings is not None
        return connect(settings, calls=self.calls_path)


def with_options(command: _Command, options: Sequence[Callable[[_Command], _Command]]) -> _Command:
    """Add options to a command, in their order."""
    for option in reversed(options):
        command = option(command)
    return command


def gathered(
    name: str, make: Callable[..., Any], options: Sequence[Callable[[_Command], _Command]] = ()
) -> Callable[[_Command], _Command]:
    """Return a decorator that adds options and passes a command one value made of them.

    `make` takes arguments that are called like the options, those that the command has already
    included; the command calls what it makes `name`.
    """
    taken = tuple(signature(make).parameters)

    def decorated(command: _Command) -> _Command:
        @wraps(command)
        def called(**given: Any) -> Any:
            made = make(**{each: given.pop(each) for each in taken})
            return command(**{name: made}, **given)

        return with_options(called, options)

    return decorated


llm_options = gathered("models_options", LlmOptions, _OPTIONS)


def print_estimate(estimate: Estimate) -> None:
    """Say what a dry run found."""
    console().print(f"dry run, nothing was asked: {estimate.sentence}")


def print_ledger(ledger: ModelUsage) -> None:
    """Print in one line on standard error what the models used; nothing if none was asked."""
    if not ledger.roles:
        return
    total = ledger.total
    parts = [f"{total.calls:,} calls", f"{total.cached:,} from the log"]
    if total.failed:
        parts.append(f"{total.failed:,} failed")
    parts.append(f"{total.tokens_in:,} + {total.tokens_out:,} tokens")
    unknown = ", ".join(ledger.unpriced)
    parts.append(f"price of {unknown} unknown" if unknown else f"${total.cost:.4f}")
    console(stderr=True).print(f"[dim]models: {' · '.join(parts)}[/]")


class StoreTarget(click.Path):
    """A path, or an address as text, because a `Path` would drop one of its slashes."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a `Path`, or the text of an address."""
        return value if is_address(value) else super().convert(value, param, ctx)


_MOST: Final = 200  # completions that are offered


class DocumentTarget(click.types.StringParamType):
    """Plain text; it differs from other text only in that completion offers documents."""

    name = "text"

    def __init__(self, *, files: bool = True) -> None:
        """Say whether files are completed too."""
        self.files = files

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer matching ids, and files; leave it to the shell where no id matches."""
        found = [
            CompletionItem(name, help=title)
            for name, title in _documents(ctx)
            if name.startswith(incomplete)
        ][:_MOST]
        if not self.files:
            return found
        # a shell offers its own files only where it is offered nothing else
        if not found:
            return [CompletionItem(incomplete, type="file")]
        return [*found, *map(CompletionItem, _files(incomplete))]


def _documents(ctx: click.Context) -> list[tuple[str, str]]:
    """Return ids and titles from the store named on the command line; never create a store."""
    from abstrag.stores.open import default_store, open_store

    target = ctx.params.get("store_path") or default_store()
    try:
        with open_store(target, create=False) as store:
            return [(info.id, info.title) for info in store.documents()]
    except AbstragError:  # completion has no place to say what is wrong
        return []


def _files(incomplete: str) -> list[str]:
    """Return the files and folders whose path begins with this text, in the user's spelling."""
    folder, _, start = incomplete.rpartition("/")
    begin = f"{folder}/" if "/" in incomplete else ""
    try:
        inside = sorted(Path(begin or ".").expanduser().iterdir())
    except OSError:
        return []
    names = [f"{each.name}/" if each.is_dir() else each.name for each in inside]
    hidden = start.startswith(".")
    fit = [n for n in names if n.startswith(start) and (hidden or not n.startswith("."))]
    return [f"{begin}{name}" for name in fit[:_MOST]]


_MIB: Final = 1024 * 1024

store_option = click.option(
    "--store",
    "store_path",
    type=StoreTarget(),
    envvar=STORE_VARIABLE,
    help="The store: a file or postgresql://USER@HOST/DATABASE.  [default: in your data folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
policy_option: Final = click.option(
    "--policy",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="ABSTRAG_POLICY",
    help="The policy folder.  [default: in your data folder]",
)

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
_PATCHES: Final = (
    policy_option,
    click.option(
        "--family", default=DEFAULT_FAMILY, show_default=True, help="Whose patches to use."
    ),
    click.option(
        "--no-patches",
        is_flag=True,
        help="Leave out what refinement has kept for the document.",
    ),
)


def _library(
    store_path: Target | None,
    background: Path | None,
    genre: str | None,
    granularity: str | None,
    max_mb: float,
) -> WorkspaceConfig:
    settings = Settings(granularity=granularity, genre=genre, max_file_bytes=round(max_mb * _MIB))
    return WorkspaceConfig(store_path, background=background, settings=settings)


def _bridging(config: WorkspaceConfig, without: tuple[str, ...], tau: float) -> WorkspaceConfig:
    return replace(config, options=SearchOptions(tau=tau, without=frozenset(without)))


def _ranking(
    config: WorkspaceConfig, preset: str | None, no_judge: bool, exact: bool
) -> WorkspaceConfig:
    if no_judge and preset not in (None, FAST.name):
        raise InputError(
            f"--no-judge and --preset {preset} are two presets", hint="leave one of them out"
        )
    chosen = chosen_preset(preset, judge=False if no_judge else None, exact=exact)
    options = replace(config.defaults, preset=chosen, judge=not no_judge)
    return replace(config, options=options)


def _patching(
    config: WorkspaceConfig, policy: Path | None, family: str, no_patches: bool
) -> WorkspaceConfig:
    options = replace(config.defaults, patched=not no_patches)
    return replace(config, options=options, policy=policy, family=family)


# These hand a command its `config` as `WorkspaceConfig`: which store, Background and settings.
library_options = gathered("config", _library, _LIBRARY)
# whose patches hold, and whether any do; it stands below the decorator that makes the `config`
patch_options = gathered("config", _patching, _PATCHES)


def bridging_options(command: _Command) -> _Command:
    """Add the options on bridges to a command's `config`, for commands that rank nothing."""
    return library_options(gathered("config", _bridging, _BRIDGING)(command))


def search_options(command: _Command) -> _Command:
    """Add the options on ranking to a command's `config`."""
    return bridging_options(gathered("config", _ranking, _RANKING)(command))
