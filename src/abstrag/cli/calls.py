"""`abstrag calls`: what was asked of language models, what they said, and what it took."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from abstrag.cli.options import calls_option, json_option
from abstrag.cli.output import console, print_json
from abstrag.llm.call import Call, CallLine, Exchange, RoleSummary
from abstrag.llm.log import CallLog, default_calls_path, save
from abstrag.llm.model import CallRole
from abstrag.model.record import to_data


@click.group("calls", invoke_without_command=True)
@calls_option
@json_option
@click.pass_context
def calls_command(context: click.Context, calls_path: Path | None, as_json: bool) -> None:
    """Show what language models were asked and what it took, by role.

    Calls are kept in a log: asking the same again is answered from there and costs nothing.
    """
    context.obj = calls_path
    if context.invoked_subcommand is not None:
        return
    summary = []
    if _exists(calls_path):
        with _opened(calls_path) as log:
            summary = log.summary()
    if as_json:
        print_json(summary)
    elif summary:
        console().print(_summary_table(summary))
    else:
        console().print("no calls yet")


@calls_command.command("list")
@click.option(
    "--role", type=click.Choice([role.value for role in CallRole]), help="Only this role."
)
@click.option("--failed", is_flag=True, help="Only calls without a usable reply.")
@click.option(
    "-n",
    "--last",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Only the last so many.",
)
@calls_option
@json_option
@click.pass_obj
def calls_list(
    outer: Path | None,
    role: str | None,
    failed: bool,
    last: int,
    calls_path: Path | None,
    as_json: bool,
) -> None:
    """List calls, the latest first."""
    lines = []
    if _exists(calls_path or outer):
        with _opened(calls_path or outer) as log:
            lines = log.lines(role=CallRole(role) if role else None, failed=failed, last=last)
    if as_json:
        print_json(lines)
        return
    if not lines:
        console().print("no calls")
        return
    out = console()
    out.print(_list_table(lines))
    for one in lines:
        if one.error:
            out.print(f"\n[red]{one.id} failed:[/] {escape(one.error)}")


@calls_command.command("show")
@click.argument("call_id", metavar="ID")
@calls_option
@json_option
@click.pass_obj
def calls_show(outer: Path | None, call_id: str, calls_path: Path | None, as_json: bool) -> None:
    """Show one call whole; the beginning of its ID is enough."""
    with _opened(calls_path or outer) as log:
        call = log.call(call_id)
        exchanges = log.exchanges(call.id)
    if as_json:
        print_json({**to_data(call), "exchanges": exchanges})
    else:
        _print_call(call, exchanges)


@calls_command.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@calls_option
@json_option
@click.pass_obj
def calls_export(outer: Path | None, file: Path, calls_path: Path | None, as_json: bool) -> None:
    """Write every call with a reply to FILE as JSON lines, for --replay FILE."""
    with _opened(calls_path or outer) as log:
        count = save(log.calls(), file)
    if as_json:
        print_json({"calls": count, "file": str(file)})
    else:
        console().print(f"{count} calls in {escape(str(file))}")


def _exists(path: Path | None) -> bool:
    """Tell whether there is a log; without one there were no calls, which is no error."""
    return path is not None or default_calls_path().exists()


def _opened(path: Path | None) -> CallLog:
    return CallLog.open(path or default_calls_path(), create=False)


def _list_table(lines: list[CallLine]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True, min_width=16)
    for name in ("role", "stage", "model", "mode"):
        table.add_column(name, no_wrap=True)
    for name in ("in", "out", "s", "$", "reused"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in lines:
        table.add_row(
            f"[red]{one.id}[/]" if one.error else one.id,
            one.role,
            escape(one.stage),
            escape(one.model),
            one.mode,
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            f"{one.seconds:.1f}",
            f"{one.cost:.4f}",
            str(one.hits),
        )
    return table


def _summary_table(summary: list[RoleSummary]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("role")
    headings = ("calls", "cached", "faults", "failed", "tokens in", "tokens out", "$", "p50", "p95")
    for name in headings:
        table.add_column(name, justify="right")
    for one in summary:
        table.add_row(
            one.role,
            *(f"{n:,}" for n in (one.calls, one.cached, one.faults, one.failed)),
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            f"{one.cost:.4f}",
            _seconds(one.p50_s),
            _seconds(one.p95_s),
        )
    return table


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"


def _print_call(call: Call, exchanges: list[Exchange]) -> None:
    out = console()
    asked = call.request
    out.print(f"[bold]{call.id}[/]  {asked.role} · {escape(asked.stage)} · {escape(call.model)}")
    out.print(
        f"[dim]{call.at} · {call.mode} · {call.tokens_in:,} + {call.tokens_out:,} tokens · "
        f"${call.cost:.4f} · temperature {asked.temperature:g} · sample {asked.sample}[/]"
    )
    if call.error:
        out.print(f"[red]failed:[/] {escape(call.error)}")
    for note in call.notes:
        out.print(f"[yellow]note:[/] {escape(note)}")
    for number, one in enumerate(exchanges, 1):
        out.print(f"[dim]{number}. {one.mode} · {one.seconds:.2f} s · {escape(one.outcome)}[/]")
    parts = [("system", asked.system), ("user", asked.user), ("reply", call.raw)]
    if call.value is not None and not isinstance(call.value, str):
        parts.append(("read as", json.dumps(call.value, ensure_ascii=False, indent=2)))
    for name, text in parts:
        out.print(f"\n[bold]{name}[/]")
        out.print(escape(text), soft_wrap=True)
