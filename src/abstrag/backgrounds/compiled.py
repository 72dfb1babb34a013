"""A compiled Background, looked up by the words of a document; the rest of it stays on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from abstrag.backgrounds.fact import NAMED, agrees, singulars, together, words, written_forms
from abstrag.backgrounds.source import must_be_compiled
from abstrag.backgrounds.touched import (
    LEVELS,
    BackgroundPart,
    ClassFact,
    NameFact,
    TouchedFacts,
    Weight,
    touched,
)
from abstrag.errors import BackgroundError
from abstrag.files import bears_mark
from abstrag.model.background import Background
from abstrag.model.record import from_json, record

APPLICATION_ID: Final = 0x41627342  # "AbsB", in the header of the SQLite file
VERSION: Final = 1
STATED: Final = -1.0  # in place of a distance: the user states it, and it costs nothing

TABLES: Final = """
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT, digest TEXT, distance REAL, facts INTEGER);
CREATE TABLE meta (digest TEXT, rest TEXT, duplicates INTEGER, conflicts INTEGER);
CREATE TABLE thing (id INTEGER PRIMARY KEY, key TEXT NOT NULL, scheme TEXT);
CREATE TABLE name (
    form TEXT, thing INTEGER, surface TEXT, preferred INTEGER, distance REAL, confidence REAL,
    source INTEGER, line INTEGER, PRIMARY KEY (form, thing)
) WITHOUT ROWID;
CREATE TABLE link (
    thing INTEGER, target INTEGER, role INTEGER, distance REAL, confidence REAL,
    source INTEGER, line INTEGER, PRIMARY KEY (thing, target, role)
) WITHOUT ROWID;
CREATE TABLE lead (word TEXT PRIMARY KEY, longest INTEGER) WITHOUT ROWID;
"""


def is_compiled(path: str | Path) -> bool:
    """True when a file says in its first bytes that it is a compiled Background."""
    return bears_mark(path, APPLICATION_ID)


_CHUNK: Final = 500  # values in one SQL statement
_AGAIN: Final = "make it again: abstrag background build FILES -o FILE"


@dataclass(frozen=True, slots=True)
class CompiledBackground:
    """A file that `build` made; what it says is read when a document asks for it.

    A value without an open file: threads and processes may share it.
    """

    path: Path
    digest: str

    @classmethod
    def open(cls, path: str | Path) -> CompiledBackground:
        """Take a compiled file, or say what is wrong with it."""
        path = Path(path).resolve()
        if not path.exists():
            raise BackgroundError(
                f"no compiled Background at {str(path)!r}",
                hint="check the path, or name the Background again with --background",
            )
        if not is_compiled(path):
            raise BackgroundError(
                f"{str(path)!r} is no compiled Background",
                hint="make one: abstrag background build FILES -o FILE",
            )
        with reading(path) as base:
            (digest,) = base.execute("SELECT digest FROM meta").fetchone()
        return cls(path, digest)

    @property
    def name(self) -> str:
        """What licences call it; the name changes with the content."""
        return f"{self.path.name}@{self.digest[:12]}"

    def touched_by(self, texts: Sequence[str]) -> TouchedFacts:
        """Return what the sources say about the things that texts name."""
        with reading(self.path) as base:
            written = _written(base, texts)
            found = _names(base, "form", written)
            hits = [name for name in found if agrees(name.surface, written[name.form])]
            kinds = _kinds(base, {row.thing for row in hits})
            things = {row.thing for row in hits} | {kind.target for kind in kinds}
            names = _names(base, "thing", things)
            weights = _weights(base, {name.form for name in names})
            (rest,) = base.execute("SELECT rest FROM meta").fetchone()
        part = touched(BackgroundPart(hits, names, kinds, weights), self.name)
        whole = together(part.background, from_json(Background, rest))
        return replace(part, background=replace(whole, compiled=str(self.path)))


def load(path: str | Path) -> Background | CompiledBackground:
    """Read a Background file, or take a compiled one; the first bytes tell which it is."""
    if is_compiled(path):
        return CompiledBackground.open(path)
    if must_be_compiled(path):
        raise BackgroundError(
            f"{str(path)!r} is a source, which has to be compiled first",
            hint=f"abstrag background build {path} -o bg.db, then --background bg.db",
        )
    return Background.load(path)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a compiled file for reading, and say in our words what is wrong with it."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            (version,) = base.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise BackgroundError(
                    f"{str(path)!r} was compiled by another version of abstrag", hint=_AGAIN
                )
            yield base
    except sqlite3.Error as error:
        raise BackgroundError(
            f"the compiled Background {str(path)!r} cannot be read: {error}", hint=_AGAIN
        ) from error


def _written(base: sqlite3.Connection, texts: Sequence[str]) -> Mapping[str, set[str]]:
    """Return the forms in texts that may be names of the file, each as it is written."""
    first = {one for text in texts for word in words(text) for one in singulars(word)}
    longest = dict(_select(base, "SELECT word, longest FROM lead WHERE word IN", first))
    found: dict[str, set[str]] = {}
    for form, written in written_forms(texts, longest):
        found.setdefault(form, set()).add(written)
    return found


def _names(base: sqlite3.Connection, column: str, values: Iterable[Any]) -> list[NameFact]:
    sql = f"""
        SELECT form, thing, surface, preferred, n.distance, confidence, s.name, line, t.key, scheme
        FROM name n JOIN source s ON s.id = source JOIN thing t ON t.id = thing
        WHERE {column} IN"""
    return sorted(
        (
            NameFact(form, thing, surface, bool(preferred), far, sure, _origin(*place), own)
            for form, thing, surface, preferred, far, sure, *place, own in _select(
                base, sql, values
            )
        ),
        key=lambda name: (name.form, name.thing),
    )


def _kinds(base: sqlite3.Connection, things: set[int]) -> list[ClassFact]:
    """Return the links from things upward, level by level; a circle ends where it closes."""
    sql = """
        SELECT thing, target, role, n.distance, confidence, s.name, line, t.key
        FROM link n JOIN source s ON s.id = source JOIN thing t ON t.id = thing
        WHERE thing IN"""
    found: list[ClassFact] = []
    seen, frontier = set(things), set(things)
    for _ in range(LEVELS):
        rows = [
            ClassFact(thing, target, bool(role), far, sure, _origin(*place))
            for thing, target, role, far, sure, *place in _select(base, sql, frontier)
        ]
        found += rows
        frontier = {row.target for row in rows} - seen
        seen |= frontier
    return sorted(found, key=lambda row: (row.thing, row.target, row.role))


def _weights(base: sqlite3.Connection, forms: Iterable[str]) -> list[Weight]:
    """Return how much confidence all things of one scheme have together that are called so."""
    sql = """
        SELECT form, scheme, distance < 0 AS stated, SUM(confidence)
        FROM name JOIN thing t ON t.id = thing WHERE form IN"""
    rows = _select(base, sql, forms, "GROUP BY form, scheme, stated")
    return [Weight(form, scheme, bool(stated), sum_) for form, scheme, stated, sum_ in rows]


def _select(
    base: sqlite3.Connection, sql: str, values: Iterable[Any], after: str = ""
) -> Iterator[tuple[Any, ...]]:
    remaining = iter(sorted(values))
    while chunk := list(islice(remaining, _CHUNK)):
        marks = ", ".join("?" * len(chunk))
        yield from base.execute(f"{sql} ({marks}) {after}", chunk)


def _origin(source: str, line: int | None, key: str) -> str:
    """Say where an entry stands: file, line where there are lines, id where there are ids."""
    at = f"{source} line {line}" if line is not None else source
    return at if key.startswith(NAMED) else f"{at}, {key.rpartition(':')[2] if line else key}"


_EXAMPLES: Final = 5
# What nothing follows, or what follows nothing, lies on no circle; what is left when all that is
# taken away, does, or joins two that do.
_TRIM: Final = (
    "DELETE FROM round WHERE target NOT IN (SELECT thing FROM round)",
    "DELETE FROM round WHERE thing NOT IN (SELECT target FROM round)",
)


@record
class SourceInfo:
    """One source: how much it says, and how far it is believed; no distance means stated."""

    name: str
    facts: int
    distance: float | None


@record
class BackgroundSummary:
    """What a compiled Background holds, and what is odd in it."""

    sources: tuple[SourceInfo, ...]
    things: int
    names: int
    links: int
    duplicates: int  # lines that say what another has said
    conflicts: int  # entries given at two costs; the lower stands
    homonyms: int  # names of several things; they stay open
    homonym_examples: tuple[str, ...]
    in_circles: int  # things that are, over some steps, a kind of themselves
    circle_examples: tuple[str, ...]


def survey(path: str | Path) -> BackgroundSummary:
    """Read a compiled Background once, check that it is sound, and count."""
    with reading(Path(path)) as base:
        (state,) = base.execute("PRAGMA quick_check").fetchone()
        if state != "ok":
            raise BackgroundError(
                f"the compiled Background {str(path)!r} is damaged: {state}",
                hint="make it again: abstrag background build FILES -o FILE",
            )
        homonyms = "SELECT MIN(surface) FROM name GROUP BY form HAVING COUNT(*) > 1"
        circles = _circles(base)
        duplicates, conflicts = base.execute("SELECT duplicates, conflicts FROM meta").fetchone()
        return BackgroundSummary(
            sources=tuple(
                SourceInfo(*row)
                for row in base.execute("SELECT name, facts, distance FROM source ORDER BY id")
            ),
            things=_count(base, "SELECT id FROM thing"),
            names=_count(base, "SELECT form FROM name"),
            links=_count(base, "SELECT thing FROM link"),
            duplicates=duplicates,
            conflicts=conflicts,
            homonyms=_count(base, homonyms),
            homonym_examples=_texts(base, f"{homonyms} ORDER BY COUNT(*) DESC, form"),
            in_circles=_count(base, circles),
            circle_examples=_texts(
                base,
                f"SELECT COALESCE(MAX(CASE WHEN preferred THEN surface END), MIN(surface), key)"
                f" FROM thing LEFT JOIN name ON thing = id WHERE id IN ({circles})"
                " GROUP BY id ORDER BY id",
            ),
        )


def _circles(base: sqlite3.Connection) -> str:
    base.execute("PRAGMA temp_store = FILE")
    base.execute("CREATE TEMP TABLE round AS SELECT thing, target FROM link")
    base.execute("CREATE INDEX temp.round_thing ON round (thing)")
    base.execute("CREATE INDEX temp.round_target ON round (target)")
    while sum([base.execute(sql).rowcount for sql in _TRIM]):
        pass
    return "SELECT DISTINCT thing FROM round"


def _count(base: sqlite3.Connection, sql: str) -> int:
    count: int = base.execute(f"SELECT COUNT(*) FROM ({sql})").fetchone()[0]
    return count


def _texts(base: sqlite3.Connection, sql: str) -> tuple[str, ...]:
    return tuple(text for (text,) in base.execute(f"{sql} LIMIT {_EXAMPLES}"))
