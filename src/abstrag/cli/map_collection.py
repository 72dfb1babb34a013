"""How the map of a collection looks on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape

from abstrag.cli.output import family_style
from abstrag.collection.map import CollectionMap, Thing
from abstrag.collection.merge import Cited, Merge, Refusal, Side

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
    things = [t for t in collection.things(term) if term is not None or len(t.documents) > 1]
    merges = [m for m in collection.merges(term) if family in (None, m.family.value)]
    refusals = list(collection.refusals(term))
    out.print(
        f"[bold]{_counted(len(collection.documents), 'document')}[/]  "
        f"{_counted(len(things), 'thing')}{'' if term else ' named in several'}, "
        f"{_counted(len(merges), 'merge')}, {len(refusals)} refused"
    )
    most = None if everything or term is not None else _SHOWN
    things.sort(key=lambda t: (-len(t.documents), t.label))
    merges.sort(key=lambda m: (-len(m.members), m.units, m.name))
    refusals.sort(key=lambda r: (-len(r.sides), r.name))
    _part(out, "things", [line for thing in things[:most] for line in _thing(thing)])
    _rest(out, things, most)
    _part(out, "merges: each is an assumption and costs", [_merge(m) for m in merges[:most]])
    _rest(out, merges, most)
    _part(out, "kept apart", [_refusal(r) for r in refusals[:most]])
    _rest(out, refusals, most)


def _part(out: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        out.print(f"\n[bold]{title}[/]")
    for line in lines:
        out.print(f"  {line}")


def _rest(out: Console, items: Sequence[object], most: int | None) -> None:
    if most is not None and len(items) > most:
        out.print(f"  [dim]and {len(items) - most} more: --all lists them[/]")


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
    sides = _few([_side(side) for side in refusal.sides])
    return f"{escape(refusal.name)}: {escape(refusal.reason)}  [dim]{escape(sides)}[/]"


def _side(side: Side) -> str:
    return f"{side.label} ({_few(sorted({node.document for node in side.members}))})"


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
