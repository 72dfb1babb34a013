"""`abstrag prompts`: the programs that models are asked with, and their hashes."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table as Screen

from abstrag.cli.output import console, print_json
from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Program
from abstrag.model.record import to_data
from abstrag.policy.load import base_hash, load_program, load_programs
from abstrag.policy.location import PROGRAMS

_json = click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")


@click.group("prompts")
def prompts_command() -> None:
    """Show what models are asked, word for word."""


@prompts_command.command("list")
@_json
def prompts_list(as_json: bool) -> None:
    """List every program with its hash, rules and examples."""
    programs = load_programs()
    if as_json:
        print_json([{"name": name, **_summary(one)} for name, one in programs.items()])
        return
    table = Screen("program", "hash", "rules", "examples", "may be edited")
    for name, one in programs.items():
        told = _summary(one)
        table.add_row(
            name,
            str(told["hash"]),
            str(told["rules"]),
            str(told["examples"]),
            "yes" if one.mutable else "",
        )
    console().print(table)


@prompts_command.command("show")
@click.argument("name", type=click.Choice(PROGRAMS))
@click.option("--family", help="Whose rules and examples to show.  [default: the baseline]")
@_json
def prompts_show(name: str, family: str | None, as_json: bool) -> None:
    """Print the program NAME: the instruction, its rules, examples and the schema of the reply."""
    program = load_program(name, family)
    if as_json:
        print_json({"hash": base_hash(program), **to_data(program)})
        return
    out = console()
    out.print(f"[bold]{name}[/]  [dim]{base_hash(program)}[/]")
    sent = program.request(CallRole.INDEX, {})  # whoever is asked, the words are the same
    out.print(escape(sent.system), soft_wrap=True)
    out.print("\n[bold]schema[/]")
    out.print_json(data=to_data(program)["output_schema"])


def _summary(program: Program) -> dict[str, object]:
    return {
        "hash": base_hash(program)[:12],
        "rules": len(program.rules),
        "examples": len(program.few_shot),
    }
