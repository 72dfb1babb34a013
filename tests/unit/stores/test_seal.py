"""A store notices: flipped bits in what it keeps, rows that refer to nothing, impossible prices."""

import random
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.library import Library
from abstrag.errors import StoreError
from abstrag.indexing.pipeline import index as index_document
from abstrag.model.index import DocumentIndex
from abstrag.stores.rows import GIVEN
from abstrag.stores.soundness import astray
from abstrag.stores.sqlite import SqliteStore
from abstrag.stores.tables import TABLES
from abstrag.workspace.tour import demo_background, demo_document
from tests.unit.stores.older_rows import write_as_older_release

FLIPS = 100


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "store.db"
    with SqliteStore.open(path) as store:
        Library(store, demo_background()).index_document(demo_document())
        store.check()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


@pytest.fixture(scope="module")
def older(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same store as an older release wrote it, with rows in tables."""
    path = tmp_path_factory.mktemp("older") / "store.db"
    shutil.copy(sound, path)
    write_as_older_release(path)
    return path


def flipped(value: Any, chance: random.Random) -> Any:
    """Return a value with one bit of it turned over, and still of its kind."""
    if isinstance(value, str):
        at = chance.randrange(len(value))
        return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]
    if isinstance(value, bytes):
        at = chance.randrange(len(value))
        return value[:at] + bytes([value[at] ^ 1 << chance.randrange(8)]) + value[at + 1 :]
    if isinstance(value, float):
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        (turned,) = struct.unpack("<d", struct.pack("<q", bits ^ 1 << chance.randrange(52)))
        return turned
    return value ^ 1 << chance.randrange(8)


def cells(path: Path, chance: random.Random) -> Iterator[tuple[str, str, tuple[Any, ...], Any]]:
    """Choose cells of any table by chance: table, column, the row's key, the value."""
    tables: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {"documents": (("id",), GIVEN)}
    for table in TABLES:
        key = ("document", *table.columns[: table.key])
        tables[table.name] = (key, table.columns[table.key :])
    tables["packed_rows"] = (("document", "name", "part"), ("data",))
    connection = sqlite3.connect(path)
    for name in list(tables):
        if connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,):
            del tables[name]
    while True:
        name = chance.choice(sorted(tables))
        key, columns = tables[name]
        column = chance.choice(columns)
        rows = connection.execute(f"SELECT {', '.join(key)}, {column} FROM {name}").fetchall()
        *where, value = chance.choice(rows)
        if value not in (None, ""):
            yield name, column, tuple(zip(key, where, strict=True)), value


@pytest.mark.parametrize("written", ["sound", "older"])
def test_a_hundred_of_a_hundred_flipped_bits_in_values_are_found(
    written: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    chance = random.Random(26)
    sound: Path = request.getfixturevalue(written)
    chosen, missed = cells(sound, chance), []
    for n in range(FLIPS):
        name, column, key, value = next(chosen)
        path = tmp_path / f"{n}.db"
        shutil.copy(sound, path)
        connection = sqlite3.connect(path)
        where = " AND ".join(f"{each} = ?" for each, _ in key)
        values = (flipped(value, chance), *(each for _, each in key))
        connection.execute(f"UPDATE {name} SET {column} = ? WHERE {where}", values)
        connection.commit()
        connection.close()
        try:
            with SqliteStore.open(path, create=False) as store:
                store.check()
        except StoreError:
            path.unlink()
            continue
        missed.append((name, column, value))
    assert missed == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE postings SET segment = 9999 WHERE position = 0", "segment 9999"),
        ("UPDATE postings SET term = -1 WHERE position = 0", "term -1"),
        ("UPDATE edges SET weight = -2.0 WHERE position = 0", "weight -2.0"),
        ("UPDATE edges SET distance = 9e999 WHERE position = 0", "distance inf"),
        ("UPDATE edges SET confidence = 1.5 WHERE position = 0", "confidence 1.5"),
        ("UPDATE edges SET target = 99999 WHERE position = 0", "target 99999"),
        ("UPDATE segments SET stop = 9999999 WHERE position = 0", "spans"),
        ("UPDATE segments SET start = stop + 1 WHERE position = 0", "no span"),
        ("UPDATE contexts SET segment = segment + 9999", "has segment"),
    ],
)
def test_rows_that_refer_to_nothing_are_found_even_where_the_digest_agrees(
    change: str, said: str, older: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(older, path)
    connection = sqlite3.connect(path)
    assert connection.execute(change).rowcount > 0
    connection.execute("DELETE FROM seals")  # as an older release leaves it
    connection.commit()
    connection.close()
    with SqliteStore.open(path, create=False) as store, pytest.raises(StoreError) as caught:
        store.check()
    assert said in str(caught.value)


def test_a_document_without_a_digest_gets_one_when_the_store_is_checked(
    sound: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    shutil.copy(sound, path)
    connection = sqlite3.connect(path)
    before = connection.execute("SELECT * FROM seals").fetchall()
    connection.execute("DELETE FROM seals")
    connection.commit()
    with SqliteStore.open(path, create=False) as store:
        store.check()
    assert connection.execute("SELECT * FROM seals").fetchall() == before
    connection.close()


def test_a_power_failure_loses_nothing_that_was_reported(sound: Path) -> None:
    with SqliteStore.open(sound, create=False) as store:
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda i: _mention(i, segment=10_000), "mention is in segment 10000"),
        (lambda i: _mention(i, start=0, end=10_000), "mention spans 0:10000"),
        (lambda i: _mention(i, header=99), "mention is in header 99"),
        (lambda i: _frame(i, segment=10_000), "event is in segment 10000"),
        (lambda i: _segment(i, block=10_000), "is of block 10000"),
    ],
)
def test_what_points_at_nothing_is_found_though_its_digest_is_right(change: Any, said: str) -> None:
    index = index_document(demo_document(), background=demo_background())
    assert astray(index) is None
    assert said in (astray(change(index)) or "")


def _mention(index: DocumentIndex, **changes: Any) -> DocumentIndex:
    first, *rest = index.mentions
    return replace(index, mentions=(replace(first, **changes), *rest))


def _frame(index: DocumentIndex, **changes: Any) -> DocumentIndex:
    first, *rest = index.frames
    return replace(index, frames=(replace(first, **changes), *rest))


def _segment(index: DocumentIndex, **changes: Any) -> DocumentIndex:
    first, *rest = index.records
    moved = replace(first, segment=replace(first.segment, **changes))
    return replace(index, records=(moved, *rest))
