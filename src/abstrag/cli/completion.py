"""`abstrag completion`: the shell completes commands, options, presets, files and document ids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click
from click.shell_completion import get_completion_class
from platformdirs import user_data_dir

from abstrag.errors import InputError

SHELLS: Final = ("bash", "zsh", "fish")
_MARK: Final = "# completion of abstrag"
_ZSH_FIRST: Final = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"


@click.command("completion")
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--print", "only_print", is_flag=True, help="Print the script, and change nothing.")
def completion_command(shell: str | None, only_print: bool) -> None:
    """Set up completion for SHELL, by default the one you use.

    Commands, options, presets, files and document ids are completed. For bash and zsh, one line is
    added to ~/.bashrc or ~/.zshrc; fish finds its file by itself. Calling it again changes nothing.
    """
    chosen = shell or _used()
    script = _script(chosen)
    if only_print:
        click.echo(script)
        return
    file = _place(chosen)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(script, encoding="utf-8")
    click.echo(f"wrote {file}")
    if chosen != "fish":
        _see_that_it_is_read(file, Path.home() / f".{chosen}rc")
    click.echo(f"open a new {chosen} to use it")


def _used() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise InputError(
            f"the shell {name!r} is none that is completed", hint=f"one of: {', '.join(SHELLS)}"
        )
    return name


def _script(shell: str) -> str:
    from abstrag.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None, shell
    made = kind(cli, {}, "abstrag", "_ABSTRAG_COMPLETE").source()
    return f"{_ZSH_FIRST}{made}" if shell == "zsh" else made


def _place(shell: str) -> Path:
    if shell == "fish":
        own = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        return Path(own) / "fish" / "completions" / "abstrag.fish"
    return Path(user_data_dir("abstrag", appauthor=False)) / "completion" / f"abstrag.{shell}"


def _see_that_it_is_read(file: Path, startup: Path) -> None:
    """Add a line to the shell's startup file, unless it is there already."""
    before = startup.read_text("utf-8") if startup.exists() else ""
    line = f"[ -f '{file}' ] && . '{file}'  {_MARK}"
    if line in before.splitlines():
        return
    gap = "" if not before or before.endswith("\n") else "\n"
    with startup.open("a", encoding="utf-8") as opened:
        opened.write(f"{gap}{line}\n")
    click.echo(f"added a line to {startup}")
