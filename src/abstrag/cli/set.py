"""How a set of hits that belong together is printed."""

from __future__ import annotations

from rich.markup import escape

from abstrag.cli.output import console, print_json
from abstrag.cli.trace import print_hit, print_query
from abstrag.model.ranking import SupportSet
from abstrag.model.record import to_data
from abstrag.workspace.document import SearchableDocument


def print_set(
    document: SearchableDocument, query: str, found: SupportSet, *, as_json: bool
) -> None:
    """Print the hits with what joins them, and what none of them meets."""
    if as_json:
        print_json(to_data(found))
        return
    out = console()
    print_query(out, document.normalize(query))
    for rank, hit in enumerate(found.hits, 1):
        print_hit(out, hit, rank, document.preset)
        if rank <= len(found.joined_by) and found.joined_by[rank - 1]:
            out.print(f"   [dim]joins   {escape(found.joined_by[rank - 1])}[/]")
    if found.unmet:
        out.print(f"\n[yellow]met by none of them:[/] {escape(', '.join(found.unmet))}")
