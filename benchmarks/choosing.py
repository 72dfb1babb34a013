"""What it costs to choose documents on a PostgreSQL server, and in memory; and whether it differs.

    python benchmarks/choosing.py --store postgresql://ann@db/library --queries claims.txt

Documents are chosen by their cards alone, without the second look. Times are processor time: of
this process, and of the server's where it runs on the same machine and its processes can be seen. A
question's vector is made before. Memory is what opening takes. Recall is that of the documents
whose windows are the closest, among those that the server compared. With --first no card table is
made, for stores too large for one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from abstrag.collection.card_table import CollectionCards, ShortlistSource
from abstrag.collection.card_table_file import open_card_table
from abstrag.collection.filters import Filters
from abstrag.collection.server_cards import ServerCards
from abstrag.collection.shortlist import LOOKED_AT, Shortlist
from abstrag.config import SHORTLIST
from abstrag.neural.encoder import Vectors
from abstrag.neural.whole_text import default_encoder
from abstrag.search.query.normalize import parsed_query
from abstrag.stores.postgres.session import Session
from abstrag.stores.postgres.store import PostgresStore

CLOSEST: Final = (10, LOOKED_AT, 100)
TICKS: Final = 100  # of the system's clock in a second


class Known:
    """The encoder, with the vectors of all questions at hand."""

    def __init__(self, queries: Sequence[str]) -> None:
        encoder = default_encoder()
        self.fingerprint = encoder.fingerprint
        self._found = dict(zip(queries, encoder.embed(list(queries)), strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some questions."""
        return np.array([self._found[text] for text in texts], np.float32)


class Meter:
    """Processor time here and at the server, memory, and calls to it."""

    def __init__(self, store: PostgresStore) -> None:
        asked = "SELECT pg_backend_pid()"
        self._pid = int(store._read(lambda run: run.execute(asked).fetchone() or (0,))[0])
        self.calls = 0
        again = Session._again_and_again

        def counted(session: Session, once: Callable[[], Any]) -> Any:
            self.calls += 1
            return again(session, once)

        Session._again_and_again = counted  # type: ignore[method-assign,assignment]

    def server_s(self) -> float:
        """Return the processor seconds of our process at the server."""
        place = Path(f"/proc/{self._pid}/stat")
        if not place.exists():
            return float("nan")
        said = place.read_text().rsplit(")", 1)[1].split()
        return (int(said[11]) + int(said[12])) / TICKS

    @staticmethod
    def memory_mb() -> float:
        """Return the memory of this process."""
        said = Path("/proc/self/status").read_text().splitlines()
        return float(next(line for line in said if line.startswith("VmRSS")).split()[1]) / 1024


def measured(
    open_cards: Callable[[], CollectionCards], meter: Meter, encoder: Known, queries: Sequence[str]
) -> list[Shortlist]:
    """Open the cards, ask every question, and print what that took."""
    before, began, there = meter.memory_mb(), time.process_time(), meter.server_s()
    every = open_cards()
    opened, at_server = time.process_time() - began, meter.server_s() - there
    held = meter.memory_mb() - before
    took, calls, found, there = [], [], [], meter.server_s()
    for query in queries:
        began, meter.calls = time.process_time(), 0
        found.append(Shortlist.of(every, query, encoder=encoder, filters=Filters(), size=SHORTLIST))
        took.append(1000 * (time.process_time() - began))
        calls.append(meter.calls)
    each = 1000 * (meter.server_s() - there) / len(queries)
    half, most = np.percentile(took, [50, 95])
    print(
        f"{type(every).__name__:12} {every.size:9,} {opened:8.2f} {at_server:8.2f} {held:8.0f} "
        f"{half:8.1f} {most:8.1f} {each:8.1f} {np.bincount(calls)}"
    )
    return found


def compared(there: Sequence[Shortlist], here: Sequence[Shortlist]) -> None:
    """Print for how many questions both choose the same, and how many of the closest are found."""
    first = [[_names(each)[:LOOKED_AT] for each in lists] for lists in (there, here)]
    same = sum(one == other for one, other in zip(*first, strict=True))
    print(f"the first {LOOKED_AT} are the same, in the same order: {same} of {len(here)}")
    for most in CLOSEST:
        shares = []
        for one, other in zip(there, here, strict=True):
            near = one.scores[ShortlistSource.VECTORS]
            rows = np.flatnonzero(~np.isnan(near)).tolist()
            known = {one.cards.documents[row].id for row in rows}
            closest = np.argsort(-other.scores[ShortlistSource.VECTORS], kind="stable")[:most]
            names = [other.cards.documents[row].id for row in closest.tolist()]
            shares.append(len(known.intersection(names)) / len(names))
        print(f"recall of the closest {most}: {float(np.mean(shares)):.4f}")


def _names(found: Shortlist) -> list[str]:
    return [found.cards.documents[row].id for row in found.order[:LOOKED_AT].tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how documents are chosen on a server.")
    parser.add_argument("--store", help="The address of a PostgreSQL store.")
    parser.add_argument("--queries", type=Path, help="A question on each line.")
    parser.add_argument("--first", action="store_true", help="Leave the card_table out.")
    given = parser.parse_args()
    if given.store is None or given.queries is None:
        print("--store and --queries are needed")
        return
    queries = given.queries.read_text("utf-8").splitlines()
    encoder = Known(queries)
    for query in queries:
        parsed_query(query)
    heads = ("documents", "open s", "server", "MB", "ask 50", "95", "server", "calls 0, 1, 2 …")
    print(f"{'':12} {heads[0]:>9} " + " ".join(f"{head:>8}" for head in heads[1:]))
    with PostgresStore.open(given.store, create=False) as store:
        meter = Meter(store)
        there = measured(lambda: ServerCards(store, encoder), meter, encoder, queries)
        if not given.first:
            here = measured(
                lambda: open_card_table(store, encoder=encoder), meter, encoder, queries
            )
            compared(there, here)


if __name__ == "__main__":
    main()
