"""`abstrag store`: what is in the store, and taking things out of it."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from abstrag.cli.options import json_option, store_option
from abstrag.cli.output import console, print_json
from abstrag.model.record import to_data
from abstrag.stores.location import default_store_path
from abstrag.stores.sqlite import SqliteStore


@click.group("store")
def store_command() -> None:
    """List, check and clean the store."""


@store_command.command("list")
@store_option
@json_option
def store_list(store_path: Path | None, as_json: bool) -> None:
    """List the documents in the store."""
    with SqliteStore.open(store_path or default_store_path(), create=False) as store:
        documents = store.documents()
    if as_json:
        print_json([to_data(d) for d in documents])
        return
    out = console()
    for d in documents:
        size = f"{d.segments} segments, {d.terms} terms, {d.edges} edges"
        out.print(f"[bold]{d.id}[/]  {escape(d.title)}  [dim]{d.date or 'no date'} · {size}[/]")
    if not documents:
        out.print("the store is empty: abstrag index FILE")


@store_command.command("remove")
@click.argument("document_id")
@store_option
@json_option
def store_remove(document_id: str, store_path: Path | None, as_json: bool) -> None:
    """Forget one document."""
    with SqliteStore.open(store_path or default_store_path(), create=False) as store:
        store.remove(document_id)
    if as_json:
        print_json({"removed": document_id})


@store_command.command("check")
@store_option
@json_option
def store_check(store_path: Path | None, as_json: bool) -> None:
    """Read the whole store once; exits with 13 when it is broken."""
    with SqliteStore.open(store_path or default_store_path(), create=False) as store:
        store.check()
        count = len(store.documents())
    if as_json:
        print_json({"documents": count, "sound": True})
    else:
        console().print(f"{count} documents, all sound")
