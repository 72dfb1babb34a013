"""What the map of a collection costs: reading it, working it out, lending from it.

    python benchmarks/collection_map.py STORE [--documents 200]

Times are processor seconds of one thread. With `--check` it asks the collection itself how well
company tells homonyms apart: of two documents that both state what a short form stands for, the
long forms are hidden, and a shared rare name should join those with one long form and no others.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections import Counter, defaultdict
from itertools import combinations
from statistics import median

from abstrag.collection.homonyms import is_short, same_long_form
from abstrag.collection.map import CollectionMap, collection_map
from abstrag.collection.map_lend import lend
from abstrag.collection.merge import Bearer, DocumentTerm, Merge
from abstrag.stores.protocol import Store
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("--documents", type=int, default=200, help="lent to, drawn at random")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    with Workspace(WorkspaceConfig(store=given.store, create=False)) as workspace:
        store = workspace.store
        for what in ("opened, after what is missing is made", "opened again"):
            start = time.process_time()
            made = collection_map(store)
            print(f"{len(made.documents):,} documents {what}: {seconds_since(start)}, {peak()}")
        resolve(made)
        lending(store, made, given.documents)
    if given.check:
        check(made)


def resolve(made: CollectionMap) -> None:
    """Work out every merge and every refusal."""
    start = time.process_time()
    found: Counter[str] = Counter()
    largest = things = refusals = 0
    for related in made.related():
        largest = max(largest, len(related.entries))
        things += sum(1 for _ in related.things())
        refusals += len(related.refusals)
        found.update(merge.evidence.name for merge in related.merges)
    for event in made.events():
        if isinstance(event, Merge):
            found[event.evidence.name] += 1
        else:
            refusals += 1
    print(
        f"{things:,} things, {found.total():,} merges, {refusals:,} refusals worked out: "
        f"{seconds_since(start)}, {peak()}; {largest} nodes hang together at most"
    )
    print("  " + ", ".join(f"{count} {name}" for name, count in found.items()))


def seconds_since(start: float) -> str:
    """Say how much processor time has gone by."""
    return f"{time.process_time() - start:.2f} s"


def peak() -> str:
    """Say how much memory was held at most so far."""
    return f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB"


def lending(store: Store, made: CollectionMap, size: int) -> None:
    """Lend to some documents."""
    names = random.Random(0).sample(made.documents, min(size, len(made.documents)))
    seconds, edges = [], []
    for name in names:
        index = store.get(name)
        start = time.process_time()
        edges.append(len(lend(made, index)))
        seconds.append(time.process_time() - start)
    print(
        f"lending to a document: median {1000 * median(seconds):.2f} ms, most "
        f"{1000 * max(seconds):.1f} ms, {median(edges):g} edges, most {max(edges)}"
    )


def check(made: CollectionMap) -> None:
    """Hide the long forms and see what a shared rare name joins."""
    stating: defaultdict[str, list[Bearer]] = defaultdict(list)
    for document in made.documents:
        for entry in made.entries(document).entries:
            if is_short(entry.label):
                continue
            bearer = made.bearer(DocumentTerm(document, entry.term))
            for name in {n.form for n in entry.names if n.licence and n.form.startswith("=")}:
                stating[name].append(bearer)
    found: Counter[tuple[bool, bool]] = Counter()
    for bearers in stating.values():
        for one, other in combinations(bearers, 2):
            same = same_long_form(one.entry.label, other.entry.label)
            found[same, bool(one.near & other.near)] += 1
    for same, what in ((True, "one long form"), (False, "different long forms")):
        joined, apart = found[same, True], found[same, False]
        print(f"pairs with {what}: {joined} of {joined + apart} joined by company alone")


if __name__ == "__main__":
    main()
