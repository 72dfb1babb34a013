"""Flip bits anywhere in the file of a store, and see whether `store check` finds that.

    python -m tests.faults.flips STORE --flips 100

Of each flip it is told whether the check finds it and, where it does not, whether anything that a
reader can see has changed: a part of a page that holds nothing may be flipped without harm.
"""

import argparse
import random
import shutil
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from abstrag.errors import AbstragError
from abstrag.stores.sqlite import SqliteStore

FOUND, UNSEEN, MISSED = "found", "not found, and nothing can be read that changed", "missed"


def everything(path: Path) -> list[tuple[object, ...]] | None:
    """Return every row of every table, the schema with them; None where that cannot be read."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as base:
            base.text_factory = bytes
            names = base.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
            tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            rows: list[tuple[object, ...]] = [*names]
            for (name,) in tables:
                rows += base.execute(f'SELECT * FROM "{name.decode()}"').fetchall()
            return rows
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def flipped(store: Path, folder: Path, at: int, bit: int) -> Path:
    """Return a copy of a store with one bit turned."""
    copy = folder / "flipped.db"
    for old in folder.glob("flipped.db*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    data = bytearray(store.read_bytes())
    data[at] ^= 1 << bit
    copy.write_bytes(data)
    return copy


def told(copy: Path, before: list[tuple[object, ...]] | None) -> str:
    """Say whether a check finds what was flipped."""
    seen = everything(copy)
    try:
        with SqliteStore.open(copy, create=False) as store:
            store.check()
    except AbstragError:
        return FOUND
    return UNSEEN if seen == before else MISSED


def main() -> int:
    options = argparse.ArgumentParser(description="Flip bits in the file of a store.")
    options.add_argument("store", type=Path)
    options.add_argument("--flips", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    rng, counted = random.Random(given.seed), Counter[str]()
    size, before = given.store.stat().st_size, everything(given.store)
    with TemporaryDirectory() as folder:
        for _ in range(given.flips):
            at, bit = rng.randrange(size), rng.randrange(8)
            copy = flipped(given.store, Path(folder), at, bit)
            result = told(copy, before)
            counted[result] += 1
            if result == MISSED:
                print(f"missed: bit {bit} of byte {at}", flush=True)
    for result in (FOUND, UNSEEN, MISSED):
        print(f"{counted[result]:5} {result}")
    return 1 if counted[MISSED] else 0


if __name__ == "__main__":
    sys.exit(main())
