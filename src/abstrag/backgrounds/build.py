"""Compile sources into one SQLite file: read as streams, sorted on disk, put in place at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from abstrag.backgrounds.compiled import APPLICATION_ID, STATED, TABLES, VERSION, is_compiled
from abstrag.backgrounds.fact import (
    MOST_WORDS,
    NAMED,
    BackgroundName,
    ClassMembership,
    Fact,
    folded,
    scheme,
    together,
)
from abstrag.backgrounds.lines import content_digest
from abstrag.backgrounds.source import BackgroundSource
from abstrag.config import DELTA_ABS_ONE_WAY, OMEGA
from abstrag.errors import BackgroundError
from abstrag.model.background import EMPTY
from abstrag.model.record import to_json

_BATCH: Final = 5_000
_RULES: Final = 2  # by which sources are put together: other ones make another file of them
_CACHE_KIB: Final = 16 * 1024  # what SQLite may keep in memory while it sorts

_STAGE: Final = """
CREATE TEMP TABLE said (
    thing TEXT, form TEXT, surface TEXT, preferred INTEGER, distance REAL, confidence REAL,
    source INTEGER, line INTEGER
);
CREATE TEMP TABLE linked (
    thing TEXT, target TEXT, role INTEGER, distance REAL, confidence REAL, source INTEGER,
    line INTEGER
);
"""
# What is stated of a name that is nothing but another name of one thing is stated of that thing:
# "LSTM" may stand for "long short-term memory" in one file and be a neural network in another.
_JOIN: Final = f"""
CREATE TEMP TABLE joined AS
    SELECT own.thing AS old, MIN(other.thing) AS new FROM (
        SELECT thing, MIN(form) AS form FROM said
        WHERE thing IN (SELECT thing FROM linked UNION SELECT target FROM linked)
            AND scheme(thing) = '{NAMED}'
        GROUP BY thing HAVING COUNT(DISTINCT form) = 1 AND MAX(distance) < 0
    ) own JOIN said other ON other.form = own.form
    WHERE other.thing <> own.thing AND scheme(other.thing) = '{NAMED}'
        AND NOT other.preferred AND other.distance < 0
    GROUP BY own.thing HAVING COUNT(DISTINCT other.thing) = 1;
CREATE UNIQUE INDEX joined_old ON joined (old);
DELETE FROM said WHERE thing IN (SELECT old FROM joined);
UPDATE linked SET thing = (SELECT new FROM joined WHERE old = thing)
    WHERE thing IN (SELECT old FROM joined);
UPDATE linked SET target = (SELECT new FROM joined WHERE old = target)
    WHERE target IN (SELECT old FROM joined);
"""
# Of several lines that say the same the cheapest stands, then the surest, then the first.
_SETTLE: Final = f"""
INSERT INTO thing (key, scheme) SELECT thing, scheme(thing) FROM (
    SELECT thing FROM said UNION SELECT thing FROM linked UNION SELECT target FROM linked
) ORDER BY thing;
CREATE UNIQUE INDEX thing_key ON thing (key);
INSERT INTO name SELECT form, id, surface, best, distance, confidence, source, line FROM (
    SELECT *, MAX(preferred) OVER (PARTITION BY thing, form) AS best, ROW_NUMBER() OVER (
        PARTITION BY thing, form
        ORDER BY distance, preferred DESC, confidence DESC, source, line, surface
    ) AS place FROM said
) JOIN thing ON thing.key = thing WHERE place = 1 ORDER BY form, id;
INSERT INTO link SELECT a.id, b.id, role, distance, confidence, source, line FROM (
    SELECT *, ROW_NUMBER() OVER (
        PARTITION BY thing, target, role ORDER BY distance, confidence DESC, source, line
    ) AS place FROM linked
) JOIN thing a ON a.key = thing JOIN thing b ON b.key = target
WHERE place = 1 AND a.id <> b.id ORDER BY a.id, b.id, role;
INSERT INTO lead
    SELECT substr(form, 1, instr(form || ' ', ' ') - 1) AS word,
           MIN({MOST_WORDS}, MAX(length(form) - length(replace(form, ' ', '')) + 1))
    FROM name GROUP BY word ORDER BY word;
CREATE INDEX name_thing ON name (thing);
DROP INDEX thing_key;
"""
_DUPLICATES: Final = """
SELECT (SELECT COUNT(*) FROM said WHERE NOT preferred)
     + (SELECT COUNT(*) FROM linked)
     - (SELECT COUNT(*) FROM (SELECT DISTINCT thing, form FROM said WHERE NOT preferred))
     - (SELECT COUNT(*) FROM (SELECT DISTINCT thing, target, role FROM linked))
"""
_CONFLICTS: Final = """
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM said WHERE NOT preferred GROUP BY thing, form
            HAVING MIN(distance) < MAX(distance)))
     + (SELECT COUNT(*) FROM (SELECT 1 FROM linked GROUP BY thing, target, role
            HAVING MIN(distance) < MAX(distance)))
