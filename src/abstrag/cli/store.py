"""`abstrag store`: what is in the store, taking things out of it, and moving it elsewhere."""

from __future__ import annotations

import click
from rich.markup import escape

from abstrag.cli.options import DocumentTarget, StoreTarget, json_option, store_option
from abstrag.cli.output import console, counted, print_json, progress
from abstrag.collection.card_table_file import save_card_table
from abstrag.collection.filters import Filters
from abstrag.collection.listing import Sort, listing
from abstrag.errors import InputError
from abstrag.model.record import to_data
from abstrag.neural.whole_text import default_encoder
from abstrag.stores.copying import copy_store
from abstrag.stores.open import Target, default_store, open_store, shown
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.upkeep import drop_made_by_others, made_by_others
from abstrag.workspace.workspace import Workspace


@click.group("store")
def store_command() -> None:
    """List, check, prepare and copy stores, and remove documents."""


@store_command.command("list")
@click.option("--title", metavar="WORDS", help="Only where the title has these.")
@click.option("--source", metavar="PATH", help="Only from this folder, or like *.pdf.")
@click.option("--since", metavar="DATE", help="Only documents from this day.")
@click.option("--until", metavar="DATE", help="Only documents up to this day.")
@click.option(
    "--sort", type=click.Choice([each.value for each in Sort]), help="By what.  [default: id]"
)
@store_option
@json_option
def store_list(
    store_path: Target | None,
    title: str | None,
    source: str | None,
    since: str | None,
    until: str | None,
    sort: str | None,
    as_json: bool,
) -> None:
    """List the documents in the store, with the names and sizes of their files."""
    with open_store(store_path or default_store(), create=False) as store:
        documents = store.documents()
    filters = Filters(since, until, source, title=title)
    passed = listing(documents, filters, sort=Sort(sort or Sort.TITLE))
    if sort is None:
        passed.sort(key=lambda pair: pair[0].id)
    if as_json:
        print_json(
            [{**to_data(info), "file": one.file, "bytes": one.bytes} for info, one in passed]
        )
        return
    out = console()
    for d, one in passed:
        size = f"{d.segments} segments, {d.terms} terms, {d.edges} edges"
        file = f" · {one.file}" if one.file else ""
        weight = f", {one.bytes:,} bytes" if one.bytes is not None else ""
        out.print(
            f"[bold]{d.id}[/]  {escape(d.title)}  "
            f"[dim]{d.date or 'no date'} · {size}{escape(file)}{weight}[/]"
        )
    if not documents:
        out.print("the store is empty: abstrag index FILE")
    elif not passed:
        out.print(f"none of the {len(documents)} documents passes the filters")


@store_command.command("remove")
@click.argument("document_id", type=DocumentTarget(files=False))
@store_option
@json_option
def store_remove(document_id: str, store_path: Target | None, as_json: bool) -> None:
    """Forget one document."""
    with open_store(store_path or default_store(), create=False) as store:
        store.remove(document_id)
    if as_json:
        print_json({"removed": document_id})


@store_command.command("check")
@store_option
@json_option
def store_check(store_path: Target | None, as_json: bool) -> None:
    """Read the whole store once; exits with 13 when it is broken."""
    with open_store(store_path or default_store(), create=False) as store:
        store.check()
        count, models, others = len(store.documents()), store.models(), made_by_others(store)
    if as_json:
        print_json({"documents": count, "sound": True, "models": models, "made_by_others": others})
        return
    out = console()
    out.print(f"{counted(count, 'document')}, all sound")
    for kind, made in others.items():
        out.print(
            f"{sum(made.values()):,} {kind} were made by models that are not installed, "
            "and are not used: abstrag store prepare drops them"
        )


@store_command.command("prepare")
@store_option
@click.option("--no-embeddings", is_flag=True, help="Leave out what takes a model.")
@json_option
def store_prepare(store_path: Target | None, no_embeddings: bool, as_json: bool) -> None:
    """Make the cards that a search over the whole store needs, so that no search waits for them.

    What models made that are no longer installed is dropped.
    """
    encoder = None if no_embeddings else default_encoder()
    with (
        open_store(store_path or default_store(), create=False) as store,
        progress(None, quiet=as_json) as bar,
    ):
        made, count = save_card_table(
            store,
            encoder=encoder,
            on_made=lambda done, total: bar.update(bar.task_ids[0], total=total, completed=done),
        )
        dropped = drop_made_by_others(store)
    if as_json:
        print_json({"documents": count, "made": made, "dropped": dropped})
        return
    console().print(f"{made} cards made, {count} documents have one")
    if dropped:
        console().print(f"{dropped:,} results of models that are not installed dropped")


@store_command.command("copy")
@click.argument("source", metavar="A", type=StoreTarget())
@click.argument("target", metavar="B", type=StoreTarget())
@json_option
def store_copy(source: Target, target: Target, as_json: bool) -> None:
    """Copy every document of store A into store B, with what was kept along the way.

    A and B are files or addresses (postgresql://USER@HOST/DATABASE). Documents that B has already
    are left alone, so that a copy which was interrupted goes on where it stopped; every document
    that is written is read back and compared.
    """
    if str(source) == str(target):
        raise InputError(f"{shown(source)!r} cannot be copied to itself", hint="name another store")
    with open_store(source, create=False) as old, open_store(target) as new:
        count = len(old.documents())
        with progress(count, quiet=as_json) as bar:
            task = bar.task_ids[0]
            done = copy_store(
                old, new, lambda name: bar.update(task, advance=1, description=escape(name))
            )
    if as_json:
        print_json(done)
        return
    out = console()
    out.print(
        f"{done.copied} of {done.documents} documents copied and compared, "
        f"{done.already_there} there already"
    )
    out.print(f"[dim]{done.layers} layers and {done.remembered} model results came along[/]")
    for name, called in sorted(done.renamed.items()):
        out.print(f"{escape(name)} is called [bold]{escape(called)}[/] in {escape(shown(target))}")


@store_command.command("quarantine")
@store_option
@json_option
def store_quarantine(store_path: Target | None, as_json: bool) -> None:
    """List the files that took too much time or memory and are not tried again."""
    with Workspace(WorkspaceConfig(store_path, create=False)) as workspace:
        entries = workspace.library.quarantine.entries()
    if as_json:
        print_json(entries)
        return
    out = console()
    for entry in entries:
        line = f"[bold]{escape(entry.path)}[/]  {escape(entry.reason)}  [dim]{entry.since}[/]"
        out.print(line, soft_wrap=True, emoji=False)
    if not entries:
        out.print("nothing is set aside")
