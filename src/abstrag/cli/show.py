"""`abstrag show`: what the system understood of a document, segment by segment."""

from __future__ import annotations

from typing import Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from abstrag.cli.opened import opened
from abstrag.cli.options import DocumentTarget, json_option, library_options
from abstrag.cli.output import console, print_json
from abstrag.documents.ocr import INSTALL
from abstrag.errors import InputError
from abstrag.model.document import DOUBTFUL, BlockKind, Document, ScannedPage
from abstrag.model.index import DocumentIndex, SegmentRecord
from abstrag.model.record import to_data
from abstrag.workspace.options import WorkspaceConfig

_NAMED: Final = 8  # pages that are named one by one


@click.command("show")
@click.argument("target", type=DocumentTarget())
@library_options
@click.option("--segment", "segment_id", help="Show one segment in full.")
@click.option("--tree", is_flag=True, help="Show the section tree instead.")
@json_option
def show_command(
    config: WorkspaceConfig,
    target: str,
    segment_id: str | None,
    tree: bool,
    as_json: bool,
) -> None:
    """Show the segments of TARGET with roles, utility and context.

    TARGET is a file (indexed first when it is new or changed) or a document id.
    """
    with opened(config) as workspace:
        index = workspace.read(target)
    records = [r for r in index.records if segment_id in (None, r.segment.id)]
    if segment_id is not None and not records:
        raise InputError(
            f"{index.document.id!r} has no segment {segment_id!r}",
            hint=f"abstrag show {index.document.id}",
        )
    if as_json:
        print_json(_data(index, records))
    elif tree:
        _print_tree(index)
    elif segment_id is not None:
        _print_segment(index, records[0])
    else:
        _print_table(index)


def _data(index: DocumentIndex, records: list[SegmentRecord]) -> dict[str, Any]:
    numbers = {r.segment.id: i for i, r in enumerate(index.records)}
    segments = []
    for r in records:
        row = to_data(r)
        row["quote"] = index.document.quote(r.segment.span)
        for said, statement in zip(row["statements"], r.statements, strict=True):
            said["terms"] = index.terms_in(numbers[r.segment.id], statement.start, statement.end)
        segments.append(row)
    return {
        "document": index.document.id,
        "title": index.document.title,
        "date": index.document.metadata.date,
        "genre": index.genre.value,
        "granularity": index.granularity.value,
        "sections": [
            [*b.section, b.text] for b in index.document.blocks if b.kind is BlockKind.HEADING
        ],
        "segments": segments,
        "scans": [_scan(page) for page in index.document.scans],
        "ambiguities": index.ambiguities,
    }


def _scan(page: ScannedPage) -> dict[str, Any]:
    """Say how a picture of a page was read; its words are in the index."""
    sure = [word.confidence for word in page.words]
    return {
        "page": page.number,
        "read": page.read,
        "words": len(sure),
        "confidence": round(sum(sure) / len(sure), 3) if sure else None,
        "doubtful": sum(each < DOUBTFUL for each in sure),
    }


def _print_scans(out: Console, document: Document) -> None:
    """Say which pages are pictures, and how well they could be read."""
    read = [page for page in document.scans if page.read]
    if read:
        sure = [word.confidence for page in read for word in page.words]
        doubtful = sum(each < DOUBTFUL for each in sure)
        out.print(
            f"[yellow]{_pages(read)} read by text recognition: {len(sure):,} words, "
            f"{doubtful:,} of them doubtful[/]"
        )
    unread = [page for page in document.scans if not page.read]
    if unread:
        out.print(f"[yellow]{_pages(unread)} not read: they hold pictures and no text[/]")
        out.print(f"[dim]{escape(INSTALL)}, then abstrag store remove the document and index it[/]")


def _pages(scans: list[ScannedPage]) -> str:
    numbers = [str(page.number) for page in scans]
    named = ", ".join(numbers[:_NAMED]) + (", …" if len(numbers) > _NAMED else "")
    return f"page {named} was" if len(numbers) == 1 else f"{len(numbers)} pages ({named}) were"


def _headline(index: DocumentIndex) -> str:
    date = index.document.metadata.date or "no date"
    return (
        f"[bold]{escape(index.document.title or index.document.id)}[/]  {date} · "
        f"{index.genre.value} · {len(index.records)} segments ({index.granularity.value}) · "
        f"{len(index.map.terms)} terms · {len(index.map.edges)} edges · "
        f"{len(index.ambiguities)} open questions"
    )


def _print_table(index: DocumentIndex) -> None:
    out = console()
    out.print(_headline(index))
    _print_scans(out, index.document)
    table = Table(box=None, pad_edge=False, header_style="dim", expand=True)
    table.add_column("id", style="bold", no_wrap=True)
    table.add_column("page", justify="right", style="dim", no_wrap=True)
    table.add_column("role", style="cyan", no_wrap=True)
    table.add_column("U", justify="right", style="magenta", no_wrap=True)
    table.add_column("text", ratio=3, no_wrap=True, overflow="ellipsis")
    table.add_column("context", ratio=2, no_wrap=True, overflow="ellipsis", style="dim")
    for r in index.records:
        s = r.segment
        context = "; ".join(f"{v.name} = {v.value}" for _, v in r.context.to_read())
        page = "" if s.page is None else str(s.page)
        row = (s.id, page, s.role.value, f"{r.utility.value:.2f}")
        table.add_row(*row, Text(s.text), Text(context))
    out.print(table)


def _print_tree(index: DocumentIndex) -> None:
    out = console()
    out.print(_headline(index))
    for block in index.document.blocks:
        if block.kind is BlockKind.HEADING:
            page = "" if block.page is None else f"  [dim]p. {block.page}[/]"
            out.print("  " * len(block.section) + escape(block.text) + page)


def _print_segment(index: DocumentIndex, r: SegmentRecord) -> None:
    out = console()
    s = r.segment
    number = next(i for i, x in enumerate(index.records) if x is r)
    where = " › ".join(s.section) or "top level"
    page = "" if s.page is None else f", page {s.page}"
    out.print(f"[bold]{s.id}[/]  {escape(where)}{page}, characters {s.span.start} to {s.span.end}")
    out.print(f"[dim]quote    [/] {escape(index.document.quote(s.span))}")
    if doubt := index.document.doubt(s.span, s.page):
        out.print(f"[dim]doubt    [/] [yellow]{escape(doubt)}[/]")
    out.print(f"[dim]canonical[/] {escape(r.canonical)}")
    u = r.utility
    out.print(
        f"[dim]utility  [/] {u.value:.3f} = layout {u.layout:.2f} ({s.role.value}) + "
        f"novelty {u.novelty:.2f} × assertedness {u.assertedness:.2f}"
    )
    for field, value in r.context.to_read():
        at = "" if value.span is None else f" at {value.span.start}..{value.span.end}"
        out.print(
            f"[dim]context  [/] {field.value}: {escape(value.name)} = "
            f"[bold]{escape(value.value)}[/] ({value.confidence:.2f}{at})"
        )
    for said in r.statements:
        terms = ", ".join(index.terms_in(number, said.start, said.end))
        cue = f", cue {said.cue!r}" if said.cue else ""
        how = f"{said.kind.value}, {said.profile.value}{cue}: {terms}"
        out.print(f"[dim]states   [/] {escape(how)}")
    for frame in index.frames:
        if frame.segment == number:
            slots = ", ".join(
                f"{x.name}={x.term or s.text[x.start : x.end]!r}"
                + (" (coerced)" if x.coerced else "")
                for x in frame.slots
            )
            out.print(f"[dim]event    [/] {frame.event}({escape(slots)})")
