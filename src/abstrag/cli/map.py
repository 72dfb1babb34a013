"""`abstrag map`: the abstraction map of a document or of a whole collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import click
from rich.console import Console
from rich.markup import escape

from abstrag.cli.opened import opened
from abstrag.cli.options import DocumentTarget, json_option, library_options
from abstrag.cli.output import console, family_style, print_json
from abstrag.collection.map import CollectionMap, Thing, forms_of_text
from abstrag.collection.merge import Cited, Merge, Refusal
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Edge, Family, LicenceKind, Relation, TermKind
from abstrag.stores.open import is_address
from abstrag.stores.sqlite import is_store
from abstrag.workspace.options import WorkspaceConfig

T = TypeVar("T")


_SHOWN: Final = 30  # of each part, unless everything is asked for
_DOCUMENTS: Final = 6  # named of one thing
_QUOTED: Final = 2  # licences quoted of one name, class or merge


def print_collection(
    out: Console,
    collection: CollectionMap,
    *,
    term: str | None = None,
    family: str | None = None,
    everything: bool = False,
) -> None:
    """Print what the collection names, what may be merged at what cost, and what may not."""
    most = None if everything or term is not None else _SHOWN
    things = _First[Thing](lambda t: (-len(t.documents), t.label), most)
    merges = _First[Merge](lambda m: (-len(m.members), m.units, m.name), most)
    refusals = _First[Refusal](lambda r: (-len(r.sides), r.name), most)
    wanted = None if term is None else forms_of_text(term)
    for related in collection.related(term):
        things.take(t for t in related.things(wanted) if term is not None or len(t.documents) > 1)
        merges.take(m for m in related.merges if family in (None, m.family.value))
        refusals.take(related.refusals)
    for found in collection.events() if term is None else ():
        if isinstance(found, Refusal):
            refusals.take([found])
        elif family in (None, found.family.value):
            merges.take([found])
    out.print(
        f"[bold]{_counted(len(collection.documents), 'document')}[/]  "
        f"{_counted(things.count, 'thing')}{'' if term else ' named in several'}, "
        f"{_counted(merges.count, 'merge')}, {refusals.count} refused"
    )
    _part(out, "things", [line for thing in things.items for line in _thing(thing)])
    _rest(out, things.left_out)
    _part(out, "merges: each is an assumption and costs", [_merge(m) for m in merges.items])
    _rest(out, merges.left_out)
    _part(out, "kept apart", [_refusal(r) for r in refusals.items])
    _rest(out, refusals.left_out)


class _First(Generic[T]):
    """The first few of many items in some order, without holding all of them."""

    def __init__(self, order: Callable[[T], Any], most: int | None) -> None:
        self.count = 0
        self._order, self._most = order, most
        self._held: list[T] = []

    def take(self, items: Iterable[T]) -> None:
        """Take in some more items; among equal items the first stays first."""
        for item in items:
            self.count += 1
            self._held.append(item)
            if self._most is not None and len(self._held) > 2 * self._most:
                self._held = self.items

    @property
    def items(self) -> list[T]:
        """Those that are first, in order."""
        return sorted(self._held, key=self._order)[: self._most]

    @property
    def left_out(self) -> int:
        """How many more there are."""
        return self.count - len(self.items)


def _part(out: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        out.print(f"\n[bold]{title}[/]")
    for line in lines:
        out.print(f"  {line}")


def _rest(out: Console, more: int) -> None:
    if more:
        out.print(f"  [dim]and {more} more: --all lists them[/]")


def _thing(thing: Thing) -> Iterable[str]:
    kinds = f" [dim]({', '.join(thing.kinds)})[/]" if thing.kinds else ""
    yield f"[bold]{escape(thing.label)}[/]{kinds}  {_documents(thing.documents)}"
    for name, by in thing.names:
        if name != thing.label:
            yield f"    ≡ {escape(name)}  {_quoted(by)}"
    for said, by in thing.classes:
        yield f"    → {escape(said)}  {_quoted(by)}"


def _merge(merge: Merge) -> str:
    documents = sorted({node.document for node in merge.members})
    style = family_style(merge.family)
    quoted = f"  {_quoted(merge.licences)}" if merge.licences else ""
    return (
        f"[{style}]{merge.family.value}[/] {escape(merge.name)}  [bold]{merge.cost:.2f}[/]  "
        f"{_documents(documents)}  [dim]{escape(merge.why)}[/]{quoted}"
    )


def _refusal(refusal: Refusal) -> str:
    sides = _few(
        [
            f"{side.label} ({_few(sorted({node.document for node in side.members}))})"
            for side in refusal.sides
        ]
    )
    return f"{escape(refusal.name)}: {escape(refusal.reason)}  [dim]{escape(sides)}[/]"


def _documents(documents: Sequence[str]) -> str:
    return f"{_counted(len(documents), 'document')}: {escape(_few(documents))}"


def _few(items: Sequence[str]) -> str:
    more = len(items) - _DOCUMENTS
    return ", ".join(items[:_DOCUMENTS]) + (f" and {more} more" if more > 0 else "")


def _quoted(licences: Sequence[Cited]) -> str:
    """Quote the words of the first documents that state something."""
    said = []
    for cited in licences[:_QUOTED]:
        words = " ".join(cited.licence.reference.split())
        at = "" if cited.licence.span is None else f" at {cited.licence.span.start}"
        said.append(f"{cited.document}{at}: “{words}”")
    return f"[dim]{escape('; '.join(said))}[/]"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@click.command("map")
@click.argument("target", type=DocumentTarget())
@library_options
@click.option("--term", help="Only edges at terms whose label or id contains this.")
@click.option("--family", type=click.Choice([f.value for f in Family]), help="Only this family.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also list what there is much of: WordNet edges, every merge of a store.",
)
@json_option
def map_command(
    config: WorkspaceConfig,
    target: str,
    term: str | None,
    family: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Show what TARGET calls the same, what it says is a kind of what, and what that costs.

    Without --all, edges that only WordNet or the event inventory suggests are counted, not listed;
    --json always has them all. For a store, the map is that of all its documents together: what
    they name, which of it may be taken for one thing and at what cost, and what stays apart.
    """
    if is_address(target) or is_store(target):
        store = target if is_address(target) else Path(target)
        _show_collection(
            replace(config, store=store, create=False),
            term,
            family,
            everything=everything,
            as_json=as_json,
        )
        return
    with opened(config) as workspace:
        index = workspace.read(target)
    labels = {t.id: t.label for t in index.map.terms}

    def wanted(edge: Edge) -> bool:
        if family is not None and edge.family.value != family:
            return False
        names = (edge.source, edge.target, labels[edge.source], labels[edge.target])
        return term is None or any(term.casefold() in name.casefold() for name in names)

    edges = [e for e in index.map.edges if wanted(e)]
    if as_json:
        kept = {e.source for e in edges} | {e.target for e in edges}
        narrowed = term is not None or family is not None
        terms = [t for t in index.map.terms if not narrowed or t.id in kept]
        print_json({"terms": terms, "edges": edges})
        return
    _print(index, edges, everything=everything or term is not None)


