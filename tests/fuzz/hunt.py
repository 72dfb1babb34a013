"""The hunt for what breaks a parser or a server: `make fuzz`, or `python -m tests.fuzz.hunt`.

Mutants of the corpus, files that are crafted to cost much, and queries are tried in processes that
their budget ends; mutants of requests are sent to a server. What breaks is written to `build/fuzz`
with what was said; when it is mended, it goes to `tests/fuzz/regressions`, where every test run
tries it again.
"""

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from abstrag.config import DocumentBudget
from abstrag.workers.processes import Processes
from abstrag.workers.protocol import LostItem
from tests.fuzz.crafted.every import FAMILIES, MORE, crafted
from tests.fuzz.make_corpus import CORPUS
from tests.fuzz.mutate import mutant
from tests.fuzz.targets import Item, Trial, Tried

BUDGET = DocumentBudget(cpu_seconds=60, memory_bytes=2 * 1024**3, seconds=240)
QUERIES = Path(__file__).parent / "queries.txt"
_PICTURES = ("png",)  # text recognition is no parser of ours, and takes a second for each


def corpus() -> dict[str, list[tuple[str, bytes]]]:
    """Return the files of the corpus by their suffix, as name and content."""
    found: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for path in sorted(CORPUS.iterdir()):
        found[path.suffix[1:]].append((path.name, path.read_bytes()))
    return found


def mutants(first: int = 0, kinds: Iterable[str] | None = None) -> Iterator[Item]:
    """Go through mutants without end, one of each file of the corpus after the other."""
    files = corpus()
    wanted = list(files if kinds is None else kinds)
    queries = [("query.txt", line.encode()) for line in QUERIES.read_text().splitlines() if line]
    for seed in count(first):
        for kind in wanted:
            if kind in _PICTURES and seed % 20:
                continue
            name, data = files[kind][seed % len(files[kind])]
            made = mutant(data, kind, seed, [content for _, content in files[kind]])
            yield Item(f"{seed}-{name}", kind, "index", {name: made})
        if kinds is None:
            name, data = queries[seed % len(queries)]
            made = mutant(data, "query", seed, [content for _, content in queries])
            yield Item(f"{seed}-{name}", "query", "query", {name: made})


@dataclass
class StageCounts:
    """What became of all inputs, by format."""

    finds: Path
    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    slowest: dict[str, tuple[float, str]] = field(default_factory=dict)
    largest: dict[str, tuple[float, str]] = field(default_factory=dict)
    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, item: Item, result: Tried | LostItem) -> None:
        """Count one input, and keep it where it broke something."""
        if isinstance(result, LostItem):
            result = Tried("over its limits", result.why)
        self.outcomes[item.kind][result.outcome] += 1
        self.slowest[item.kind] = max(
            self.slowest.get(item.kind, (0.0, "")), (result.cpu_s, item.name)
        )
        self.largest[item.kind] = max(
            self.largest.get(item.kind, (0.0, "")), (result.grown_mb, item.name)
        )
        if result.outcome in ("find", "over its limits"):
            self.found.append((item.name, result.detail))
            folder = self.finds / item.name
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in item.files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            (folder / "said.json").write_text(
                json.dumps({"target": item.target, "said": result.detail}, indent=1)
            )

    def table(self) -> str:
        """Return the counts as lines of a Markdown table."""
        names = ("read", "refused", "answered", "find", "over its limits")
        lines = [
            "| format | inputs | read | refused | answered | traceback or unsound "
            "| over its limits | most processor time | largest growth |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        total: Counter[str] = Counter()
        for kind, counted in sorted(self.outcomes.items()):
            total += counted
            slow, name = self.slowest.get(kind, (0.0, ""))
            cells = (kind, counted.total(), *(counted[each] for each in names))
            grown, _ = self.largest.get(kind, (0.0, ""))
            shown = f"{slow:.1f} s ({name}) | {grown:.0f} MB" if name else "|"
            lines.append(f"| {' | '.join(map(str, cells))} | {shown} |")
        cells = ("all", total.total(), *(total[each] for each in names))
        return "\n".join([*lines, f"| {' | '.join(map(str, cells))} | | |"])


def main() -> int:
    """Hunt for as long as it was told to, and print what there was."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--minutes", type=float, default=None, help="of mutants")
    options.add_argument("--mutants", type=int, default=0, help="this many, whatever it takes")
    options.add_argument("--requests", type=int, default=0, help="this many to HTTP and MCP each")
    options.add_argument("--crafted", action="store_true", help="all crafted files")
    options.add_argument("--more", action="store_true", help="the newer crafted files alone")
    options.add_argument("--only", action="append", help="formats to mutate and to craft")
    options.add_argument("--first", type=int, default=0, help="the first seed")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--finds", type=Path, default=Path("build/fuzz"))
    given = options.parse_args()
    tally = StageCounts(given.finds)
    if given.crafted or given.more:
        families = MORE if given.more else FAMILIES
        wanted = [each for each in families if given.only is None or each.kind in given.only]
        run(crafted(wanted), tally, given.workers)
    if given.mutants:
        run(islice(mutants(given.first, given.only), given.mutants), tally, given.workers)
    if given.minutes is not None:
        until = time.monotonic() + 60 * given.minutes
        first = given.first or int(time.time())  # other mutants than the last time
        given.requests = given.requests or round(200 * given.minutes)
        run(_until(until, mutants(first, given.only)), tally, given.workers)
    if given.requests:
        send(given.requests, given.first or int(time.time()), tally)
    print(tally.table())
    for name, said in tally.found:
        print(f"{name}: {said}")
    return 1 if tally.found else 0


def _until(when: float, items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        if time.monotonic() > when:
            return
        yield item


def run(items: Iterable[Item], tally: StageCounts, workers: int) -> None:
    """Try inputs side by side and count what became of them."""
    engine = Processes(workers, window=2, time_limit=BUDGET.seconds)
    for item, result in engine.run(Trial(BUDGET), items):
        tally.add(item, result)


def send(number: int, first: int, tally: StageCounts) -> None:
    """Send mutants of requests to a server of each kind."""
    from tests.fuzz.wire import Watch, http_mutants, mcp, mcp_http_mutants, pipe_mutants, studio

    seeds = range(first, first + number)
    with TemporaryDirectory() as folder, studio(Path(folder)) as (store, client):
        for name in ("http", "mcp over http", "mcp over a pipe"):
            with Watch().listening() as watch:
                if name == "http":
                    http_mutants(client, watch, seeds)
                elif name == "mcp over a pipe":
                    pipe_mutants(store, watch, seeds)
                else:
                    with mcp(store) as other:
                        mcp_http_mutants(other, watch, seeds)
            tally.outcomes[name].update(answered=number - len(watch.finds), find=len(watch.finds))
            tally.found += [(name, find) for find in watch.finds]


if __name__ == "__main__":
    sys.exit(main())
