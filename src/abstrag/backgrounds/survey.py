"""What is in a compiled Background: counts, homonyms, and classes that go round in circles."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from abstrag.backgrounds.compiled import reading
from abstrag.errors import BackgroundError
from abstrag.model.record import record

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
class Survey:
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


def survey(path: str | Path) -> Survey:
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
        return Survey(
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
