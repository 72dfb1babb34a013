"""A bit that is flipped anywhere in a store's file is found, or stands where nothing is kept."""

import random
from collections import Counter
from pathlib import Path

from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.faults.flips import FOUND, MISSED, everything, flipped, told

FLIPS = 100


def test_no_flip_that_anybody_could_read_is_missed(disk_folder: Path) -> None:
    path, rng = disk_folder / "store.db", random.Random(26)
    with SqliteStore.open(path) as store:
        for name in ("a", "b"):
            index = sample_index(name, edges=200)
            store.put(index, source_path=f"/{name}", source_hash=name)
            content = index.document.content_hash
            store.put_layer(content, "vectors", "model", rng.randbytes(9_000))
            values = {rng.randbytes(16): rng.randbytes(1_536) for _ in range(20)}
            store.remember("embeddings", content, "model", values)
    before, size, counted = everything(path), path.stat().st_size, Counter[str]()
    for _ in range(FLIPS):
        copy = flipped(path, disk_folder, rng.randrange(size), rng.randrange(8))
        counted[told(copy, before)] += 1
    assert counted[MISSED] == 0
    assert counted[FOUND] > FLIPS / 4  # much of a small file is empty pages
