"""Measure document retrieval over a whole collection: SciFact's claims against all its abstracts.

    python tools/write_scifact.py DATA/scifact/corpus.jsonl abstracts
    abstrag index abstracts --store scifact.db
    python tools/open_retrieval.py --data DATA --store scifact.db --split train:report

A claim's gold documents are those it cites. A claim is in the report part when all of them are, for
the judge has seen the others. Figures are nDCG@10 × 100 with 95 % bootstrap intervals, and paired
differences. What the judge says is kept in the store, so that a run that was cut off goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log2
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.collection.card_table import K1, B, CardTable
from abstrag.collection.cards import all_cards
from abstrag.collection.filters import Filters
from abstrag.collection.shortlist import Shortlist
from abstrag.config import PRIOR_POWER
from abstrag.search.relevance import ALIGNED, DEFAULT_PRESET, FAST, Preset, standardized
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import SplitPart, parse_split, part_of
from abstrag_bench.datasets.files import FilePlace, existing, read_lines
from abstrag_bench.stats import differences, holm, intervals

K: Final = 10
REFERENCE: Final = ("bm25", "dense", "hybrid", "first look", "collection, by best hit")

Ranks = Callable[[str], Sequence[str]]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim and the documents it cites."""

    name: str
    text: str
    gold: frozenset[str]


def claims_of(data: Path, split: str) -> Iterator[Claim]:
    """Read the claims of a split or of one of its parts."""
    name, part = parse_split(split)
    path = existing(data / "scifact" / f"claims_{name}.jsonl")
    for number, claim in read_lines(path):
        place = FilePlace(path, number)
        gold = frozenset(map(str, place.field(claim, "cited_doc_ids", list)))
        own = (
            SplitPart.REPORT
            if all(part_of(d) is SplitPart.REPORT for d in gold)
            else SplitPart.TUNE
        )
        if gold and part in (SplitPart.ALL, own):
            text = place.field(claim, "claim", str)
            yield Claim(str(place.field(claim, "id", int, str)), text, gold)


def corpus_of(data: Path) -> Pool:
    """Read the abstracts as one pool, in which each is an element: its title, then its text."""
    path = existing(data / "scifact" / "corpus.jsonl")
    elements = []
    for number, abstract in read_lines(path):
        place = FilePlace(path, number)
        name = str(place.field(abstract, "doc_id", int, str))
        words = [place.field(abstract, "title", str), *place.strings(abstract, "abstract")]
        elements.append(Element(name, " ".join(words), ElementKind.PARAGRAPH))
    return Pool("scifact", "SciFact", tuple(elements))


def systems_of(
    workspace: Workspace, corpus: Pool, wanted: Sequence[str], power: float
) -> dict[str, Ranks]:
    """Return what ranks documents, by name."""
    bm25 = Bm25(k1=K1, b=B, stem=True)
    bm25.index(corpus)

    def opened(preset: Preset, *, embeddings: bool = True) -> SearchableCollection:
        options = SearchOptions(preset=preset, patched=False)
        return workspace.collection(options=options, embeddings=embeddings, prior_power=power)

    fast = opened(FAST).searcher
    every = CardTable.of(all_cards(workspace.store, encoder=fast.encoder))
    names = [info.id for info in every.documents]
    place = {name: i for i, name in enumerate(corpus.ids)}
    aligned = [place[name] for name in names]

    def dense(text: str) -> Array:
        assert fast.encoder is not None
        assert every.vectors is not None
        return every.vectors(fast.encoder.embed([text])[0]).astype(np.float64)

    def best(scores: Array) -> list[str]:
        return [names[i] for i in np.argsort(-scores, kind="stable")[:K]]

    def hybrid(text: str) -> list[str]:
        mixed = standardized(bm25.scores(text)[aligned]) + standardized(dense(text))
        return best(mixed)

    def first_look(text: str) -> list[str]:
        listed = Shortlist.of(
            fast.cards, text, encoder=fast.encoder, filters=Filters(), size=fast.shortlist_size
        )
        return [listed.cards.documents[i].id for i in listed.order[:K].tolist()]

    def shortlist(text: str) -> list[str]:
        listed = fast.shortlist(text)
        return [listed.cards.documents[i].id for i in listed.order[:K].tolist()]

    def searched(collection: SearchableCollection) -> Ranks:
        return lambda text: [d.document for d in collection.search(text).documents[:K]]

    judged = opened(DEFAULT_PRESET)
    found = lru_cache(maxsize=1)(lambda text: judged.search(text).documents)

    def by_best_hit(text: str) -> list[str]:
        return [d.document for d in sorted(found(text), key=lambda d: (-d.top_1, d.rank))[:K]]

    made: dict[str, Ranks] = {
        "bm25": lambda text: best(bm25.scores(text)[aligned]),
        "dense": lambda text: best(dense(text)),
        "hybrid": hybrid,
        "first look": first_look,
        "shortlist": shortlist,
        "collection, words only": searched(opened(FAST, embeddings=False)),
        "collection, fast": searched(opened(FAST)),
        "collection, aligned": searched(opened(ALIGNED)),
        "collection, by best hit": by_best_hit,
        "collection": lambda text: [d.document for d in found(text)[:K]],
    }
    return {name: rank for name, rank in made.items() if not wanted or name in wanted}


def ndcg(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """Return nDCG@10 with binary gain."""
    gain = sum(1 / log2(i + 2) for i, name in enumerate(ranked[:K]) if name in gold)
    return gain / sum(1 / log2(i + 2) for i in range(min(K, len(gold))))


def report(names: Sequence[str], scores: Array) -> None:
    """Print every system with its interval, and its differences from the reference systems."""
    print(f"n {len(scores)}")
    for name, found in zip(names, intervals(100 * scores), strict=True):
        print(f"{name:24} {found.mean:5.1f}  [{found.low:.1f}, {found.high:.1f}]")
    for reference in (name for name in REFERENCE if name in names):
        rest = [name for name in names if name not in REFERENCE]
        if not rest:
            continue
        base = scores[:, names.index(reference)]
        differing = np.stack([scores[:, names.index(name)] - base for name in rest], axis=1)
        made = differences(100 * differing)
        print(f"minus {reference}")
        for name, each, p in zip(rest, made, holm([one.p for one in made]), strict=True):
            print(f"{name:24} {each.mean:+5.1f}  [{each.low:+.1f}, {each.high:+.1f}]  p {p:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure document retrieval over a collection.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--split", required=True)
    parser.add_argument("--systems", nargs="*", default=[], help="Only these.")
    parser.add_argument("--power", type=float, default=PRIOR_POWER, help="Of the prior.")
    parser.add_argument("--limit", type=int, help="Only the first claims.")
    parser.add_argument("--out", type=Path, help="Write a JSON line for each claim and system.")
    given = parser.parse_args()
    claims = list(islice(claims_of(given.data, given.split), given.limit))
    with Workspace(WorkspaceConfig(store=given.store, create=False)) as workspace:
        systems = systems_of(workspace, corpus_of(given.data), given.systems, given.power)
        scores, lines = np.zeros((len(claims), len(systems))), []
        for row, claim in enumerate(claims):
            if row % 10 == 0:
                print(f"{row} of {len(claims)} claims", file=sys.stderr, flush=True)
            for column, (name, rank) in enumerate(systems.items()):
                ranked = rank(claim.text)
                scores[row, column] = ndcg(ranked, claim.gold)
                lines.append({"claim": claim.name, "system": name, "ranked": list(ranked)})
    if given.out is not None:
        given.out.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    report(list(systems), scores)


if __name__ == "__main__":
    main()