"""

OnFacts = Callable[[BackgroundSource, int], None]


def build(
    sources: Sequence[BackgroundSource],
    output: str | Path,
    *,
    on_facts: OnFacts = lambda _source, _count: None,
) -> bool:
    """Compile sources into a file; False when the file there was made from the very same.

    Memory does not grow with the sources. The file appears when it is whole, or not at all.

    Raises:
        BackgroundError: A source cannot be read, says nothing, or says something malformed.
    """
    output = Path(output)
    digests = [content_digest(source.path) for source in sources]
    mark = _digest(sources, digests)
    if is_compiled(output) and _digest_of(output) == mark:
        return False
    if output.exists() and not is_compiled(output):
        raise BackgroundError(
            f"{str(output)!r} is there, and is no compiled Background",
            hint="choose another name with -o, or move it away",
        )
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with _draft_of(output) as draft:
            with closing(sqlite3.connect(draft, isolation_level=None)) as base:
                _compile(base, sources, digests, mark, on_facts)
            with draft.open("rb+") as file:  # Windows flushes no file that is only read
                os.fsync(file.fileno())
            draft.replace(output)
    except (OSError, sqlite3.Error) as error:
        raise BackgroundError(
            f"the compiled Background {str(output)!r} cannot be written: {error}",
            hint="is there room on the disk, and may you write there?",
        ) from error
    return True


@contextmanager
def _draft_of(output: Path) -> Iterator[Path]:
    """Give a file beside another to write first; nothing of it stays."""
    draft = output.with_name(f".{output.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _compile(
    base: sqlite3.Connection,
    sources: Sequence[BackgroundSource],
    digests: Sequence[str],
    mark: str,
    on_facts: OnFacts,
) -> None:
    for setting in (
        f"application_id = {APPLICATION_ID}",
        f"user_version = {VERSION}",
        "temp_store = FILE",
        f"cache_size = -{_CACHE_KIB}",
        "journal_mode = OFF",  # the draft is thrown away when anything goes wrong
        "synchronous = OFF",
    ):
        base.execute(f"PRAGMA {setting}")
    base.create_function("scheme", 1, scheme, deterministic=True)
    base.executescript(TABLES + _STAGE)
    base.execute("BEGIN")
    rest = EMPTY
    for number, (source, digest) in enumerate(zip(sources, digests, strict=True)):
        count = _stage(base, number, source, on_facts)
        own = source.rest()
        rest = together(rest, own)
        if not (count or own.events or own.anchors or own.known):
            raise BackgroundError(
                f"{str(source.path)!r} holds no entries",
                hint=f"is it the right file, and does it speak {source.language!r}?",
            )
        base.execute(
            "INSERT INTO source VALUES (?, ?, ?, ?, ?)",
            (number, _shown(source, sources), digest, source.distance, count),
        )
    counts = [base.execute(sql).fetchone()[0] for sql in (_DUPLICATES, _CONFLICTS)]
    base.execute("INSERT INTO meta VALUES (?, ?, ?, ?)", (mark, to_json(rest), *counts))
    base.execute("COMMIT")
    base.executescript(f"BEGIN; {_JOIN} {_SETTLE} COMMIT;")


def _stage(
    base: sqlite3.Connection, number: int, source: BackgroundSource, on_facts: OnFacts
) -> int:
    count = 0
    for batch in _batches(source.facts()):
        count += len(batch)
        base.executemany(
            "INSERT INTO said VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _names(batch, number, source)
        )
        base.executemany(
            "INSERT INTO linked VALUES (?, ?, ?, ?, ?, ?, ?)", _links(batch, number, source)
        )
        on_facts(source, count)
    return count


def _batches(facts: Iterator[Fact]) -> Iterator[list[Fact]]:
    while batch := list(islice(facts, _BATCH)):
        yield batch


def _names(
    batch: Iterable[Fact], number: int, source: BackgroundSource
) -> Iterator[tuple[object, ...]]:
    for fact in batch:
        if isinstance(fact, BackgroundName) and (form := folded(fact.surface)):
            far = _distance(fact, source, OMEGA["expression"])
            surface = " ".join(fact.surface.split())
            preferred, sure = int(fact.preferred), fact.confidence
            yield fact.thing, form, surface, preferred, far, sure, number, fact.line


def _links(
    batch: Iterable[Fact], number: int, source: BackgroundSource
) -> Iterator[tuple[object, ...]]:
    for fact in batch:
        if isinstance(fact, ClassMembership):
            far = _distance(fact, source, OMEGA["concept"] + DELTA_ABS_ONE_WAY)
            sure = fact.confidence
            yield fact.thing, fact.target, int(fact.role), far, sure, number, fact.line


def _distance(fact: Fact, source: BackgroundSource, weight: float) -> float:
    """Return δ of a step by this fact: what its line asks for, or else what its source does."""
    if fact.cost is None:
        return STATED if source.distance is None else source.distance
    return STATED if fact.cost == 0 else max(0.0, round(fact.cost - weight, 4))


def _shown(source: BackgroundSource, sources: Sequence[BackgroundSource]) -> str:
    """Return what licences call a source: its file's name, or its path where two are named so."""
    alike = [s for s in sources if s.path.name == source.path.name]
    return source.path.name if len(alike) == 1 else str(source.path)


def _digest(sources: Sequence[BackgroundSource], digests: Sequence[str]) -> str:
    parts = [
        (_shown(s, sources), s.distance, s.language, digest)
        for s, digest in zip(sources, digests, strict=True)
    ]
    return sha256(repr((VERSION, _RULES, parts)).encode()).hexdigest()


def _digest_of(path: Path) -> str | None:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
            row = base.execute("SELECT digest FROM meta").fetchone()
    except sqlite3.Error:
        return None
    return row[0] if row else None
