"""Options of every command that a language model can help, handed to it as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from abstrag.cli.output import console

if TYPE_CHECKING:
    from abstrag.llm.connect import Models
    from abstrag.llm.estimate import Estimate
    from abstrag.llm.ledger import ModelUsage
    from abstrag.llm.settings import LlmSettings

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


def llm_options(command: _Command) -> _Command:
    """Hand a command its `models_options` as `LlmOptions`."""

    @wraps(command)
    def called(
        llm: tuple[str, ...],
        base_url: tuple[str, ...],
        llm_config: Path | None,
        max_calls: int | None,
        max_cost: float | None,
        dry_run: bool,
        replay_path: Path | None,
        calls_path: Path | None,
        **rest: Any,
    ) -> Any:
        options = LlmOptions(
            llm=llm,
            base_url=base_url,
            llm_config=llm_config,
            max_calls=max_calls,
            max_cost=max_cost,
            dry_run=dry_run,
            replay_path=replay_path,
            calls_path=calls_path,
        )
        return command(models_options=options, **rest)

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


def print_estimate(estimate: Estimate) -> None:
    """Say what a dry run found."""
    console().print(f"dry run, nothing was asked: {estimate.sentence}")


def print_ledger(ledger: ModelUsage) -> None:
    """Say on standard error, in one line, what the models took; nothing when none was asked."""
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
