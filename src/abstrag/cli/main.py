"""`abstrag`: the command line. One file a command; each is imported only when it is called.

Other packages bring commands by entry points of the group `abstrag.commands`: a name, and a click
command. `bench` is one of these; it is in `abstrag-bench`, a distribution of its own.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final

import click

from abstrag import __version__
from abstrag.errors import AbstragError, ResourceMissing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# name → what it does; the module is called like the command, with - turned into _
COMMANDS: Final = {
    "index": "Index files, and everything inside folders.",
    "show": "Show the segments of TARGET with roles, utility and context.",
    "map": "Show what TARGET calls the same, and what is a kind of what.",
    "search": "Find the evidence for QUERY in TARGET and say why it is evidence.",
    "explain": "Show how segment HIT of TARGET meets QUERY.",
    "why-not": "Say why a passage of TARGET is not found, and what would lift it.",
    "budget": "Show at which budget τ each segment of TARGET meets QUERY.",
    "ask": "Answer QUERY from TARGET with exact quotations, or say what is missing.",
    "refine": "Find out why QUERY fails on TARGET, and mend what failed if nothing else breaks.",
    "feedback": "Say which hits for QUERY are evidence and which steps are right.",
    "policy": "Show, trace and take back what refinement has learnt.",
    "report": "Write the evidence for queries into one HTML file to send.",
    "serve": "Open the studio: documents, evidence and bridges in a browser.",
    "mcp": "Serve documents to agents over the Model Context Protocol.",
    "background": "Compile aliases, vocabularies and dumps into a Background, and look into it.",
    "store": "List, check, prepare and copy stores, and remove documents.",
    "prompts": "Show what models are asked, word for word.",
    "calls": "List the calls to language models: tokens, money, time.",
    "completion": "Set up completion in bash, zsh or fish: files, document ids, presets.",
    "schema": "Print the JSON schema of what commands print with --json.",
    "doctor": "Say what is installed and try every part once.",
    "demo": "Find in a bundled article what word matching cannot; `demo refine`: mend a query.",
}
GROUP: Final = "abstrag.commands"
ELSEWHERE: Final = {"bench": "abstrag-bench"}  # command of ours → the distribution it is in
_EPILOG: Final = """
\b
Exit codes:
  0  success                       10  the file needs a password
  1  unforeseen error              11  pages are pictures, no text layer
  2  wrong usage or input          12  the file is damaged
  3  other document error          13  the store cannot be used
  4  no such file                  14  no such document in the store
  5  a folder, not a file          15  part of the installation is missing
  6  the file is too large         16  some of several files failed
  7  the file holds no text        17  a figure cannot be computed
  8  unknown file format           18  a language model failed
  9  undecodable text              19  this needs a language model
 20  the model cannot be reached   21  its reply cannot be used
 22  the call budget is spent      23  a replayed call was never recorded
 24  the policy store refuses      25  a replay found a regression
 26  a worker was lost             27  the file costs too much to index
130  interrupted; finished work is kept
"""


class _Lazy(click.Group):
    """A group that imports a command when it is called: `--help` must not load spaCy."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*COMMANDS, *_brought()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            name = cmd_name.replace("-", "_")
            own: click.Command = getattr(import_module(f"abstrag.cli.{name}"), f"{name}_command")
            return own
        if cmd_name in (brought := _brought()):
            return _loaded(cmd_name, brought[cmd_name])
        if cmd_name in ELSEWHERE and not ctx.resilient_parsing:  # Tab must not fail
            raise ResourceMissing(
                f"'abstrag {cmd_name}' is in {ELSEWHERE[cmd_name]!r}, which is not installed",
                hint=f"pip install {ELSEWHERE[cmd_name]}",
            )
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            known = {*self.list_commands(ctx), *ELSEWHERE}
            if name not in known:
                near = get_close_matches(name, sorted(known), n=2, cutoff=0.6)
                guess = " or ".join(repr(each) for each in near)
                ctx.fail(f"No such command {name!r}.{f' Did you mean {guess}?' if guess else ''}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        brought = {name: _summary(entries[0]) for name, entries in _brought().items()}
        with formatter.section("Commands"):
            formatter.write_dl(list((COMMANDS | brought).items()))


def _brought() -> dict[str, list[EntryPoint]]:
    """Return the commands of other packages by name; none of them is imported for it."""
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.name not in COMMANDS:
            found.setdefault(entry.name, []).append(entry)
    return found


def _loaded(name: str, entries: list[EntryPoint]) -> click.Command:
    """Import a command of another package."""
    places = sorted({entry.value for entry in entries})
    if len(places) > 1:
        raise ResourceMissing(
            f"two packages bring 'abstrag {name}': {' and '.join(map(repr, places))}",
            hint="uninstall one of them",
        )
    try:
        command = entries[0].load()
    except Exception as error:
        raise ResourceMissing(
            f"'abstrag {name}' cannot be loaded from {places[0]!r}: {error}",
            hint="reinstall or uninstall the package that brings it",
        ) from error
    if not isinstance(command, click.Command):
        raise ResourceMissing(
            f"'abstrag {name}' is no click command: {places[0]!r}",
            hint="tell those who made the package that brings it",
        )
    return command


def _summary(entry: EntryPoint) -> str:
    """Return the one-line summary of the package that brings a command."""
    return (entry.dist.metadata["Summary"] if entry.dist else None) or entry.value


@click.group(cls=_Lazy, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="abstrag")
def cli() -> None:
    """Find the evidence in a document, quote it exactly, and show why it is evidence."""


def main(args: list[str] | None = None) -> Any:
    """Run the command line; an error of ours is one sentence, a hint and its exit code."""
    if args is None:  # a process of its own
        _collect_seldom()
        _print_whatever_files_are_called()
    try:
        return cli.main(args, prog_name="abstrag", standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; what was finished is kept", err=True)
        sys.exit(130)
    except AbstragError as error:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {error}", err=True)
        if error.hint:
            click.echo(f"{click.style('hint:', fg='cyan')} {error.hint}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # the reader went away (`abstrag map doc | head`); that is no error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _print_whatever_files_are_called() -> None:
    """Print undecodable bytes, and characters that the terminal lacks, as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _collect_seldom() -> None:
    """Run the garbage collector rarely, and not at all when the process ends.

    A document is hundreds of thousands of records without a cycle among them. Looking through all
    of them again and again takes a sixth of a short command's time.
    """
    gc.set_threshold(100_000, 50, 1_000)
    atexit.register(gc.freeze)
