"""`abstrag`: the command line. One file a command; each is imported only when it is called."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import Any, Final

import click

from abstrag import __version__
from abstrag.errors import AbstragError

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
    "bench": "Measure retrievers on data sets, and report.",
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
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = "abstrag_bench.cli.bench" if name == "bench" else f"abstrag.cli.{name}"
        command: click.Command = getattr(import_module(module), f"{name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, COMMANDS, n=2, cutoff=0.6)
            guess = " or ".join(repr(each) for each in near)
            ctx.fail(f"No such command {name!r}.{f' Did you mean {guess}?' if guess else ''}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


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
    """Write bytes of a name that are no text, and signs that the terminal lacks, as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _collect_seldom() -> None:
    """Look for garbage seldom, and not at all when the process ends.

    A document is hundreds of thousands of records without a cycle among them. Looking through all
    of them again and again takes a sixth of a short command's time.
    """
    gc.set_threshold(100_000, 50, 1_000)
    atexit.register(gc.freeze)
