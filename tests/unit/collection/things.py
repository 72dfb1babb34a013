"""Small collections for the tests: entries read off real indexes, and entries made by hand."""

from collections.abc import Iterable
from functools import cache

from abstrag.collection.entries import Class, Entries, NamedThing, ThingName, entries_of
from abstrag.collection.homonyms import BearerKind, form, person_form
from abstrag.collection.map import CollectionMap
from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Licence, LicenceKind


@cache
def indexed(name: str, text: str) -> DocumentIndex:
    """Index a text as a document of that name."""
    return index(load_bytes(text.encode(), name=f"{name}.md"))


def collection(**texts: str) -> CollectionMap:
    """Make the map of a few texts by document name."""
    return CollectionMap({name: entries_of(indexed(name, text)) for name, text in texts.items()})


def entry(
    label: str,
    *,
    short: str | None = None,
    kinds: Iterable[BearerKind] = (),
    classes: Iterable[str] = (),
    near: Iterable[int] = (),
) -> NamedThing:
    """Make an entry by hand; a short form is one that its document states."""
    term = f"entity:{label.casefold()}"
    names = [ThingName(label, term, form(label))]
    if short is not None:
        words = Licence(LicenceKind.TEXT, f"{label} ({short})")
        names.append(ThingName(short, f"entity:{short.casefold()}", form(short), words))
    forms = {name.form for name in names} | {person_form(label) or ""} - {""}
    return NamedThing(
        term=term,
        label=label,
        names=tuple(names),
        forms=tuple(sorted(forms)),
        classes=tuple(
            Class(f"concept:{c}", c, Licence(LicenceKind.TEXT, f"{label}, a {c}")) for c in classes
        ),
        kinds=tuple(sorted(kinds)),
        near=tuple(near),
        mentions=1,
    )


def entries(
    *made: NamedThing, context: Iterable[str] = (), concepts: Iterable[str] = ()
) -> Entries:
    """Put entries made by hand together."""
    return Entries("", made, (), tuple(concepts), tuple(context))