def _show_collection(
    config: WorkspaceConfig,
    term: str | None,
    family: str | None,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    from abstrag.collection.map_data import map_data

    with opened(config) as workspace:
        collection = workspace.map()
    if not as_json:
        print_collection(console(), collection, term=term, family=family, everything=everything)
        return
    data = map_data(collection, term)
    if family is not None:
        data["merges"] = [merge for merge in data["merges"] if merge["family"] == family]
    print_json(data)


def _print(index: DocumentIndex, edges: list[Edge], *, everything: bool) -> None:
    out = console()
    kinds = Counter(t.kind for t in index.map.terms)
    counted = ", ".join(f"{kinds[k]} {k.value}" for k in TermKind if kinds[k])
    out.print(f"[bold]{escape(index.document.title or index.document.id)}[/]  {counted}")
    labels = {t.id: t.label for t in index.map.terms}
    shown = [e for e in edges if everything or e.licence.kind is not LicenceKind.LEXICON]
    for fam in Family:
        own = [e for e in shown if e.family is fam]
        if own:
            out.print(f"\n[bold {family_style(fam)}]{fam.value}[/]")
        for e in own:
            arrow = "≡" if e.relation is Relation.EQUIVALENT else "→"
            cost = "free" if e.truth_preserving else f"{e.cost:.2f}"
            reference = " ".join(e.licence.reference.split())
            at = "" if e.licence.span is None else f" at {e.licence.span.start}"
            out.print(
                f"  {escape(labels[e.source])} {arrow} {escape(labels[e.target])}  "
                f"[bold]{cost}[/]  [dim]{e.licence.kind.value}{at}: {escape(reference)}[/]"
            )
    hidden = len(edges) - len(shown)
    if hidden:
        out.print(f"\n[dim]and {hidden} edges that the lexicon suggests: --all lists them[/]")
